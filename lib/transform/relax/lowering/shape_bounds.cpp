#include "shape_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt {

namespace {

constexpr std::string_view kLowerBounds = "tir_var_lower_bound";
constexpr std::string_view kNonNegative = "tir_non_negative_var";

Error Malformed(std::string_view key, std::string_view expected) {
  return {ErrorCode::PassFailed, fmt::format("invalid attribute {}: expected {}", key, expected)};
}

// An integer that is written as such, or as T.int64(4).
std::optional<int64_t> BoundOf(const Attr* attr) {
  if (const auto* integer = As<IntAttr>(attr)) return integer->value;
  const auto* expr = As<ExprAttr>(attr);
  const int64_t* value = expr ? arith::AsInt(expr->value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

// The integers of the attribute `key`, by the names of variables.
Result<std::map<std::string_view, int64_t>> ReadBounds(const Function& function, std::string_view key, bool positive) {
  std::map<std::string_view, int64_t> bounds;
  const Attr* attr = function.attrs->Find(key);
  if (!attr) return bounds;
  const auto* dict = As<DictAttr>(attr);
  const std::string_view sign = positive ? "positive " : "";
  if (!dict) return Malformed(key, fmt::format("{}integers by the names of variables", sign));
  for (uint32_t i = 0; i < dict->size(); ++i) {
    const std::optional<int64_t> value = BoundOf(dict->values[i]);
    if (!value || (positive && *value <= 0))
      return Malformed(key, fmt::format("{} integer for '{}'", positive ? "a positive" : "an", dict->keys[i]));
    bounds.emplace(dict->keys[i], *value);
  }
  return bounds;
}

Result<std::set<std::string_view>> ReadNonNegative(const Attr* attr) {
  std::set<std::string_view> names;
  if (!attr) return names;
  const auto* list = As<ListAttr>(attr);
  if (!list) return Malformed(kNonNegative, "a list of names");
  for (const Attr* item : list->values) {
    const auto* name = As<StrAttr>(item);
    if (!name) return Malformed(kNonNegative, "a list of names");
    names.insert(name->value);
  }
  return names;
}

// Leaves out the end of int32 in T.min(n, 2147483647), which x[::-1] and x[::2] of a dynamic dimension have: it says
// nothing about memory.
class EndRemover : public tir::ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    const auto is_end = [](const PrimExpr* operand) {
      const int64_t* value = arith::AsInt(operand);
      return value && *value >= std::numeric_limits<int32_t>::max();
    };
    if (expr->kind == NodeKind::kMin && is_end(expr->a)) return VisitExpr(expr->b);
    if (expr->kind == NodeKind::kMin && is_end(expr->b)) return VisitExpr(expr->a);
    return ExprMutator::VisitBinary(expr);
  }
};

}  // namespace

Status ShapeBounds::Add(const Function& function) {
  IROPT_ASSIGN_OR_RETURN(const auto upper, ReadBounds(function, attr::kTirVarUpperBound, /*positive=*/true));
  IROPT_ASSIGN_OR_RETURN(const auto lower, ReadBounds(function, kLowerBounds, /*positive=*/false));
  IROPT_ASSIGN_OR_RETURN(const auto non_negative, ReadNonNegative(function.attrs->Find(kNonNegative)));
  if (upper.empty() && lower.empty() && non_negative.empty()) return {};
  const arith::PrimBuilder& make = analyzer_.make();
  const auto add = [&](const Type* type) {
    if (!type) return;
    for (const tir::Var* var : SymVarsOf(type)) {
      const auto least = lower.find(var->name);
      if (const auto bound = upper.find(var->name); bound != upper.end()) {
        const int64_t min = least == lower.end() ? 0 : std::min(least->second, bound->second);
        analyzer_.bounds().SetBound(var, {min, bound->second});
        domains_.insert_or_assign(
            var, arith::IntervalSet::Interval(make.Int(min, var->dtype), make.Int(bound->second, var->dtype)));
      } else if (non_negative.contains(var->name) || (least != lower.end() && least->second >= 0)) {
        analyzer_.bounds().SetBound(var, {0, arith::IntBound::kPosInf});
      }
    }
  };
  for (const Var* param : function.params) add(param->type);
  add(function.ret_type);
  return {};
}

const PrimExpr* ShapeBounds::UpperBound(const PrimExpr* dim) {
  if (arith::AsInt(dim)) return dim;
  const arith::IntBound bound = analyzer_.Bound(EndRemover(workspace_).VisitExpr(dim));
  if (bound.max != arith::IntBound::kPosInf) return analyzer_.make().Int(bound.max);
  const PrimExpr* max = domains_.empty() ? nullptr : arith::EvalSet(dim, domains_, analyzer_).max();
  return max ? max : dim;
}

// Proofs hold for values within the bounds.
int64_t ShapeBounds::TestValue(const tir::Var* var) {
  const int64_t value = 97 + 31 * static_cast<int64_t>(test_values_.entries().size());
  const arith::IntBound bound = analyzer_.Bound(var);
  return bound.min >= 0 && bound.max < value ? bound.min + value % (bound.max - bound.min + 1) : value;
}

const PrimExpr* ShapeBounds::EqualSize(const PrimExpr* size) {
  const auto [entry, is_new] = equal_size_.try_emplace(size, size);
  if (!is_new) return entry;
  for (const tir::Var* var : SymVarsOf(size)) {
    if (!test_values_.Find(var)) test_values_.Bind(var, TestValue(var));
  }
  std::vector<const PrimExpr*>& candidates = by_value_[test_values_.EvalInt(size).value_or(0)];
  for (const PrimExpr* other : candidates) {
    if (analyzer_.CanProveEqual(size, other)) return entry = other;
  }
  candidates.push_back(size);
  return size;
}

std::vector<const PrimExpr*> ShapeBounds::UpperBounds(List<const PrimExpr*> dims) {
  std::vector<const PrimExpr*> bounds;
  bounds.reserve(dims.size());
  for (const PrimExpr* dim : dims) bounds.push_back(UpperBound(dim));
  return bounds;
}

}  // namespace iropt
