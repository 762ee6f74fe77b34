#include "parallel_branches.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "iropt/analysis/relax/lift_plan.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/analysis/relax/use_count.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/relax/origin_scope.h"
#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

namespace {

void ForEachVarIn(const Expr* value, FunctionRef<void(const Var*)> f) {
  const auto leaf = [&](const Expr* operand) {
    if (const auto* var = As<Var>(operand)) f(var);
    return false;
  };
  if (const auto* call = As<Call>(value); call && !(call->type && call->type->has_shape_var())) {
    leaf(call->op);
    for (const Expr* arg : call->args) AnyLeaf(arg, leaf);
    return;
  }
  if (const auto* item = As<TupleGetItem>(value)) {
    leaf(item->tuple);
    return;
  }
  for (const Var* var : OperandsOf(value).vars) f(var);
}

class Scheduler {
 public:
  explicit Scheduler(std::span<const Binding* const> segment) : segment_(segment) {
    for (uint32_t i = 0; i < segment.size(); ++i) position_[segment[i]->var] = i;
  }

  // False if some bindings use each other, or if a match_cast would have to wait.
  bool Run(std::vector<CombinedBranches>& groups) {
    group_of_.assign(segment_.size(), nullptr);
    groups_.clear();
    for (const CombinedBranches& group : groups) groups_.push_back({&group});
    for (Pending& group : groups_) {
      for (const auto& [at, part] : group.branches->replaced) group_of_[at] = &group;
    }
    order_.clear();
    emitted_.assign(segment_.size(), false);
    missing_.assign(segment_.size(), 0);
    waiters_.assign(segment_.size(), {});
    for (uint32_t i = 0; i < segment_.size(); ++i) {
      AddDependencies(i);
      if (missing_[i] == 0) Emit(i);
      while (!ready_.empty()) {
        const uint32_t next = ready_.top();
        ready_.pop();
        if (Is<MatchCast>(segment_[next])) return DropAll(groups);
        Emit(next);
      }
    }
    if (order_.size() == segment_.size()) return true;
    if (!DropStuck(groups)) groups.clear();
    return false;
  }

  std::vector<uint32_t> TakeOrder() { return std::move(order_); }

 private:
  // A group that waits for its operands. They are looked at once for all of its branches, of which there may be many.
  struct Pending {
    const CombinedBranches* branches;
    bool is_looked_at = false;
    uint32_t missing = 0;
    std::vector<uint32_t> waiting = {};  // branches
  };

  bool DropAll(std::vector<CombinedBranches>& groups) {
    groups.clear();
    ready_ = {};
    return false;
  }

  // Takes the fallbacks of the groups that were not emitted, or drops them. Returns whether there were such.
  bool DropStuck(std::vector<CombinedBranches>& groups) const {
    std::vector<CombinedBranches> rest;
    bool found = false;
    for (CombinedBranches& group : groups) {
      const bool stuck = std::ranges::any_of(group.replaced, [&](const auto& part) { return !emitted_[part.first]; });
      found |= stuck;
      if (!stuck) {
        rest.push_back(std::move(group));
      } else if (group.fallback) {
        rest.push_back(*group.fallback);
      }
    }
    groups = std::move(rest);
    return found;
  }

  void AddDependencies(uint32_t at) {
    if (Pending* group = group_of_[at]) {
      LookAt(*group);
      if (group->missing == 0) return;
      missing_[at] = 1;
      group->waiting.push_back(at);
      return;
    }
    ForEachVarIn(ValueOf(segment_[at]), [&](const Var* var) { missing_[at] += WaitFor(var, at) ? 1 : 0; });
  }

  void LookAt(Pending& group) {
    if (std::exchange(group.is_looked_at, true)) return;
    const auto number = static_cast<uint32_t>(segment_.size() + static_cast<size_t>(&group - groups_.data()));
    for (const Expr* operand : group.branches->operands) {
      const auto* var = As<Var>(operand);
      if (var && WaitFor(var, number)) ++group.missing;
    }
  }

  // False if the variable is there.
  bool WaitFor(const Var* var, uint32_t waiter) {
    const uint32_t* found = position_.Find(var);
    if (!found || emitted_[*found]) return false;
    waiters_[*found].push_back(waiter);
    return true;
  }

  void Emit(uint32_t at) {
    emitted_[at] = true;
    order_.push_back(at);
    for (const uint32_t waiter : waiters_[at]) {
      if (waiter < segment_.size()) {
        if (--missing_[waiter] == 0) ready_.push(waiter);
      } else if (Pending& group = groups_[waiter - segment_.size()]; --group.missing == 0) {
        for (const uint32_t branch : group.waiting) ready_.push(branch);
      }
    }
  }

  std::span<const Binding* const> segment_;
  LookupMap<const Var*, uint32_t> position_;
  std::vector<Pending> groups_;
  std::vector<Pending*> group_of_;
  std::vector<uint32_t> order_;
  std::vector<bool> emitted_;
  std::vector<uint32_t> missing_;
  std::vector<std::vector<uint32_t>> waiters_;  // positions, and after them the numbers of groups
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
};

class BranchCombiner : public ExprMutator {
 public:
  BranchCombiner(const FindGroups& find_groups, int64_t min_branches, const Function& function, const Module& module,
                 Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer),
        find_groups_(find_groups),
        min_branches_(min_branches),
        uses_(UseCounts(function, workspace.num_vars())),
        module_(module) {}

 protected:
  const BindingBlock* VisitBlock(const BindingBlock* old) override {
    const BindingBlock* block = ExprMutator::VisitBlock(old);
    if (block->is_dataflow()) {
      builder().BeginDataflowBlock();
    } else {
      builder().BeginBindingBlock();
    }
    const std::span<const Binding* const> bindings = block->bindings.span();
    bool changed = false;
    size_t begin = 0;
    for (size_t i = 0; i < bindings.size() && !block->is_dataflow(); ++i) {
      const Expr* value = ValueOf(bindings[i]);
      if (!Is<If>(value) && !IsImpureCall(value, &module_)) continue;
      changed |= CombineIn(bindings.subspan(begin, i - begin));
      builder().EmitNormalized(bindings[i]);
      begin = i + 1;
    }
    changed |= CombineIn(bindings.subspan(begin));
    if (changed) return builder().EndBlock();
    builder().DropBlock();
    return block;
  }

 private:
  struct Part {
    size_t group = 0;
    uint32_t index = 0;
  };

  // Emits the bindings of the segment; returns whether some of them were combined.
  bool CombineIn(std::span<const Binding* const> segment) {
    std::vector<CombinedBranches> groups = find_groups_({segment, uses_}, min_branches_);
    const std::vector<uint32_t> order = OrderCombined(segment, groups);
    if (groups.empty()) {
      for (const Binding* binding : segment) builder().EmitNormalized(binding);
      return false;
    }
    LookupMap<uint32_t, Part> parts;
    for (size_t i = 0; i < groups.size(); ++i) {
      for (const auto& [at, index] : groups[i].replaced) parts[at] = {i, index};
    }
    std::vector<const Expr*> results(groups.size(), nullptr);
    for (const uint32_t at : order) {
      const Part* part = parts.Find(at);
      if (!part) {
        builder().EmitNormalized(segment[at]);
        continue;
      }
      const Expr*& result = results[part->group];
      if (!result) result = EmitCombined(groups[part->group]);
      const Expr* item = OpBuilder(builder()).MakeItem(result, static_cast<int>(part->index));
      builder().EmitNormalized(rebuilder().Rebuild(*segment[at], segment[at]->var, item));
    }
    return true;
  }

  const Expr* EmitCombined(const CombinedBranches& group) {
    const SourceSpan joint = Join(group.places);
    const OriginScope scope(Span::Of(joint.begin, joint.end));
    return builder().Emit(group.combine(builder()));
  }

  const FindGroups& find_groups_;
  int64_t min_branches_;
  const std::vector<uint32_t> uses_;  // by Var::id
  const Module& module_;
};

}  // namespace

std::vector<uint32_t> OrderCombined(std::span<const Binding* const> segment, std::vector<CombinedBranches>& groups) {
  // Groups in the way of each other are rare.
  constexpr int kMaxAttempts = 4;
  if (groups.empty()) return {};
  Scheduler scheduler(segment);
  for (int attempt = 0; attempt < kMaxAttempts && !groups.empty(); ++attempt) {
    if (scheduler.Run(groups)) return scheduler.TakeOrder();
  }
  groups.clear();
  return {};
}

Result<const Function*> CombineBranches(const Function* function, const FindGroups& find_groups, int64_t min_branches,
                                        FunctionPassContext& context, bool merges) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
  BranchCombiner combiner(find_groups, min_branches, *function, context.module(), context.workspace(), inferrer);
  const auto* combined = To<Function>(combiner.VisitExpr(function));
  if (combiner.failed()) return Failure{ErrorCode::PassFailed};
  return combined == function ? function : CleanUpFunction(combined, context, merges);
}

}  // namespace iropt
