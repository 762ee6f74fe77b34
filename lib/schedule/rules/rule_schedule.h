// The schedule that a rule makes of one function.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/schedule.h"
#include "iropt/schedule/typed_calls.h"

namespace iropt::schedule {

// Has a method for each primitive. After one has failed, the others do nothing, and ok() is false: a rule asks once
// before it looks at the function again.
class RuleSchedule final : public TypedCalls {
 public:
  RuleSchedule(Schedule& schedule, std::string_view function, int64_t few);

  bool ok() const { return ok_; }
  // Gives up: what a rule expects of every function that it applies to does not hold. Returns false.
  bool Fail();
  // Ends a search that has failed without consequences.
  void Forgive() { ok_ = true; }
  // Ends a search and returns whether it has succeeded.
  bool Succeeded() { return std::exchange(ok_, true); }
  // Applies a primitive that may fail without consequences, and returns whether it has succeeded.
  template <class Args>
  bool Try(const Args& args) {
    if (!ok_) return false;
    Run(args);
    return Succeeded();
  }
  // Begins again with the function as it was.
  void Restart();
  // The function as it was.
  const PrimFunc& original() const;
  // The number of vectors that count as few.
  int64_t few() const { return few_; }
  // Why a primitive or the rule has failed.
  const Refusal& refusal() const { return refusal_; }

  // In the function.
  Name GetBlock(std::string_view name) { return TypedCalls::GetBlock({.name = name, .func_name = function_}); }
  using TypedCalls::GetLoops;
  // Fails if there are fewer loops than `count`; there are then as many empty names.
  Names GetLoops(const Name& block, size_t count);
  // As many names as there are factors, also if it fails.
  Names Split(const args::Split<Named>& args);
  // All loops from the one of this index on.
  Name FuseFrom(const Names& loops, size_t first);

  // Only while ok() holds, and for names of blocks and loops that still exist.
  const tir::Block& Block(const Name& block) const;
  const tir::For& Loop(const Name& loop) const;
  Ref* RefOf(const Name& name) const;
  // Returns whether the block or loop has not been removed.
  bool Exists(const Name& name) const;
  State& state() { return *schedule_.StateOf(function_); }

 protected:
  Names Call(size_t index, std::vector<Value> args) override;

 private:
  Schedule& schedule_;
  const std::string function_;
  const int64_t few_;
  bool ok_ = true;
  Refusal refusal_;
};

}  // namespace iropt::schedule
