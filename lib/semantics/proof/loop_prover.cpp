#include "semantics/proof/loop_prover.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/structural.h"
#include "semantics/proof/comparison.h"
#include "semantics/proof/loop_encoder.h"

namespace iropt::proof {

namespace {

// Products of sizes take Z3 long, and a function may have many loops.
constexpr uint64_t kShareOfSolver = 8;

bool IsStructurallyEqual(const PrimFunc& a, const PrimFunc& b) {
  if (&a == &b) return true;
  PrimFunc x = a;
  PrimFunc y = b;
  x.attrs = y.attrs = DictAttr::Empty();
  return StructuralEqual(&x, &y);
}

bool HaveSameSignature(const PrimFunc& a, const PrimFunc& b) {
  if (a.params.size() != b.params.size()) return false;
  for (uint32_t i = 0; i < a.params.size(); ++i) {
    const tir::Buffer* x = a.param_buffers[i];
    const tir::Buffer* y = b.param_buffers[i];
    if (a.params[i]->dtype != b.params[i]->dtype || (x == nullptr) != (y == nullptr)) return false;
    if (x && (x->dtype != y->dtype || x->shape.size() != y->shape.size())) return false;
  }
  return true;
}

}  // namespace

Proof ProveLoops(const PrimFunc& before, const PrimFunc& after, const ProverOptions& options) {
  if (!HaveSameSignature(before, after)) return {.reason = "it has other parameters"};
  TermBuilder terms({.reals = options.reals, .finite = options.finite}, {{}, 0});
  LoopSymbols symbols;
  const LoopEncoder::Outcome left = LoopEncoder(terms, symbols, options.may_overflow).Encode(before);
  if (!left.obstacle.empty()) return {.reason = left.obstacle, .num_terms = terms.store().size()};
  const LoopEncoder::Outcome right = LoopEncoder(terms, symbols, options.may_overflow).Encode(after);
  if (!right.obstacle.empty()) return {.reason = right.obstacle, .num_terms = terms.store().size()};
  for (size_t i = 0; i < left.shapes.size(); ++i) {
    if (!terms.indices().AreEqual(left.shapes[i], right.shapes[i]))
      return {.reason = "its parameters have other shapes", .num_terms = terms.store().size()};
  }
  Comparison comparison(terms, options.solver_limit / kShareOfSolver);
  Proof proof{.is_proved = left.buffers.size() == right.buffers.size()};
  for (size_t i = 0; i < left.buffers.size() && proof.is_proved; ++i)
    proof.is_proved = comparison.IsEqual(left.buffers[i], right.buffers[i]);
  if (!proof.is_proved) proof.reason = comparison.difference();
  const Failure* failure = proof.is_proved ? FindOtherFailure(right.failures, left.failures, comparison) : nullptr;
  if (failure) proof = {.reason = fmt::format("it may fail where it did not: {}", Describe(failure->term))};
  if (terms.is_full()) proof = {.reason = "its terms are too long"};
  proof.num_terms = terms.store().size();
  proof.num_queries = comparison.num_queries();
  return proof;
}

std::string FunctionNames::Of(const PrimFunc& function, std::string_view name) {
  const auto named = [](size_t number) { return fmt::format("function {}", number); };
  for (const Entry& entry : entries_) {
    if (entry.function == &function || IsStructurallyEqual(*entry.function, function)) return named(entry.number);
  }
  for (const Entry& entry : entries_) {
    if (entry.name != name) continue;
    const Proof proof = ProveLoops(*entry.function, function, options_);
    if (proof.is_proved) {
      const size_t number = entry.number;
      entries_.push_back({&function, std::string(name), number});
      return named(number);
    }
    if (difference_.empty()) difference_ = fmt::format("the loops of '{}': {}", name, proof.reason);
  }
  entries_.push_back({&function, std::string(name), num_names_++});
  return named(num_names_ - 1);
}

}  // namespace iropt::proof
