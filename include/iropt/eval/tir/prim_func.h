// Interpretation of PrimFuncs on host tensors.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt {

// Calls packed functions for a PrimFunc (T.call_packed).
using PackedCaller = std::function<Result<HostValue>(std::string_view name, std::span<const HostValue> args)>;

// What a call of a PrimFunc may take and use.
struct PrimFuncOptions {
  EvalLimits limits = {};
  const Module* module = nullptr;  // whose functions it may call; null: none
  PackedCaller packed = nullptr;   // null: packed functions are refused
};

// An argument of a PrimFunc: a tensor for a parameter that is matched to a buffer, else a scalar.
struct PrimFuncArg {
  HostValue value;
  bool writable = false;  // of a tensor that is a view of storage: the function may write to it
};

// Calls `func` with an argument for each parameter. Symbolic dimensions of the parameters' buffers are taken from the
// tensors. Gives what T.ret returns, or 0.
//
// Supports all code that a host can run: all statements and expressions, pointers and views of the same memory,
// vectors, calls of other functions of the module, and threads. Loops run in order whatever their kind, and threads in
// sequence; threads that synchronize run in lockstep. Calls of code outside of the module, and of units of an
// accelerator, are refused.
//
// Every access is checked against the bounds of its buffer and its memory, and reads of unwritten elements are errors,
// as far as storage tracks them; allocations start without values. An endless function exceeds the limit of work.
Result<HostValue> CallPrimFunc(const PrimFunc& func, std::span<const PrimFuncArg> args,
                               const PrimFuncOptions& options = {});

// A tensor that a function fills in.
struct TensorSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};

// Memory for such a tensor; an error where it is over the limit, or where tensors cannot be of the dtype.
Result<Tensor> AllocateTensor(const TensorSpec& spec, Storage::Tracking tracking, const EvalLimits& limits);

// Calls `func` as call_tir does: its parameters are the inputs (tensors and scalars), the outputs, and the integers of
// `tir_vars`. In the end all elements of an output must have a value.
Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars = {},
                                         const EvalLimits& limits = {}, const Module* module = nullptr);

// Returns whether calls of a TIR operator are evaluated. O(1).
bool IsEvaluated(const OpInfo& intrinsic);

}  // namespace iropt
