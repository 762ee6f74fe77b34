// Interpretation of PrimFuncs on host tensors.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/eval/tir/loop_facts.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt {

// A step of the interpretation of a PrimFunc, the unit of its limit of work, takes the time of so many elementary
// operations of a kernel, roughly.
inline constexpr uint64_t kWorkOfStep = 32;

// Calls packed functions for a PrimFunc (T.call_packed).
using PackedCaller = std::function<Result<HostValue>(std::string_view name, std::span<const HostValue> args)>;

// Options of a call of a PrimFunc.
struct PrimFuncOptions {
  EvalLimits limits = {};
  const Module* module = nullptr;  // for calls of other functions; null: such calls fail
  PackedCaller packed = nullptr;   // null: calls of packed functions fail
  LoopFacts* facts = nullptr;      // to add the facts about the run to, see loop_facts.h; null: they are not looked for
};

// An argument of a PrimFunc: a tensor for a parameter that is matched to a buffer, else a scalar.
struct PrimFuncArg {
  HostValue value;
  bool writable = false;  // the function may write to the tensor, which must be a view of storage
};

// The arguments with tensors of vectors for the buffers that have such elements. Tensors have single elements, also
// those that a caller passes for a buffer of vectors, whose last dimension then counts vectors. Tensors that do not fit
// stay. They are in `changed` if there are such tensors; otherwise they are `args`, and nothing is copied.
std::span<const PrimFuncArg> WithVectorElements(const PrimFunc& func, std::span<const PrimFuncArg> args,
                                                std::vector<PrimFuncArg>& changed);

// Calls `func` with an argument for each parameter. Symbolic dimensions of the parameters' buffers are taken from the
// tensors. Returns the value of T.ret, or 0.
//
// Supports all code that a host can run: all statements and expressions, pointers and views of the same memory,
// vectors, calls of other functions of the module, and threads. Loops of all kinds run sequentially; threads of a block
// run in lockstep (thread_plan.h). Local memory belongs to a thread wherever it is allocated (thread_memory.h); this
// needs the number of threads where it is allocated outside of several loops over them. Calls of external code, and GPU
// intrinsics such as tensor core operations, are errors.
//
// Every access is checked against the bounds of its buffer and its memory, and reads of uninitialized elements are
// errors, if the storage tracks them. Allocated memory is uninitialized. An endless loop exceeds the limit of work.
Result<HostValue> CallPrimFunc(const PrimFunc& func, std::span<const PrimFuncArg> args,
                               const PrimFuncOptions& options = {});

// Calls `func` like CallPrimFunc, without facts, and describes the first race in `race` unless that has one.
Result<HostValue> CallWatchingRaces(const PrimFunc& func, std::span<const PrimFuncArg> args, PrimFuncOptions options,
                                    RaceWatch watch, ObservedRace& race);

// Converts the value that CallPrimFunc or compiled code returned, which has 64 bits if compiled, to the value for a
// caller of `func`: a number of the dtype that the function declares; an empty tuple without one.
HostValue ReturnedValue(const PrimFunc& func, const HostValue& value);

// The dtype and shape of an output.
struct TensorSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};

// Allocates a tensor. Fails if it exceeds the limit, or if tensors cannot have the dtype.
Result<Tensor> AllocateTensor(const TensorSpec& spec, Storage::Tracking tracking, const EvalLimits& limits);

// Calls `func` as call_tir does: its parameters are the inputs (tensors and scalars), the outputs, and the integers of
// `tir_vars`. Fails if an element of an output is uninitialized at the end.
Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars = {},
                                         const EvalLimits& limits = {}, const Module* module = nullptr);

// Returns whether calls of a TIR operator are evaluated. O(1).
bool IsEvaluated(const OpInfo& intrinsic);

}  // namespace iropt
