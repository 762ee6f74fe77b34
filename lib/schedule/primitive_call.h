// A call of a primitive, for the functions that apply primitives: checked arguments, and a place for results.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "iropt/schedule/args.h"
#include "iropt/schedule/schedule.h"

namespace iropt::schedule {

class PrimitiveCall {
 public:
  PrimitiveCall(Schedule& schedule, const Instruction& instruction) : schedule_(schedule), instruction_(instruction) {}

  // Gives the arguments their types. A refusal names the first one that is of another kind.
  template <class... T>
  Status Read(std::tuple<T&...> fields) {
    Status status;
    size_t i = 0;
    std::apply([&](T&... field) { static_cast<void>(((status = ReadAt(i++, field)).ok() && ...)); }, fields);
    return status;
  }

  Schedule& schedule() { return schedule_; }
  // The function that the blocks and loops are in.
  State& state() { return *state_; }
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
  // What the name of a block or loop may stand for.
  struct Wanted;

  template <class T>
  Status ReadAt(size_t index, T& field) {
    return ReadArg(instruction_.primitive->params[index], instruction_.args[index], field);
  }
  Status ReadArg(const Param& param, const Value& value, Ref*& ref);
  Status ReadArg(const Param& param, const Value& value, std::vector<Ref*>& refs);
  Status ReadArg(const Param& param, const Value& value, Variable& loop_or_mark);
  Status ReadArg(const Param& param, const Value& value, Factors& factors);
  Status ReadArg(const Param& param, const Value& value, int64_t& number);
  Status ReadArg(const Param& param, const Value& value, bool& flag);
  Status ReadArg(const Param& param, const Value& value, Side& side);
  Status ReadArg(const Param& param, const Value& value, std::string& text);
  Status ReadArg(const Param& param, const Value& value, std::vector<int64_t>& numbers);
  Status ReadArg(const Param& param, const Value& value, std::vector<double>& numbers);
  // With values for the variables that are not parameters: results of sampling, or variables of the function.
  Status ReadArg(const Param& param, const Value& value, const IndexMapAttr*& map);
  static Status ReadArg(const Param& param, const Value& value, Value& any);
  Failure RefuseKind(const Param& param, std::string_view wanted);
  Result<const Variable*> FindRef(const Param& param, const Value& value, const Wanted& wanted);
  // The value of a variable of an index map; null if it is not known.
  const PrimExpr* ValueOf(const tir::Var& var) const;

  Schedule& schedule_;
  const Instruction& instruction_;
  State* state_ = nullptr;
  std::vector<Variable> results_;
  std::optional<Value> decided_;
};

#define IROPT_PRIMITIVE(Name, ...) Status Apply##Name(PrimitiveCall& call, const args::Name<Resolved>& args);
#include "iropt/schedule/primitives.def"

}  // namespace iropt::schedule
