#include "semantics/proof/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "iropt/arith/smt_solver.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"
#include "semantics/proof/smt_writer.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostQueries = 24;
constexpr size_t kMostTermsOfQuery = 400;

// Of floats in their format, conversions, signs and choices are known, and little else.
bool IsForSolver(const Term* term) {
  if (term->kind == TermKind::kSelect || term->kind == TermKind::kRead) return true;
  if (term->kind != TermKind::kApply) return false;
  constexpr std::array kKnown{op::kAstype, op::kWhere,  op::kMaximum, op::kMinimum,
                              op::kClip,   op::kNnRelu, op::kAbs,     op::kNegative};
  return std::ranges::find(kKnown, term->op) != kKnown.end();
}

}  // namespace

std::string Describe(const Term* term) {
  switch (term->kind) {
    case TermKind::kNumber: return fmt::format("the number {}", term->number);
    case TermKind::kIndex: return "an index";
    case TermKind::kRead: return fmt::format("an element of {}", Describe(term->args[0]));
    case TermKind::kApply: return term->text.empty() ? std::string(OpInfoOf(term->op).script) : term->text;
    case TermKind::kSelect: return "a choice by index";
    case TermKind::kParam: return fmt::format("parameter {}", term->number);
    case TermKind::kArray: return "a constant";
    case TermKind::kResult:
      if (term->op == OpId{} && term->text == "part" && !term->args.empty()) return Describe(term->args[0]);
      return term->op == OpId{} ? term->text : fmt::format("the result of {}", OpInfoOf(term->op).script);
    case TermKind::kReduce: return fmt::format("a reduction by {}", OpInfoOf(term->op).script);
    case TermKind::kLambda: return fmt::format("a tensor of {}", Describe(term->args[0]));
    case TermKind::kTuple: return "a tuple";
    case TermKind::kShape: return "a shape";
    case TermKind::kText: return term->text;
  }
  return {};
}

void Comparison::Note(const Term* a, const Term* b) {
  if (difference_.empty()) difference_ = fmt::format("{} is not known to be {}", Describe(b), Describe(a));
}

bool Comparison::IsEqual(const Term* a, const Term* b) {
  if (a == b) return true;
  if (const bool* known = known_.Find({a, b})) return *known;
  if (a->dtype != b->dtype) {
    Note(a, b);
    return false;
  }
  // Choices by index need all of their parts.
  const bool is_choice = a->kind == TermKind::kSelect || b->kind == TermKind::kSelect;
  bool is_equal = is_choice && AskSolver(a, b);
  if (!is_equal) is_equal = WithStack([&] { return IsEqualByParts(a, b); });
  if (!is_equal && is_choice) is_equal = WithStack([&] { return IsEqualByCases(a, b); });
  if (!is_equal && !is_choice && !a->is_closed() && !b->is_closed() && a->dtype == b->dtype) is_equal = AskSolver(a, b);
  if (!is_equal) Note(a, b);
  known_[{a, b}] = is_equal;
  return is_equal;
}

bool Comparison::AreIndicesEqual(const Term* a, const Term* b) {
  // Dimensions of tensors name their variables.
  if (a->is_closed() && a->kind != TermKind::kShape) return a->indices == b->indices;
  return std::ranges::equal(a->indices, b->indices, [&](const PrimExpr* x, const PrimExpr* y) {
    return x == y || (x->dtype == y->dtype && !x->dtype.is_bool() && terms_.indices().IsEqual(x, y));
  });
}

bool Comparison::IsEqualByParts(const Term* a, const Term* b) {
  if (a->kind != b->kind || a->op != b->op || a->number != b->number || a->array != b->array || a->text != b->text ||
      a->args.size() != b->args.size() || !AttrEqual(a->attrs, b->attrs) || !AreIndicesEqual(a, b))
    return false;
  const bool is_tensor = a->kind == TermKind::kLambda;
  const auto is_empty = [&](const PrimExpr* dim) {
    IndexSpace& indices = terms_.indices();
    if (const int64_t* number = arith::AsInt(dim)) return *number <= 0;
    return indices.Decide(indices.make().Binary(NodeKind::kLE, dim, indices.Int(0))) == true;
  };
  if (is_tensor && std::ranges::any_of(a->indices, is_empty)) return true;
  if (a->args.empty()) return !a->indices.empty();
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!IsEqual(a->args[i], b->args[i])) return false;
  }
  return true;
}

const Term* Comparison::RepresentativeOf(const Term* tensor) {
  if (tensor->kind != TermKind::kReduce && tensor->kind != TermKind::kResult) return tensor;
  // A comparison may add others.
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Term* other = tensors_[i];
    if (other == tensor || (other->skeleton == tensor->skeleton && IsEqual(other, tensor))) return other;
  }
  tensors_.push_back(tensor);
  return tensor;
}

bool Comparison::IsEqualByCases(const Term* a, const Term* b) {
  const PrimExpr* condition = (a->kind == TermKind::kSelect ? a : b)->indices[0];
  return std::ranges::all_of(std::array{true, false}, [&](bool holds) {
    return IsEqual(Assuming(a, condition, holds, terms_), Assuming(b, condition, holds, terms_));
  });
}

std::vector<const Term*> Comparison::ReadOnce(const Term* a, const Term* b) {
  LookupSet<const Term*> seen;
  std::vector<std::pair<const Term*, const Term*>> reads;  // by tensors
  LookupMap<const Term*, size_t> counts;                   // of reads, by tensors
  const auto visit = [&](const Term* term, auto& self) -> void {
    if (term->is_closed() || !seen.insert(term)) return;
    if (term->kind == TermKind::kRead) {
      reads.emplace_back(RepresentativeOf(term->args[0]), term);
      ++counts[reads.back().first];
      return;
    }
    for (const Term* arg : term->args) WithStack([&] { self(arg, self); });
  };
  visit(a, visit);
  visit(b, visit);
  std::vector<const Term*> single;
  for (const auto& [tensor, read] : reads) {
    if (counts[tensor] == 1) single.push_back(read);
  }
  return single;
}

bool Comparison::AskSolver(const Term* a, const Term* b) {
  if (solver_limit_ == 0 || num_queries_ >= kMostQueries) return false;
  const bool is_of_reals = terms_.laws().reals && terms_.laws().finite;
  if (a->dtype.is_floating() && !is_of_reals && !IsForSolver(a) && !IsForSolver(b)) return false;
  const std::vector<const Term*> single = ReadOnce(a, b);
  const auto representative = [&](const Term* tensor) { return RepresentativeOf(tensor); };
  SmtWriter writer(terms_, representative, single);
  if (terms_.indices().has_conditions()) {
    for (const Term* read : single) writer.Assume(read->indices);
  }
  const std::string x = writer.Write(a);
  const std::string y = writer.Write(b);
  if (writer.num_terms() > kMostTermsOfQuery) return false;
  const Result<arith::SmtSolver>& solver = arith::SmtSolver::Get();
  if (!solver.ok()) return false;
  ++num_queries_;
  return solver->IsUnsatisfiable(fmt::format("{}(assert (not {}))\n", writer.script(), writer.Equation(a->dtype, x, y)),
                                 solver_limit_);
}

}  // namespace iropt::proof
