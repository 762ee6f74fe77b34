// Interpretation of PrimFuncs on host tensors.
#pragma once

#include <span>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"

namespace iropt {

// A tensor that a function fills in.
struct TensorSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};

// Calls `func` as call_tir does: its parameters are the inputs (tensors and scalars), the outputs, and the integers of
// `tir_vars`. Symbolic dimensions of the parameters' buffers are taken from the tensors.
//
// Supports all code that a host can run: all statements and expressions, pointers and views of the same memory,
// vectors, calls of other functions of `module`, and threads. Loops run in order whatever their kind, and threads in
// sequence; threads that synchronize run in lockstep. Calls of the runtime, of code outside of the module, and of units
// of an accelerator are refused.
//
// Every access is checked against the bounds of its buffer and its memory, and reads of unwritten elements are errors:
// outputs and allocations start without values, and in the end all elements of an output must have one. An endless
// function exceeds the limit of work.
Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars = {},
                                         const EvalLimits& limits = {}, const Module* module = nullptr);

// Returns whether calls of a TIR operator are evaluated. O(1).
bool IsEvaluated(const OpInfo& intrinsic);

}  // namespace iropt
