// Running Relax functions on values: operators by their kernels, PrimFuncs by an executor, packed functions by name.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/ir/module.h"
#include "iropt/runtime/packed_func.h"
#include "iropt/runtime/value.h"

namespace iropt {

// How PrimFuncs are run.
class PrimFuncExecutor {
 public:
  virtual ~PrimFuncExecutor() = default;
  // Whether storage has to track what was written.
  virtual Storage::Tracking tracking() const = 0;
  // Calls the PrimFunc `var` of the module, as CallPrimFunc does.
  virtual Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                                 const PackedCaller& packed) = 0;
};

// Runs them by the interpreter of the loop level, which checks every access.
class InterpretingExecutor : public PrimFuncExecutor {
 public:
  // The module must outlive it.
  explicit InterpretingExecutor(const Module& module, EvalLimits limits = {}) : module_(module), limits_(limits) {}
  Storage::Tracking tracking() const override { return Storage::Tracking::kOn; }
  Result<HostValue> Call(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args,
                         const PackedCaller& packed) override;

 private:
  const Module& module_;
  EvalLimits limits_;
};

// What is called and is not a Relax function.
enum class CalleeKind : uint8_t { kOperator, kPrimFunc, kPacked };

// Is told what happens while a program runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // A variable of the function got its value.
  virtual void OnBinding(const Function& function, const Var& var, const HostValue& value) = 0;
  // A call has ended.
  virtual void OnCall(CalleeKind kind, std::string_view callee, double seconds) = 0;
};

struct RunOptions {
  EvalLimits limits = {};                                 // of one operator, one PrimFunc, one allocation
  size_t max_depth = 10'000;                              // of calls of Relax functions
  uint64_t seed = 0;                                      // of random operators
  const PackedRegistry* packed = nullptr;                 // null: BuiltinPackedFuncs()
  PrimFuncExecutor* prim_funcs = nullptr;                 // null: they are interpreted
  std::function<void(std::string_view)> print = nullptr;  // takes the lines that the program prints; null: nobody does
  RunObserver* observer = nullptr;                        // null: nobody is told
};

// Packed functions of the runtime (lib/runtime/packed/builtins.def), and those that kernels compute: sorting, sampling,
// what operators of the table are lowered to.
const PackedRegistry& BuiltinPackedFuncs();

// Runs `function` of the module, or one that stands for itself, with an argument for each parameter. Arguments are
// checked against the types of the parameters, which gives symbolic variables their values; so are match_casts and the
// results of packed functions. Values are dropped after their last use, and none that was given is changed.
//
// What goes wrong is reported where it happens in the program, with the calls that led there as notes. A result with
// elements that nothing wrote is a warning.
Result<HostValue> RunFunction(const Module& module, const Function& function, std::vector<HostValue> args,
                              DiagnosticEngine& diagnostics, const RunOptions& options = {});

// The value of a call_tir of `func`, given the values of its operands, for the types that the call gives its results.
// Fails where a dimension of these types has no value.
Result<HostValue> EvalCallTir(const Call& call, const PrimFunc& func, std::span<const HostValue> args,
                              std::span<const int64_t> tir_vars, const EvalLimits& limits, const Module* module);

}  // namespace iropt
