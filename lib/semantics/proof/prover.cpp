#include "semantics/proof/prover.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "iropt/ir/context.h"
#include "semantics/proof/comparison.h"
#include "semantics/proof/function_encoder.h"
#include "semantics/proof/loop_prover.h"

namespace iropt::proof {

namespace {

// Values of the symbolic variables of one function that make its parameters those of the other one; false if there are
// none.
bool MatchDims(List<const PrimExpr*> to, List<const PrimExpr*> from, SymVarMap& sizes) {
  if (to.size() != from.size()) return false;
  for (uint32_t i = 0; i < to.size(); ++i) {
    const auto* a = As<tir::Var>(to[i]);
    const auto* b = As<tir::Var>(from[i]);
    if (a && b && a != b && !sizes.Find(b)) sizes.Set(b, a);
  }
  return true;
}

bool MatchTypes(const Type* to, const Type* from, SymVarMap& sizes) {
  if (to == nullptr || from == nullptr || to->kind != from->kind) return false;
  if (to == from) return true;
  if (const auto* tensor = As<TensorType>(to)) {
    const auto* other = To<TensorType>(from);
    return tensor->known == other->known && MatchDims(tensor->dims, other->dims, sizes);
  }
  if (const auto* shape = As<ShapeType>(to)) {
    const auto* other = To<ShapeType>(from);
    return shape->known == other->known && MatchDims(shape->values, other->values, sizes);
  }
  if (const auto* tuple = As<TupleType>(to)) {
    const auto* other = To<TupleType>(from);
    if (tuple->fields.size() != other->fields.size()) return false;
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      if (!MatchTypes(tuple->fields[i], other->fields[i], sizes)) return false;
    }
    return true;
  }
  return TypeEqual(to, from);
}

// Returns whether the parameters that both have are of the same types, with these sizes.
bool HaveSameParams(const Function& before, const Function& after, const ParamNumbers& params, SymVarMap& sizes) {
  if (before.params.size() != params.before.size() || after.params.size() != params.after.size()) return false;
  std::vector<std::pair<const Type*, const Type*>> types;
  for (uint32_t i = 0; i < after.params.size(); ++i) {
    const auto found = std::ranges::find(params.before, params.after[i]);
    if (found == params.before.end()) return false;
    const auto place = static_cast<uint32_t>(found - params.before.begin());
    types.emplace_back(before.params[place]->type, after.params[i]->type);
    if (!MatchTypes(types.back().first, types.back().second, sizes)) return false;
  }
  for (const auto& [var, value] : sizes.entries()) {
    for (const auto& [other_var, other_value] : sizes.entries()) {
      if (var != other_var && value == other_value) return false;
    }
  }
  return std::ranges::all_of(types, [&](const auto& pair) {
    Arena arena;
    return TypeEqual(pair.first, SubstituteSymVars(pair.second, sizes, &arena));
  });
}

Proof ProveFunctions(const Module& before, const Function& a, const Module& after, const Function& b,
                     const ParamNumbers& params, const ProverOptions& options) {
  SymVarMap sizes;
  if (!HaveSameParams(a, b, params, sizes)) return {.reason = "its parameters have other types"};
  TermBuilder terms({.reals = options.reals, .finite = options.finite},
                    {options.conditions, options.solves_indices ? options.solver_limit : 0});
  FunctionNames names(options);
  const FunctionEncoder::Outcome left =
      FunctionEncoder(before, terms, names, options.mode).Encode(a, SymVarMap(), {params.before, params.constants});
  if (!left.obstacle.empty()) return {.reason = left.obstacle, .num_terms = terms.store().size()};
  const FunctionEncoder::Outcome right =
      FunctionEncoder(after, terms, names, options.mode).Encode(b, sizes, {params.after, params.constants});
  if (!right.obstacle.empty()) return {.reason = right.obstacle, .num_terms = terms.store().size()};
  Comparison comparison(terms, options.solver_limit);
  bool is_equal = left.effects.size() == right.effects.size();
  if (!is_equal) return {.reason = "it has another number of effects or checks", .num_terms = terms.store().size()};
  for (size_t i = 0; i < left.effects.size(); ++i)
    is_equal = is_equal && comparison.IsEqual(left.effects[i], right.effects[i]);
  is_equal = is_equal && comparison.IsEqual(left.result, right.result);
  if (is_equal && !terms.is_full()) {
    if (const Failure* failure = FindOtherFailure(right.failures, left.failures, comparison)) {
      return {.reason = fmt::format("it may fail where it did not: {}", Describe(failure->term)),
              .num_terms = terms.store().size(),
              .num_queries = comparison.num_queries()};
    }
  }
  if (terms.is_full()) return {.reason = "its terms are too long", .num_terms = terms.store().size()};
  return {.is_proved = is_equal,
          .reason = is_equal                     ? std::string()
                    : names.difference().empty() ? comparison.difference()
                                                 : names.difference(),
          .num_terms = terms.store().size(),
          .num_queries = comparison.num_queries()};
}

}  // namespace

Proof Prove(const Module& before, const Module& after, const GlobalVar& function, const ParamNumbers& params,
            const ProverOptions& options) {
  const ModuleEntry* a = before.Find(&function);
  const ModuleEntry* b = after.Find(&function);
  if (a == nullptr || b == nullptr) return {.reason = "the function is not in both modules"};
  IRContext context = after.context();
  const IRContext::Scope scope(context);
  // Most passes keep every bit, which takes less time to find out.
  ProverOptions exact = options;
  exact.reals = exact.finite = false;
  const auto prove_twice = [&](const auto& prove) {
    const Proof proof = prove(exact);
    return proof.is_proved || !options.reals ? proof : prove(options);
  };
  if (const auto* x = As<PrimFunc>(a->func)) {
    const auto* y = As<PrimFunc>(b->func);
    if (y == nullptr || params.before != params.after || !params.constants.empty())
      return {.reason = "its parameters have other types"};
    return prove_twice([&](const ProverOptions& laws) { return ProveLoops(*x, *y, laws); });
  }
  if (!Is<Function>(b->func)) return {.reason = "it is not a function of Relax any more"};
  // Fields of tuples have numbers of their own. Where nothing changes, the parameters have their places.
  ParamNumbers numbers = params;
  const size_t num_params = To<Function>(a->func)->params.size();
  if (params.before == params.after && params.constants.empty()) {
    numbers.before.resize(num_params);
    std::iota(numbers.before.begin(), numbers.before.end(), size_t{0});
    numbers.after = numbers.before;
  }
  return prove_twice([&](const ProverOptions& laws) {
    return ProveFunctions(before, *To<Function>(a->func), after, *To<Function>(b->func), numbers, laws);
  });
}

}  // namespace iropt::proof
