#include "semantics/proof/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/smt_solver.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/support/stack.h"
#include "semantics/proof/smt_writer.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostQueries = 24;
constexpr size_t kMostTermsOfQuery = 400;

// Of floats in their format, little else is known.
bool IsConversion(const Term* term) {
  return term->kind == TermKind::kApply && (term->op == op::kAstype || term->op == op::kWhere);
}

}  // namespace

std::string Describe(const Term* term) {
  switch (term->kind) {
    case TermKind::kNumber: return fmt::format("the number {}", term->number);
    case TermKind::kIndex: return "an index";
    case TermKind::kRead: return fmt::format("an element of {}", Describe(term->args[0]));
    case TermKind::kApply: return std::string(OpInfoOf(term->op).script);
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
  bool is_equal = a->dtype == b->dtype && WithStack([&] { return IsEqualByParts(a, b); });
  if (!is_equal && !a->is_closed() && !b->is_closed() && a->dtype == b->dtype) is_equal = AskSolver(a, b);
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
  if (a->args.empty()) return !a->indices.empty();
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!IsEqual(a->args[i], b->args[i])) return false;
  }
  return true;
}

bool Comparison::AskSolver(const Term* a, const Term* b) {
  if (solver_limit_ == 0 || num_queries_ >= kMostQueries) return false;
  const bool is_of_reals = terms_.laws().reals && terms_.laws().finite;
  if (a->dtype.is_floating() && !is_of_reals && !IsConversion(a) && !IsConversion(b)) return false;
  SmtWriter writer(terms_);
  const std::string x = writer.Write(a);
  const std::string y = writer.Write(b);
  if (writer.num_terms() > kMostTermsOfQuery) return false;
  const Result<arith::SmtSolver>& solver = arith::SmtSolver::Get();
  if (!solver.ok()) return false;
  ++num_queries_;
  bool is_equal = false;
  solver->InSession([&](arith::SmtSolver::Eval eval) {
    const std::string answer = eval(fmt::format("(set-option :rlimit {})\n{}(assert (not (= {} {})))\n(check-sat)\n",
                                                solver_limit_, writer.script(), x, y));
    is_equal = answer.starts_with("unsat");
  });
  return is_equal;
}

}  // namespace iropt::proof
