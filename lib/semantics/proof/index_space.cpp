#include "semantics/proof/index_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/arith/iter_map.h"
#include "iropt/arith/smt_solver.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::proof {

namespace {

constexpr size_t kMostQuestions = 400;

}  // namespace

IndexSpace::IndexSpace(Assumptions assumptions) : assumptions_(std::move(assumptions)) {
  const PrimExpr* all = nullptr;
  for (const PrimExpr* condition : assumptions_.conditions)
    all = all ? make_.Binary(NodeKind::kAnd, all, condition) : condition;
  if (all && !arith::AsInt(all)) constraint_.emplace(analyzer_, all);
}

const PrimExpr* IndexSpace::Get(bool is_reduction, size_t dimension, const PrimExpr* extent) {
  if (arith::IsInt(extent, 1)) return Int(0);
  const tir::Var*& var = vars_[{is_reduction, dimension, extent}];
  if (var == nullptr) {
    var = IRContext::Current().NewSymVar(fmt::format("{}{}", is_reduction ? "r" : "i", dimension));
    analyzer_.Bind(var, Int(0), extent);
    places_[var] = {is_reduction, dimension, extent};
  }
  return var;
}

const PrimExpr* IndexSpace::NumPlaces() {
  if (num_places_ == nullptr) num_places_ = IRContext::Current().NewSymVar("places", DataType::Int(64), true);
  return num_places_;
}

const PrimExpr* IndexSpace::Simplify(const PrimExpr* expr) {
  if (expr->kind == NodeKind::kIntImm || Is<tir::Var>(expr)) return expr;
  const PrimExpr*& simple = simplified_[expr];
  if (simple != nullptr) return simple;
  const PrimExpr* result = analyzer_.Simplify(expr);
  if (!assumptions_.conditions.empty()) {
    const PrimExpr* resolved = Resolve(result);
    if (resolved != result) result = analyzer_.Simplify(resolved);
  }
  return simplified_[expr] = result;
}

const PrimExpr* IndexSpace::Resolve(const PrimExpr* expr) {
  const auto* select = As<tir::Select>(expr);
  if (const auto* call = As<tir::Call>(expr); call && IsOp(call->op, op::kTirIfThenElse) && call->args.size() == 3) {
    if (const auto holds = Decide(call->args[0])) return Resolve(call->args[*holds ? 1 : 2]);
    return expr;
  }
  if (select) {
    if (const auto holds = Decide(select->condition)) return Resolve(*holds ? select->true_value : select->false_value);
    return expr;
  }
  if (expr->kind < NodeKind::kAdd || expr->kind > NodeKind::kOr || expr->dtype.is_bool()) return expr;
  const auto* binary = static_cast<const tir::BinaryExpr*>(expr);
  const PrimExpr* a = Resolve(binary->a);
  const PrimExpr* b = Resolve(binary->b);
  if (expr->kind == NodeKind::kMin || expr->kind == NodeKind::kMax) {
    if (Decide(make_.Binary(NodeKind::kLE, a, b)) == true) return expr->kind == NodeKind::kMin ? a : b;
    if (Decide(make_.Binary(NodeKind::kLE, b, a)) == true) return expr->kind == NodeKind::kMin ? b : a;
  }
  return a == binary->a && b == binary->b ? expr : make_.Binary(expr->kind, a, b);
}

const PrimExpr* IndexSpace::Dimension(const PrimExpr* dim) {
  const PrimExpr* simple = Simplify(dim);
  if (simple->kind == NodeKind::kIntImm) return simple;
  const auto known = std::ranges::find_if(dimensions_, [&](const PrimExpr* other) { return IsEqual(other, simple); });
  if (known != dimensions_.end()) return *known;
  dimensions_.push_back(simple);
  return simple;
}

void IndexSpace::Assume(const PrimExpr* expr, arith::SmtScript& script) {
  std::vector<const tir::BinaryExpr*> quotients;
  const auto find_quotients = [&](const PrimExpr* in) {
    tir::PostOrderVisit(in, [&](const Node* node) {
      const bool is_quotient = node->kind == NodeKind::kFloorDiv || node->kind == NodeKind::kFloorMod;
      const auto* quotient = is_quotient ? static_cast<const tir::BinaryExpr*>(node) : nullptr;
      const bool is_new = quotient && std::ranges::find(quotients, quotient) == quotients.end();
      if (is_new && !arith::AsInt(quotient->b)) quotients.push_back(quotient);
    });
  };
  find_quotients(expr);
  for (const PrimExpr* var : VarsOf(expr)) {
    const PrimExpr* extent = places_.at(var).extent;
    script.AssertRange(var, Int(0), extent);
    find_quotients(extent);
    // What follows of products is rarely found by Z3.
    if (const auto* quotient = As<tir::BinaryExpr>(extent); quotient && quotient->kind == NodeKind::kFloorDiv) {
      const std::string divisor = script.Write(quotient->b);
      script.Assert(fmt::format("(=> (> {0} 0) (and (<= 0 (* {1} {0})) (<= (+ (* {1} {0}) {0}) {2})))", divisor,
                                script.Write(var), script.Write(quotient->a)));
    }
  }
  for (const tir::BinaryExpr* quotient : quotients) {
    if (quotient->kind == NodeKind::kFloorDiv) {
      script.Assert(fmt::format("(=> (> {0} 0) (and (=> (< {1} {0}) (<= {2} 0)) (=> (<= 0 {1}) (<= 0 {2}))))",
                                script.Write(quotient->b), script.Write(quotient->a), script.Write(quotient)));
    }
    for (const tir::BinaryExpr* other : quotients) {
      if (quotient->b != other->b || quotient == other || quotient->kind != other->kind) continue;
      const std::string divisor = script.Write(quotient->b);
      const int difference = quotient->kind == NodeKind::kFloorDiv ? 1 : 0;
      script.Assert(fmt::format("(=> (and (> {0} 0) (= {1} (+ {2} {0}))) (= {3} (+ {4} {5})))", divisor,
                                script.Write(quotient->a), script.Write(other->a), script.Write(quotient),
                                script.Write(other), difference));
    }
  }
  for (const PrimExpr* condition : assumptions_.conditions) script.Assert(script.Write(condition));
}

bool IndexSpace::Proves(const PrimExpr* condition) {
  if (assumptions_.solver_limit == 0) return false;
  if (const bool* known = proved_.Find(condition)) return *known;
  const Result<arith::SmtSolver>& solver = arith::SmtSolver::Get();
  if (!solver.ok() || proved_.size() >= kMostQuestions) return false;
  arith::SmtScript script;
  Assume(condition, script);
  const std::string holds = script.Write(condition);
  script.Assert(fmt::format("(not {})", holds));
  return proved_[condition] = solver->IsUnsatisfiable(script.text(), assumptions_.solver_limit);
}

const PrimExpr* IndexSpace::Substitute(const PrimExpr* expr, const SymVarMap& map) {
  if (expr->kind == NodeKind::kIntImm) return expr;
  if (const auto* var = As<tir::Var>(expr)) {
    const PrimExpr* value = map.Find(var);
    return value ? value : expr;
  }
  return Simplify(SubstituteSymVars(expr, map));
}

const std::vector<const PrimExpr*>& IndexSpace::VarsOf(const PrimExpr* expr) {
  if (const auto* known = vars_of_.Find(expr)) return *known;
  std::vector<const PrimExpr*> vars;
  tir::ForEachVar(expr, [&](const tir::Var* var) {
    if (places_.contains(var) && std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
  });
  return vars_of_[expr] = std::move(vars);
}

bool IndexSpace::Flags(const PrimExpr* expr) {
  return std::ranges::any_of(VarsOf(expr), [&](const PrimExpr* var) { return places_.at(var).is_reduction; });
}

bool IndexSpace::IsBefore(const PrimExpr* a, const PrimExpr* b) const {
  const Place& x = places_.at(a);
  const Place& y = places_.at(b);
  return x.is_reduction != y.is_reduction ? y.is_reduction : x.number < y.number;
}

bool IndexSpace::AreInOrder(const Dims& indices) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!places_.contains(indices[i]) || (i > 0 && !IsBefore(indices[i - 1], indices[i]))) return false;
  }
  return true;
}

bool IndexSpace::IsEqual(const PrimExpr* a, const PrimExpr* b) {
  if (a == b || analyzer_.CanProveEqual(a, b) || AreSamePolynomials(a, b)) return true;
  const bool are_numbers = arith::AsInt(a) && arith::AsInt(b);
  return !are_numbers && a->dtype == b->dtype && Proves(make_.Binary(NodeKind::kEQ, a, b));
}

bool IndexSpace::AreEqual(const Dims& a, const Dims& b) {
  return std::ranges::equal(a, b, [this](const PrimExpr* x, const PrimExpr* y) { return IsEqual(x, y); });
}

const PrimExpr* IndexSpace::And(const PrimExpr* a, const PrimExpr* b) const {
  return a == nullptr ? b : b == nullptr ? a : make_.Binary(NodeKind::kAnd, a, b);
}

const PrimExpr* IndexSpace::RangeOf(const PrimExpr* index, const PrimExpr* extent) const {
  return And(make_.Binary(NodeKind::kGE, index, Int(0)), make_.Binary(NodeKind::kLT, index, extent));
}

std::optional<bool> IndexSpace::Decide(const PrimExpr* condition) {
  const PrimExpr* simple = Simplify(condition);
  if (const int64_t* value = arith::AsInt(simple)) return *value != 0;
  if (Proves(simple)) return true;
  if (Proves(make_.Not(simple))) return false;
  return std::nullopt;
}

bool IndexSpace::Follows(const PrimExpr* condition, const PrimExpr* given) {
  if (arith::IsInt(condition, 1)) return true;
  if (given == nullptr) return analyzer_.CanProve(condition) || Proves(condition);
  const arith::Analyzer::Constraint constraint(analyzer_, given);
  return analyzer_.CanProve(condition) || Proves(make_.Binary(NodeKind::kOr, make_.Not(given), condition));
}

IndexSpace::NonEmpty::~NonEmpty() {
  if (constraint_) space_.simplified_ = {};
}

bool IndexSpace::Invert(const Dims& indices, const Dims& outputs, const Dims& vars, const Dims& extents,
                        SymVarMap& values) {
  for (const PrimExpr* var : vars) {
    const auto found = std::ranges::find(indices, var);
    if (found != indices.end()) values.Set(To<tir::Var>(var), outputs[static_cast<size_t>(found - indices.begin())]);
  }
  if (values.size() == vars.size()) return true;
  values = {};
  if (InvertDigits(indices, outputs, vars, extents, values)) return true;
  values = {};
  arith::IterRanges ranges;
  for (size_t i = 0; i < vars.size(); ++i) ranges.try_emplace(To<tir::Var>(vars[i]), Int(0), extents[i]);
  if (!arith::AreIndependentRanges(ranges)) return false;
  const auto inverse = arith::InverseIterMap(indices, outputs, ranges, analyzer_);
  if (!inverse) return false;
  for (const PrimExpr* var : vars) {
    const PrimExpr* const* value = inverse->Find(To<tir::Var>(var));
    if (value == nullptr) return false;
    values.Set(To<tir::Var>(var), Simplify(*value));
  }
  return true;
}

}  // namespace iropt::proof
