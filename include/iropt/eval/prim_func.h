// Interpretation of loop-level functions on host tensors.
#pragma once

#include <span>
#include <vector>

#include "iropt/eval/evaluator.h"
#include "iropt/ir/tir.h"

namespace iropt {

// A tensor that a function fills in.
struct TensorSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};

// Calls `func` as call_tir does: its parameters are the inputs (tensors and scalars), the outputs, and the integers of
// `tir_vars`. Symbolic dimensions of the parameters' buffers are taken from the tensors.
//
// Loops run in order whatever their kind, threads one after the other, so a function whose threads synchronize is
// refused, as is everything that has effects beyond its buffers. Every access is checked against the bounds of its
// buffer, and nothing is read that was not written before: outputs and allocations start without values, and an output
// must have one everywhere in the end. A function that does not end runs into the limit of work.
Result<std::vector<Tensor>> EvalPrimFunc(const PrimFunc& func, std::span<const HostValue> inputs,
                                         std::span<const TensorSpec> outputs, std::span<const int64_t> tir_vars = {},
                                         const EvalLimits& limits = {});

}  // namespace iropt
