#include "rule_schedule.h"

#include <algorithm>
#include <utility>

#include "iropt/support/check.h"

namespace iropt::schedule {

RuleSchedule::RuleSchedule(Schedule& schedule, std::string_view function, int64_t few)
    : schedule_(schedule), function_(function), few_(few), ok_(schedule.StateOf(function) != nullptr) {
  schedule.set_initializes_parts();
}

Names RuleSchedule::Call(size_t index, std::vector<Value> args) {
  if (!ok_) return {};
  auto results = schedule_.Apply(Primitives()[index], std::move(args));
  if (results) return *std::move(results);
  ok_ = false;
  refusal_ = schedule_.refusal();
  return {};
}

void RuleSchedule::Restart() {
  schedule_.Restart();
  ok_ = true;
}

const PrimFunc& RuleSchedule::original() const { return *schedule_.OriginalOf(function_); }

bool RuleSchedule::Fail() {
  if (ok_) refusal_ = {"the function does not have the form that the rule expects", {}};
  return ok_ = false;
}

Names RuleSchedule::GetLoops(const Name& block, size_t count) {
  Names loops = GetLoops({block});
  if (loops.size() < count) Fail();
  loops.resize(std::max(loops.size(), count));
  return loops;
}

Names RuleSchedule::Split(const args::Split<Named>& args) {
  Names loops = TypedCalls::Split(args);
  loops.resize(args.factors.size());
  return loops;
}

Name RuleSchedule::FuseFrom(const Names& loops, size_t first) {
  return Fuse({{loops.begin() + static_cast<std::ptrdiff_t>(std::min(first, loops.size())), loops.end()}});
}

Ref* RuleSchedule::RefOf(const Name& name) const {
  const Variable* variable = schedule_.Find(name);
  IROPT_CHECK(ok_ && variable && variable->ref && variable->ref->stmt, "a rule looks at what does not exist");
  return variable->ref;
}
bool RuleSchedule::Exists(const Name& name) const {
  const Variable* variable = schedule_.Find(name);
  return variable && variable->ref && variable->ref->stmt;
}
const tir::Block& RuleSchedule::Block(const Name& block) const { return RefOf(block)->block(); }
const tir::For& RuleSchedule::Loop(const Name& loop) const { return RefOf(loop)->loop(); }

}  // namespace iropt::schedule
