#include "parallel_branches.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "iropt/analysis/relax/lift_plan.h"
#include "iropt/op/op.h"

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
    for (const CombinedBranches& group : groups) {
      for (const auto& [at, part] : group.replaced) group_of_[at] = &group;
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
    const size_t before = groups.size();
    std::erase_if(groups, [&](const CombinedBranches& group) {
      return std::ranges::any_of(group.replaced, [&](const auto& part) { return !emitted_[part.first]; });
    });
    if (groups.size() == before) groups.clear();
    return false;
  }

  std::vector<uint32_t> TakeOrder() { return std::move(order_); }

 private:
  bool DropAll(std::vector<CombinedBranches>& groups) {
    groups.clear();
    ready_ = {};
    return false;
  }

  void AddDependencies(uint32_t at) {
    const auto add = [&](const Var* var) {
      const auto found = position_.find(var);
      if (found == position_.end() || emitted_[found->second]) return;
      ++missing_[at];
      waiters_[found->second].push_back(at);
    };
    if (const CombinedBranches* group = group_of_[at]) {
      for (const Expr* operand : group->operands) {
        if (const auto* var = As<Var>(operand)) add(var);
      }
    } else {
      ForEachVarIn(ValueOf(segment_[at]), add);
    }
  }

  void Emit(uint32_t at) {
    emitted_[at] = true;
    order_.push_back(at);
    for (const uint32_t waiter : waiters_[at]) {
      if (--missing_[waiter] == 0) ready_.push(waiter);
    }
  }

  std::span<const Binding* const> segment_;
  std::unordered_map<const Var*, uint32_t> position_;  // looked up, never iterated
  std::vector<const CombinedBranches*> group_of_;
  std::vector<uint32_t> order_;
  std::vector<bool> emitted_;
  std::vector<uint32_t> missing_;
  std::vector<std::vector<uint32_t>> waiters_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
};

}  // namespace

std::vector<uint32_t> OrderCombined(std::span<const Binding* const> segment, std::vector<CombinedBranches>& groups) {
  // Groups in the way of each other are rare.
  constexpr int kMaxAttempts = 4;
  Scheduler scheduler(segment);
  for (int attempt = 0; attempt < kMaxAttempts && !groups.empty(); ++attempt) {
    if (scheduler.Run(groups)) return scheduler.TakeOrder();
  }
  groups.clear();
  return {};
}

void ForEachSegment(const BindingBlock& block, const Module& module,
                    FunctionRef<void(std::span<const Binding* const>)> visit,
                    FunctionRef<void(const Binding*)> visit_fixed) {
  const std::span<const Binding* const> bindings = block.bindings.span();
  size_t begin = 0;
  for (size_t i = 0; i < bindings.size() && !block.is_dataflow(); ++i) {
    const Expr* value = ValueOf(bindings[i]);
    if (!Is<If>(value) && !IsImpureCall(value, &module)) continue;
    visit(bindings.subspan(begin, i - begin));
    visit_fixed(bindings[i]);
    begin = i + 1;
  }
  visit(bindings.subspan(begin));
}

}  // namespace iropt
