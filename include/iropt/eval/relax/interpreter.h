// The interpreter of Relax functions. Operators are run by kernels, PrimFuncs by an executor, packed functions by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/loop_facts.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/ir/module.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/value.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The interface for running PrimFuncs.
class PrimFuncExecutor {
 public:
  virtual ~PrimFuncExecutor() = default;
  // Returns whether the executor requires storage that tracks initialized bytes.
  virtual Storage::Tracking tracking() const = 0;
  // Calls the PrimFunc `var` of the module, as CallPrimFunc does.
  virtual Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                                 const PackedCaller& packed) = 0;
  // The time that compiling PrimFuncs took so far.
  virtual double compile_seconds() const { return 0; }
  // The first race of a PrimFunc that was interpreted.
  virtual const ObservedRace& race() const {
    static const ObservedRace none;
    return none;
  }
};

// Runs PrimFuncs by the TIR interpreter, which checks every access.
class InterpretingExecutor : public PrimFuncExecutor {
 public:
  // The module must outlive it.
  explicit InterpretingExecutor(const Module& module, EvalLimits limits = {}, RaceWatch watch = RaceWatch::kUsual)
      : module_(module), limits_(limits), watch_(watch) {}
  Storage::Tracking tracking() const override { return Storage::Tracking::kOn; }
  Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                         const PackedCaller& packed) override;
  const ObservedRace& race() const override { return race_; }

 private:
  const Module& module_;
  EvalLimits limits_;
  RaceWatch watch_;
  ObservedRace race_ = {};
};

// The kinds of callees other than Relax functions.
enum class CalleeKind : uint8_t { kOperator, kPrimFunc, kPacked };

// Receives events of a run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // A variable of the function was bound to a value.
  virtual void OnBinding(const Function& function, const Var& var, const HostValue& value) = 0;
  // A call returned.
  virtual void OnCall(CalleeKind kind, std::string_view callee, double seconds) = 0;
  // A conditional was evaluated.
  virtual void OnBranch(const If&, bool /*value*/) {}
  // An operator has drawn random numbers.
  virtual void OnRandom() {}
  // A function writes to a tensor that is read-only, an input or a constant: what reads it later sees a copy.
  virtual void OnOverwrite(const NDArray& /*tensor*/) {}
};

// Computes the calls of operators in a run, for example in another number format.
class OperatorRunner {
 public:
  // Computes the call as the interpreter does, with these attributes and operands.
  using Compute = FunctionRef<Result<HostValue>(const Attr* attrs, std::span<const HostValue> args)>;
  virtual ~OperatorRunner() = default;
  virtual Result<HostValue> Run(const Call& call, const OpInfo& op, std::span<const HostValue> args,
                                Compute compute) = 0;
};

struct RunOptions {
  EvalLimits limits = {};                  // of one operator, one PrimFunc, one allocation
  size_t max_depth = 10'000;               // of calls of Relax functions
  uint64_t seed = 0;                       // of random operators
  const PackedRegistry* packed = nullptr;  // null: BuiltinPackedFuncs()
  PrimFuncExecutor* prim_funcs = nullptr;  // null: they are interpreted
  RunObserver* observer = nullptr;         // may be null
  OperatorRunner* operators = nullptr;     // null: the interpreter computes them
  NetworkMode mode = NetworkMode::Auto;    // of R.nn.batch_norm and R.nn.dropout
  // Races are errors, and not warnings; with kSampled, results have no meaning.
  std::optional<RaceWatch> check_races = {};
  // Parameters of the function that count as constants for NetworkMode::Auto.
  std::vector<const Var*> constant_params = {};
  // Receives the lines that the program prints; null: they are dropped.
  std::function<void(std::string_view)> print = nullptr;
};

// The built-in packed functions: those of the runtime (lib/runtime/packed/builtins.def), and those that kernels
// implement, such as sorting and sampling.
const PackedRegistry& BuiltinPackedFuncs();

// Runs `function`, which may be outside of the module, with one argument per parameter. Arguments are checked against
// the types of the parameters, which binds the symbolic variables; match_casts and the results of packed functions are
// checked, too. Values are released after their last use. Arguments are not modified.
//
// Errors are located in the program, with the call stack as notes. A result with uninitialized elements is a warning.
Result<HostValue> RunFunction(const Module& module, const Function& function, std::vector<HostValue> args,
                              DiagnosticEngine& diagnostics, const RunOptions& options = {});

// Evaluates a call_tir of `func` on the values of its operands. Fails if a dimension of the result types of the call
// has no value.
Result<HostValue> EvalCallTir(const Call& call, const PrimFunc& func, std::span<const HostValue> args,
                              std::span<const int64_t> tir_vars, const EvalLimits& limits, const Module* module);

}  // namespace iropt
