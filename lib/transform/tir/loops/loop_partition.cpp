// tir.LoopPartition: splits loops where conditions in them change.
//
//   for i, j in T.grid((n + 3) // 4, 4):          for i, j in T.grid(n // 4, 4):
//       if T.likely(i * 4 + j < n):                   B[i * 4 + j] = A[i * 4 + j]       # if T.bool(True)
//           B[i * 4 + j] = A[i * 4 + j]     -->   for i, j in T.grid((n + 3) // 4 - n // 4, 4):
//                                                     if (i + n // 4) * 4 + j < n:
//                                                         B[(i + n // 4) * 4 + j] = A[(i + n // 4) * 4 + j]
//
// Conditions in T.likely count, and any comparison in loops that have the attribute pragma_loop_partition_hint; the
// marks are removed. In the middle part the conditions are T.bool(True), or all T.bool(False): tir.Simplify removes
// them. What is in T.ignore_loop_partition does not count. The parts are split further. Launches of blocks of threads
// get a condition instead. Loops with constant bounds are only split if the configuration tir.LoopPartition says so, or
// if they have the attribute and the text is of TVM 0.20 or newer.
//
// Left alone: conditions of unsigned integers, and those that would have to be evaluated before what they depend on;
// loops bound to threads, with steps, and with T.break_loop or T.continue_loop. Where it cannot be proved that the
// parts do not overlap or leave the loop, as for negative sizes, the bounds of the parts get a min or a max that TVM
// does not have. O(size of the result), times the nesting of the loops; what the copies add is limited by the option
// max_growth. Of conditions whose bounds are not constant, 32 are decided at a time.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "configs/tir.LoopPartition.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/int_set.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/LoopPartition.h"
#include "transform/tir/loops/partition_conditions.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

using LoopConditions = LookupSet<const PrimExpr*>;

struct PartitionConfig {
  bool constant_loops;
  bool keep_unit_loops;
  bool unroll_undecided;
  int64_t max_growth;
};

// The bounds of the parts of a loop are the least or greatest of this many values at most.
constexpr size_t kMaxSymbolic = 32;

bool HasSymbolicEnd(arith::IntervalSet set) {
  return (set.min() && !arith::AsInt(set.min())) || (set.max() && !arith::AsInt(set.max()));
}

bool IsSame(arith::IntervalSet a, arith::IntervalSet b) {
  return DeepEqual(a.min(), b.min()) && DeepEqual(a.max(), b.max());
}

// Replaces conditions by a constant.
class ConditionReplacer : public tir::StmtExprMutator {
 public:
  ConditionReplacer(const LoopConditions& conditions, bool value, Workspace& workspace)
      : StmtExprMutator(workspace),
        conditions_(conditions),
        value_(workspace.New<tir::IntImm>(DataType::Bool(), value)) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return conditions_.contains(expr) ? value_ : StmtExprMutator::VisitExpr(expr);
  }

 private:
  const LoopConditions& conditions_;
  const PrimExpr* value_;
};

// Removes T.likely, T.ignore_loop_partition and the hints.
class MarkRemover : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const bool is_mark = IsOp(call->op, op::kTirLikely) || IsOp(call->op, op::kTirIgnoreLoopPartition);
    if (is_mark && call->args.size() == 1) return VisitExpr(call->args[0]);
    return StmtExprMutator::VisitCall(call);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return stmt->attr_key == attr::kLoopPartitionHint ? VisitStmt(stmt->body) : StmtExprMutator::VisitAttrStmt(stmt);
  }
};

// The part of a loop in which conditions are decided.
struct Middle {
  arith::IntervalSet interval = arith::IntervalSet::Nothing();
  LoopConditions conditions;
  bool holds = false;
};

class LoopPartitioner : public tir::StmtExprMutator {
 public:
  LoopPartitioner(const PrimFunc& func, const PartitionConfig& config, FunctionPassContext& context)
      : StmtExprMutator(context.workspace()),
        config_(config),
        diagnostics_(context.diagnostics()),
        make_(context.workspace()),
        copier_(context.workspace()),
        candidates_(config.constant_loops, make_.version()),
        plain_(make_, arith::Analyzer::SymVars::kAny),
        ranges_(make_, arith::Analyzer::SymVars::kAny),
        sizes_(make_, arith::Analyzer::SymVars::kAny) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (!buffer) continue;
      for (const PrimExpr* dim : buffer->shape) sizes_.MarkNonNegative(dim);
    }
  }

  const tir::Stmt* Partition(const tir::Stmt* stmt) {
    candidates_.Select(stmt);
    return VisitStmt(stmt);
  }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop->step) return StmtExprMutator::VisitFor(loop);
    ranges_.Bind(loop->loop_var, loop->min, loop->extent);
    sizes_.Bind(loop->loop_var, loop->min, loop->extent);
    const bool is_divided = candidates_.IsSelected(loop) && !HasLoopJumps(loop->body);
    const tir::Stmt* result = is_divided ? PartitionLoop(*loop) : nullptr;
    if (!result) result = WithHint(loop->loop_var, loop->min, loop->extent, hints_, loop);
    ranges_.Unbind(loop->loop_var);
    sizes_.Unbind(loop->loop_var);
    return result;
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::LaunchAxisOf(*stmt);
    if (!axis) return StmtExprMutator::VisitAttrStmt(stmt);
    const tir::Stmt* result = candidates_.IsSelected(stmt) ? PartitionLaunch(*stmt, *axis) : nullptr;
    if (result) return result;
    // The threads of a block must not diverge: conditions hold for all of them.
    const bool is_thread = ThreadTag::Of(axis->thread_tag).rank == ThreadRank::kThread;
    return WithHint(axis->var, Zero(axis->var), stmt->value, is_thread ? relax_ : hints_, stmt);
  }

 private:
  // A loop or a launch: the variable is in [min, max].
  struct Space {
    const tir::Var* var;
    const PrimExpr* min;
    const PrimExpr* max;
    const tir::Stmt* body;
  };
  // Begins of the middle part and of the last part. The other parts may be empty.
  struct Bounds {
    const PrimExpr* begin;
    const PrimExpr* end;
    const PrimExpr* post_extent;
    bool has_pre = false;
    bool has_post = false;
    bool split_pre = true;  // it is known not to be empty
    bool split_post = true;
  };

  const PrimExpr* Zero(const tir::Var* var) const { return make_.Const(0, var->dtype); }
  const PrimExpr* PlusOne(const PrimExpr* expr) const { return make_.Add(expr, make_.Const(1, expr->dtype)); }
  const PrimExpr* Last(const PrimExpr* min, const PrimExpr* extent) const {
    return make_.Sub(make_.Add(min, extent), make_.Const(1, min->dtype));
  }
  const PrimExpr* Compare(NodeKind kind, const PrimExpr* a, const PrimExpr* b) const {
    return make_.Binary(kind, a, b);
  }
  bool IsPositive(const PrimExpr* expr) {
    return ranges_.CanProve(Compare(NodeKind::kGT, expr, make_.Const(0, expr->dtype)));
  }
  bool IsNeverPositive(const PrimExpr* expr) {
    return ranges_.CanProve(Compare(NodeKind::kLE, expr, make_.Const(0, expr->dtype)));
  }

  template <class S>
  const tir::Stmt* WithHint(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent,
                            arith::VarDomains& domains, const S* stmt) {
    const bool is_new = domains.try_emplace(var, arith::IntervalSet::Interval(min, Last(min, extent))).second;
    const tir::Stmt* result = nullptr;
    if constexpr (std::is_same_v<S, tir::For>)
      result = StmtExprMutator::VisitFor(stmt);
    else
      result = StmtExprMutator::VisitAttrStmt(stmt);
    if (is_new) domains.erase(var);
    return result;
  }

  std::vector<DecidedCondition> FindConditions(const Space& space) {
    arith::VarDomains hints = hints_;
    hints.try_emplace(space.var, arith::IntervalSet::Interval(space.min, space.max));
    std::vector<DecidedCondition> found =
        FindDecidedConditions(space.body, space.var, candidates_.HasHint(space.var), std::move(hints), relax_, plain_);
    // The last conditions are the innermost ones.
    std::ranges::reverse(found);
    return found;
  }

  // The values in the loop for which all conditions that can hold there do, or with holds = false the opposite.
  Middle FindMiddle(std::span<const DecidedCondition> decided, const Space& space, bool holds) {
    const auto whole = arith::IntervalSet::Interval(space.min, space.max);
    std::vector<const DecidedCondition*> usable;
    std::vector<arith::IntervalSet> symbolic;
    const auto is_too_many = [&](const arith::IntervalSet& interval) {
      if (!HasSymbolicEnd(interval)) return false;
      if (std::ranges::any_of(symbolic, [&](const arith::IntervalSet& other) { return IsSame(interval, other); }))
        return false;
      if (symbolic.size() == kMaxSymbolic) return true;
      symbolic.push_back(interval);
      return false;
    };
    for (const DecidedCondition& condition : decided) {
      if (condition.holds != holds || is_too_many(condition.interval)) continue;
      if (!Intersect(condition.interval, whole, ranges_).is_nothing()) usable.push_back(&condition);
    }
    Middle middle;
    middle.holds = holds;
    if (usable.empty()) return middle;
    arith::IntervalSet common = usable[0]->interval;
    for (const DecidedCondition* condition : std::span(usable).subspan(1))
      common = Intersect(common, condition->interval, plain_);
    const bool is_common = !common.is_nothing();
    if (!is_common && !candidates_.HasHint(space.var)) return middle;
    // As many as go together, if all of them do not.
    if (!is_common) common = arith::IntervalSet::Everything();
    for (const DecidedCondition* condition : usable) {
      if (!is_common) {
        const arith::IntervalSet both = Intersect(common, condition->interval, ranges_);
        if (both.is_nothing()) break;
        common = both;
      }
      middle.conditions.insert(condition->condition);
    }
    middle.interval = common;
    return middle;
  }

  // All conditions are equalities that hold for values outside of the loop.
  bool NeverHolds(std::span<const DecidedCondition> decided, const Space& space) {
    for (const DecidedCondition& condition : decided) {
      if (!condition.interval.is_point()) return false;
      const PrimExpr* point = condition.interval.min();
      if (ranges_.CanProve(Compare(NodeKind::kGE, point, space.min)) &&
          ranges_.CanProve(Compare(NodeKind::kLE, point, space.max)))
        return false;
    }
    return true;
  }

  const tir::Stmt* PartitionLoop(const tir::For& loop) {
    const Space space{.var = loop.loop_var, .min = loop.min, .max = Last(loop.min, loop.extent), .body = loop.body};
    const std::vector<DecidedCondition> decided = FindConditions(space);
    if (decided.empty()) return nullptr;
    Middle middle = FindMiddle(decided, space, true);
    if (middle.interval.is_nothing()) middle = FindMiddle(decided, space, false);
    if (middle.interval.is_nothing()) return NeverHolds(decided, space) ? &loop : Unroll(loop, space);
    const Bounds bounds = FindBounds(middle.interval, space);
    const PrimExpr* pre = bounds.has_pre ? bounds.begin : nullptr;
    const PrimExpr* post = bounds.has_post ? bounds.end : nullptr;
    if (!ChargeBudget(loop, space, {pre, post})) return nullptr;
    return MakeParts(loop, space, middle, bounds);
  }

  // A hinted loop in which nothing is decided is unrolled, so that tir.UnrollLoop may decide it.
  const tir::Stmt* Unroll(const tir::For& loop, const Space& space) {
    if (!config_.unroll_undecided || !candidates_.HasHint(loop.loop_var) ||
        !IsPositive(make_.Sub(space.max, space.min)))
      return nullptr;
    tir::For unrolled = loop;
    unrolled.extent = PlusOne(make_.Sub(space.max, space.min));
    // The text of a loop that does not begin at 0 states its end, from which the extent is computed.
    if (!arith::IsInt(space.min, 0)) unrolled.extent = ranges_.Simplify(unrolled.extent);
    unrolled.for_kind = tir::ForKind::kUnrolled;
    unrolled.annotations = DictAttr::Empty();
    unrolled.body = Partition(loop.body);
    return workspace().New<tir::For>(unrolled);
  }

  Bounds FindBounds(arith::IntervalSet interval, const Space& space) {
    const PrimExpr* whole_end = PlusOne(space.max);
    Bounds bounds{.begin = space.min, .end = whole_end, .post_extent = nullptr};
    if (interval.min()) {
      bounds.begin = ranges_.Simplify(interval.min());
      if (!ranges_.CanProveEqual(bounds.begin, space.min)) {
        const PrimExpr* extent = ranges_.Simplify(make_.Sub(bounds.begin, space.min));
        bounds.split_pre = IsPositive(extent);
        bounds.has_pre = !IsNeverPositive(extent);
        if (!bounds.split_pre) bounds.begin = make_.Max(bounds.begin, space.min);
        if (!sizes_.CanProve(Compare(NodeKind::kLE, bounds.begin, whole_end))) {
          bounds.begin = make_.Min(bounds.begin, whole_end);
          bounds.split_pre = false;
        }
      }
    }
    if (interval.max()) {
      bounds.end = ranges_.Simplify(PlusOne(interval.max()));
      if (!ranges_.CanProveEqual(interval.max(), space.max)) {
        bounds.post_extent = ranges_.Simplify(PlusOne(make_.Sub(space.max, bounds.end)));
        bounds.split_post = IsPositive(bounds.post_extent);
        bounds.has_post = !IsNeverPositive(bounds.post_extent);
        if (!bounds.split_post) bounds.end = make_.Min(bounds.end, whole_end);
        if (!sizes_.CanProve(Compare(NodeKind::kGE, bounds.end, bounds.begin))) {
          bounds.end = make_.Max(bounds.end, bounds.begin);
          bounds.post_extent = make_.Sub(whole_end, bounds.end);
          bounds.split_post = false;
        }
      }
    }
    return bounds;
  }

  // Returns whether copies of the body may be made, in which values of these sizes replace the variable; null: no copy.
  bool ChargeBudget(const tir::Stmt& at, const Space& space, std::initializer_list<const PrimExpr*> copies) {
    int64_t size = 0;
    int64_t num_uses = 0;
    tir::PostOrderVisit(space.body, [&](const Node* node) {
      ++size;
      num_uses += node == space.var ? 1 : 0;
    });
    int64_t cost = 0;
    for (const PrimExpr* value : copies) {
      if (!value) continue;
      cost += size;
      tir::PostOrderVisit(value, [&](const Node*) { cost += num_uses; });
    }
    if (cost > config_.max_growth - nodes_added_) {
      if (WantsRemarks()) {
        RemarkMissed(
            diagnostics_, "partition-limit", Location(at),
            fmt::format("the loop is not split: its copies would exceed the limit of {} nodes", config_.max_growth));
      }
      return false;
    }
    nodes_added_ += cost;
    return true;
  }

  const tir::Stmt* MakeParts(const tir::For& loop, const Space& space, const Middle& middle, const Bounds& bounds) {
    const tir::Stmt* pre = bounds.has_pre ? MakePart(loop, loop.body, space.min, make_.Sub(bounds.begin, space.min),
                                                     OwnDefinitions::kRenew)
                                          : nullptr;
    const tir::Stmt* post =
        bounds.has_post ? MakePart(loop, loop.body, bounds.end, bounds.post_extent, OwnDefinitions::kRenew) : nullptr;
    std::vector<const tir::Stmt*> parts;
    if (!ranges_.CanProve(Compare(NodeKind::kGE, bounds.begin, bounds.end))) {
      const tir::Stmt* body = ConditionReplacer(middle.conditions, middle.holds, workspace()).VisitStmt(loop.body);
      parts.push_back(
          Partition(MakePart(loop, body, bounds.begin, make_.Sub(bounds.end, bounds.begin), OwnDefinitions::kKeep)));
      if (pre && bounds.split_pre) pre = Partition(pre);
      if (post && bounds.split_post) post = Partition(post);
    }
    if (pre) parts.insert(parts.begin(), pre);
    if (post) parts.push_back(post);
    if (parts.empty()) return workspace().New<tir::Evaluate>(make_.Int(0, DataType::Int(32)));
    return MakeFlatSeq(workspace(), parts);
  }

  // The iterations from `begin` on. One part keeps the definitions of the loop.
  const tir::Stmt* MakePart(const tir::For& loop, const tir::Stmt* body, const PrimExpr* begin, const PrimExpr* extent,
                            OwnDefinitions definitions) {
    const bool is_unit = !config_.keep_unit_loops && loop.annotations->size() == 0 &&
                         ranges_.CanProveEqual(extent, make_.Const(1, extent->dtype));
    const tir::Var* var = loop.loop_var;
    if (definitions == OwnDefinitions::kRenew) {
      var = workspace().NewPrimVar(loop.loop_var->name, loop.loop_var->dtype);
      if (candidates_.HasHint(loop.loop_var)) candidates_.AddHint(var);
    }
    const PrimExpr* value = is_unit ? Zero(var) : var;
    // Not folded: the simplifier does that.
    if (!arith::IsInt(begin, 0)) value = make_.Node(NodeKind::kAdd, value, make_.Cast(var->dtype, begin));
    if (value != loop.loop_var) body = copier_.Copy(body, {{loop.loop_var, value}}, definitions);
    if (is_unit) return body;
    tir::For part = loop;
    part.loop_var = var;
    part.min = make_.Const(0, loop.min->dtype);
    part.extent = extent;
    part.body = body;
    return workspace().New<tir::For>(part);
  }

  const tir::Stmt* PartitionLaunch(const tir::AttrStmt& launch, const tir::IterVar& axis);

  const PartitionConfig config_;
  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  StmtCopier copier_;
  PartitionCandidates candidates_;
  arith::Analyzer plain_;   // knows nothing
  arith::Analyzer ranges_;  // knows the ranges of the loops around
  arith::Analyzer sizes_;   // knows also that the sizes of buffers are not negative
  // The variables of the loops and threads around: those that a bound may depend on, and those that it may not.
  arith::VarDomains hints_;
  arith::VarDomains relax_;
  int64_t nodes_added_ = 0;
};

// Puts a condition into the innermost launches of threads, with the decided code in its first branch.
class LaunchSplitter : public tir::StmtExprMutator {
 public:
  LaunchSplitter(const Middle& middle, const PrimExpr* condition, StmtCopier& copier, Workspace& workspace)
      : StmtExprMutator(workspace), middle_(middle), condition_(condition), copier_(copier) {}

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kThreadExtent) return StmtExprMutator::VisitAttrStmt(stmt);
    const int launches = std::exchange(num_launches_, 0);
    const tir::Stmt* visited = StmtExprMutator::VisitAttrStmt(stmt);
    const bool is_innermost = num_launches_ == 0;
    num_launches_ += launches + 1;
    if (!is_innermost) return visited;
    const tir::Stmt* decided = ConditionReplacer(middle_.conditions, middle_.holds, workspace()).VisitStmt(stmt->body);
    tir::AttrStmt copy = *stmt;
    copy.body =
        workspace().New<tir::IfThenElse>(condition_, decided, copier_.Copy(stmt->body, {}, OwnDefinitions::kRenew));
    return workspace().New<tir::AttrStmt>(copy);
  }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 private:
  const Middle& middle_;
  const PrimExpr* condition_;
  StmtCopier& copier_;
  int num_launches_ = 0;
};

const tir::Stmt* LoopPartitioner::PartitionLaunch(const tir::AttrStmt& launch, const tir::IterVar& axis) {
  const PrimExpr* zero = Zero(axis.var);
  const Space space{.var = axis.var, .min = zero, .max = Last(zero, launch.value), .body = launch.body};
  const std::vector<DecidedCondition> decided = FindConditions(space);
  if (decided.empty()) return nullptr;
  Middle middle = FindMiddle(decided, space, true);
  if (middle.interval.is_nothing()) middle = FindMiddle(decided, space, false);
  if (middle.interval.is_nothing()) return NeverHolds(decided, space) ? &launch : nullptr;
  if (!ChargeBudget(launch, space, {space.min})) return nullptr;
  const Bounds bounds = FindBounds(middle.interval, space);
  const PrimExpr* condition = True(workspace());
  const auto require = [&](NodeKind kind, const PrimExpr* bound, const PrimExpr* whole) {
    if (ranges_.CanProveEqual(bound, whole)) return;
    const PrimExpr* in_part = Compare(kind, axis.var, bound);
    condition = arith::IsInt(condition, 1) ? in_part : make_.Binary(NodeKind::kAnd, condition, in_part);
  };
  require(NodeKind::kGE, bounds.begin, space.min);
  require(NodeKind::kLT, bounds.end, PlusOne(space.max));
  return LaunchSplitter(middle, condition, copier_, workspace()).VisitStmt(&launch);
}

Result<const PrimFunc*> PartitionLoops(const PrimFunc* func, FunctionPassContext& context, int64_t max_growth) {
  const config::tir::LoopPartition given(context.context());
  const PartitionConfig config{.constant_loops = given.partition_const_loop,
                               .keep_unit_loops = given.no_unroll_loop_with_extent_one,
                               .unroll_undecided = given.unroll_loop_with_partition_hint_no_interval,
                               .max_growth = max_growth};
  const tir::Stmt* body = LoopPartitioner(*func, config, context).Partition(func->body);
  return WithBody(func, MarkRemover(context.workspace()).VisitStmt(body), context.workspace());
}

}  // namespace

Pass CreateLoopPartition(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), [max_growth = *pass_options::LoopPartition(options).max_growth](
                                                const PrimFunc* func, FunctionPassContext& context) {
    return PartitionLoops(func, context, max_growth);
  });
}

}  // namespace iropt
