// A schedule of the PrimFuncs of a module: applies primitives, and keeps the results that later ones refer to.
//
//   schedule::Schedule sch(module);
//   for (const schedule::Instruction& i : trace.instructions) IROPT_RETURN_IF_ERROR(sch.Apply(i));
//   Module scheduled = sch.Finish();
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/schedule/arg_forms.h"
#include "iropt/schedule/state.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/lookup.h"

namespace iropt::schedule {

// Results of the sampling of a place that are not loops: the block stays where it is, or is inlined.
inline constexpr int64_t kComputeAtRoot = -1;
inline constexpr int64_t kComputeInline = -2;

// Value of a name in a trace: a block or loop, or a number.
struct Variable {
  State* state = nullptr;
  Ref* ref = nullptr;
  int64_t value = 0;  // if ref is null
};

// A tensor intrinsic: what it computes, and how.
struct TensorIntrinsic {
  const PrimFunc* description = nullptr;
  const PrimFunc* implementation = nullptr;
};

// Finds tensor intrinsics by name.
class IntrinsicTable {
 public:
  virtual ~IntrinsicTable() = default;
  // For a module of a version of TVM. Nothing if the name is not known; the functions live as long as the table.
  virtual std::optional<TensorIntrinsic> Find(std::string_view name, TextVersion version) = 0;
};

class Schedule {
 public:
  // The intrinsics may be null, and must outlive the schedule otherwise. `func_name`, unless empty, is the function
  // that blocks are looked for in, whatever the trace says.
  explicit Schedule(Module module, IntrinsicTable* intrinsics = nullptr, std::string func_name = {});
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // Applies the instruction and appends it to the trace. A failure leaves the module as it was.
  Status Apply(const Instruction& instruction);
  // Applies an instruction with new names for all results, which it returns: b0, l1, v2, ...
  Result<Names> Apply(const Primitive& primitive, std::vector<Value> args,
                      std::optional<Value> decision = std::nullopt);
  // Applies args::Split<Named>{...} and its like.
  template <class Args>
  requires requires { Args::kIndex; }
  Result<Names> Apply(const Args& args) { return Apply(Primitives()[Args::kIndex], ToValues(args)); }
  // Applies all instructions of a trace, whose names are not those of this schedule, and appends them to its own.
  Status Replay(const Trace& trace);
  const Trace& trace() const { return trace_; }
  // Why the last instruction failed.
  const Refusal& refusal() const { return refusal_; }

  // The state of a function; null if there is none that can be scheduled.
  State* StateOf(std::string_view function);
  // Null if the name is not known.
  const Variable* Find(std::string_view name) const;
  std::optional<TensorIntrinsic> FindIntrinsic(std::string_view name) const;
  const std::string& func_name() const { return func_name_; }
  // A number from 0 to below `count`, the same in every run with the same seed.
  size_t NextRandom(size_t count);
  void SetSeed(uint64_t seed) { random_ = seed; }
  uint64_t seed() const { return random_; }
  // States that the parts of rfactor are initialized by blocks of their own later on, as rules do it. Those that have
  // no element need no condition then.
  void set_initializes_parts() { initializes_parts_ = true; }
  bool initializes_parts() const { return initializes_parts_; }
  // The function of a state, in the module that the schedule began with.
  const ModuleEntry& EntryOf(const State& state) const;

  // The module that the schedule began with.
  const Module& original() const { return module_; }
  // Null if it has no PrimFunc of the name.
  const PrimFunc* OriginalOf(std::string_view function) const;

  // Forgets all instructions: the module is again what the schedule began with. References and names end.
  void Restart();
  // A copy of the module as it is now, which does not change with the schedule.
  Module Snapshot() const;
  // The module as it is now. The schedule must not be used afterwards.
  Module Finish();

 private:
  friend class PrimitiveCall;
  struct Outcome {
    std::vector<Variable> results;
    std::optional<Value> decision;  // of sampling
  };
  Result<Outcome> RunCall(const Instruction& instruction);
  void Note(Instruction instruction, const Outcome& outcome);
  std::vector<std::string> NewNames(const std::vector<Variable>& results);

  Module module_;
  IntrinsicTable* intrinsics_;
  std::string func_name_;
  struct Function {
    size_t index;  // in the module
    std::unique_ptr<State> state;
  };
  std::vector<Function> functions_;
  LookupMap<std::string, Variable> variables_;
  Trace trace_;
  size_t num_names_ = 0;
  uint64_t random_ = 1;
  bool initializes_parts_ = false;
  Refusal refusal_;
};

}  // namespace iropt::schedule
