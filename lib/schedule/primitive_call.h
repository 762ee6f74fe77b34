// A call of a primitive, for the functions that apply primitives: checked arguments, and a place for results.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/schedule/schedule.h"

namespace iropt::schedule {

class PrimitiveCall {
 public:
  PrimitiveCall(Schedule& schedule, const Instruction& instruction) : schedule_(schedule), instruction_(instruction) {}

  // Checks the kinds of all arguments. The accessors below need that.
  Status Check();

  Schedule& schedule() { return schedule_; }
  // The function that the blocks and loops are in.
  State& state() { return *state_; }
  // By the name of the parameter; an unknown name is a bug.
  Ref* GetRef(std::string_view param) const;
  // kComputeAtRoot or kComputeInline, if that is what sampling gave in place of a loop.
  std::optional<int64_t> GetMark(std::string_view param) const;
  std::vector<Ref*> GetRefs(std::string_view param) const;
  int64_t GetInt(std::string_view param) const;
  bool GetBool(std::string_view param) const { return GetInt(param) != 0; }
  const std::string& GetString(std::string_view param) const;
  std::vector<int64_t> GetInts(std::string_view param) const;
  // With values for the variables that are no parameters: results of sampling, or variables of the function. Null for
  // None.
  const IndexMapAttr* GetIndexMap(std::string_view param) const;
  const Value& Get(std::string_view param) const;
  const std::optional<Value>& decision() const { return instruction_.decision; }
  // Sets the choice of sampling, for the trace.
  void Decide(Value decision) { decided_ = std::move(decision); }
  const std::optional<Value>& decided() const { return decided_; }
  // A number or the result of sampling.
  std::optional<int64_t> NumberOf(const Value& value) const;

  void Return(State& state, Ref* ref) { results_.push_back({&state, ref, 0}); }
  void Return(Ref* ref) { Return(*state_, ref); }
  void Return(const std::vector<Ref*>& refs) {
    for (Ref* ref : refs) Return(ref);
  }
  void Return(int64_t value) { results_.push_back({nullptr, nullptr, value}); }
  const std::vector<Variable>& results() const { return results_; }

  Failure Refuse(std::string message, std::vector<const Node*> parts = {});

 private:
  Status CheckArg(const Param& param, const Value& value);
  // The value of a variable of an index map; null if it is not known.
  const PrimExpr* ValueOf(const tir::Var& var) const;
  Status CheckIndexMap(const Param& param, const Value& value);
  enum class Wanted : uint8_t { kBlock, kLoop, kLoopOrMark, kBlockOrLoop };
  Status CheckRef(const Param& param, const Value& value, Wanted wanted);

  Schedule& schedule_;
  const Instruction& instruction_;
  State* state_ = nullptr;
  std::vector<Variable> results_;
  std::optional<Value> decided_;
};

#define IROPT_PRIMITIVE(Name, ...) Status Apply##Name(PrimitiveCall& call);
#include "iropt/schedule/primitives.def"

}  // namespace iropt::schedule
