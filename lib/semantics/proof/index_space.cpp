#include "semantics/proof/index_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/context.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::proof {

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

const PrimExpr* IndexSpace::Simplify(const PrimExpr* expr) {
  if (expr->kind == NodeKind::kIntImm || Is<tir::Var>(expr)) return expr;
  const PrimExpr*& simple = simplified_[expr];
  if (simple == nullptr) simple = analyzer_.Simplify(expr);
  return simple;
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

bool IndexSpace::IsEqual(const PrimExpr* a, const PrimExpr* b) { return a == b || analyzer_.CanProveEqual(a, b); }

std::optional<bool> IndexSpace::Decide(const PrimExpr* condition) {
  const PrimExpr* simple = Simplify(condition);
  if (const int64_t* value = arith::AsInt(simple)) return *value != 0;
  return std::nullopt;
}

}  // namespace iropt::proof
