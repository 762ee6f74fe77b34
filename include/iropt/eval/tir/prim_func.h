// Interpretation of loop-level functions on host tensors.
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
// Everything that a host can run is run: all statements and expressions, pointers and views of the same memory,
// vectors, calls of other functions of `module`, and threads. Loops run in order whatever their kind, and threads one
// after the other; where threads wait for each other, they do each statement together. What calls into the runtime,
// into code outside of the module, or the units of an accelerator is refused.
//
// Every access is checked against the bounds of its buffer and its memory, and nothing is read that was not written
// before: outputs and allocations start without values, and an output must have one everywhere in the end. A function
// that does not end runs into the limit of work.
Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars = {},
                                         const EvalLimits& limits = {}, const Module* module = nullptr);

// Whether calls of an operator of the loop level are evaluated. O(1).
bool IsEvaluated(const OpInfo& intrinsic);

}  // namespace iropt
