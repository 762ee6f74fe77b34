// Conditions of loops as conditions of axes.
//
//   for io in range(4), ii in range(16):
//       vi = T.axis.spatial(64, io * 16 + ii)                          -->      vi < 50
//       T.where(io * 16 + ii < 50)
#include "axis_condition.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"
#include "schedule/stored_region.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

class AxisConditionFinder {
 public:
  AxisConditionFinder(State& state, const Ref* block, const Ref* loop)
      : state_(state),
        block_(block->block()),
        realize_(*state.RealizeOf(block)),
        loops_(LoopDomain(block->parent)),
        analyzer_(state.make(), Analyzer::SymVars::kAny) {
    for (const Ref* ref = block->parent; ref && ref->is_loop(); ref = ref->parent) moved_.insert(ref->loop().loop_var);
    for (const Ref* ref = loop; ref && ref->is_loop(); ref = ref->parent) moved_.erase(ref->loop().loop_var);
    BindShapes(*state.func(), analyzer_);
    BindLoopsAround(loop, analyzer_);
    for (const tir::IterVar* axis : block_.iter_vars) analyzer_.Bind(axis->var, axis->dom->min, axis->dom->extent);
  }

  Result<std::vector<const PrimExpr*>> Find() {
    std::vector<const PrimExpr*> parts;
    if (IsTrue(realize_.predicate)) return parts;
    takes_all_values_ = TakesAllValues();
    tir::VarValues only_values;
    for (const tir::Var* var : moved_) {
      const tir::Range& range = loops_.at(var);
      if (arith::IsInt(range.extent, 1)) only_values[var] = range.min;
    }
    IROPT_RETURN_IF_ERROR(AddParts(tir::Substitute(realize_.predicate, only_values, state_.workspace()), parts));
    return parts;
  }

 private:
  // Returns whether the axes take all values of their domains under the condition.
  bool TakesAllValues() {
    if (!arith::AreIndependentRanges(loops_)) return false;
    Analyzer analyzer(state_.make(), Analyzer::SymVars::kAny);
    BindShapes(*state_.func(), analyzer);
    const auto found = arith::DetectIterMap(
        realize_.iter_values, loops_, analyzer.Simplify(realize_.predicate),
        {.level = arith::IterMapLevel::kSurjective, .simplify_trivial_iterators = false}, analyzer);
    if (!found || found->padding_predicate || found->indices.size() != block_.iter_vars.size()) return false;
    for (size_t i = 0; i < found->indices.size(); ++i) {
      const arith::IterMapIndex& index = found->indices[i];
      const tir::Range& whole = *block_.iter_vars[i]->dom;
      if (!arith::IsInt(index.scale, 1) || !analyzer.CanProveEqual(index.base, whole.min) ||
          !analyzer.CanProveEqual(index.extent, whole.extent))
        return false;
    }
    return true;
  }

  Status AddParts(const PrimExpr* condition, std::vector<const PrimExpr*>& parts) {
    if (const auto* both = As<tir::And>(condition)) {
      IROPT_RETURN_IF_ERROR(AddParts(both->a, parts));
      return AddParts(both->b, parts);
    }
    if (takes_all_values_ && tir::UsesAnyOf(loops_, condition)) return {};
    const auto is_moved = [&](const tir::Var* var) { return moved_.contains(var); };
    if (tir::UsesVar(condition, is_moved)) {
      const auto is_of_axis = [&](const tir::Var* var) {
        return !is_moved(var) ||
               std::ranges::any_of(realize_.iter_values, [&](const PrimExpr* v) { return tir::UsesVar(v, var); });
      };
      const std::vector<const tir::Var*> vars = VarsOf(condition);
      if (std::ranges::none_of(vars, is_of_axis)) return {};
      if (const auto* values = LoopsOfAxes())
        condition = analyzer_.Simplify(tir::Substitute(condition, *values, state_.workspace()));
      if (tir::UsesVar(condition, is_moved))
        return state_.Refuse("the condition of the block {0} is not one of its axes", {&block_});
    }
    if (!analyzer_.CanProve(condition)) parts.push_back(condition);
    return {};
  }

  // The variables of the moved loops that axes use, from the axes; null if these do not determine them.
  const tir::VarValues* LoopsOfAxes() {
    if (loops_of_axes_) return &*loops_of_axes_;
    arith::IterRanges used;
    std::vector<const PrimExpr*> values, axes;
    for (size_t i = 0; i < realize_.iter_values.size(); ++i) {
      const PrimExpr* value = realize_.iter_values[i];
      if (!tir::UsesVar(value, [&](const tir::Var* var) { return moved_.contains(var); })) continue;
      values.push_back(value);
      axes.push_back(block_.iter_vars[i]->var);
      for (const tir::Var* var : VarsOf(value)) {
        if (moved_.contains(var)) used.insert_or_assign(var, loops_.at(var));
      }
    }
    if (!arith::AreIndependentRanges(used)) return nullptr;
    loops_of_axes_ = arith::InverseIterMap(values, axes, used, analyzer_);
    return loops_of_axes_ ? &*loops_of_axes_ : nullptr;
  }

  State& state_;
  const tir::Block& block_;
  const tir::BlockRealize& realize_;
  const arith::IterRanges loops_;              // around the block
  std::unordered_set<const tir::Var*> moved_;  // those of loops that are not around the new place
  bool takes_all_values_ = false;
  std::optional<tir::VarValues> loops_of_axes_;
  Analyzer analyzer_;
};

}  // namespace

Result<std::vector<const PrimExpr*>> ConditionOfAxes(State& state, const Ref* block, const Ref* loop) {
  return AxisConditionFinder(state, block, loop).Find();
}

bool TakeAllValues(State& state, const Ref* block, const std::vector<const PrimExpr*>& axes,
                   const PrimExpr* condition) {
  if (axes.empty()) return true;
  Workspace& workspace = state.workspace();
  const tir::BlockRealize& realize = *state.RealizeOf(block);
  std::vector<const PrimExpr*> values;
  arith::IterRanges domains;
  for (size_t i = 0; i < realize.iter_values.size(); ++i) {
    const tir::IterVar& axis = *realize.block->iter_vars[i];
    if (std::ranges::find(axes, axis.var) != axes.end()) values.push_back(realize.iter_values[i]);
    domains.insert_or_assign(axis.var, *axis.dom);
  }
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  const auto none_if_true = [&](const PrimExpr* where) {
    where = where ? analyzer.Simplify(where) : nullptr;
    return where && IsTrue(where) ? nullptr : where;
  };
  const auto taken = arith::EstimateRegionStrictBound(Points(values, workspace), LoopDomain(block->parent),
                                                      none_if_true(realize.predicate), analyzer);
  if (!taken) return false;
  const Box wanted =
      arith::EstimateRegionUpperBound(Points(axes, workspace), domains, none_if_true(condition), analyzer);
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].is_bounded()) return false;
    const tir::Range& whole = *domains.Find(To<tir::Var>(axes[i]));
    ranges.push_back(RangeOf(wanted[i], whole, analyzer, workspace));
  }
  return ContainRegion(state, {*taken}, workspace.Copy(ranges), state.ScopeOf(block));
}

}  // namespace iropt::schedule
