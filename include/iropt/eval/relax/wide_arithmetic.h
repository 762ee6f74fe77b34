// Operators of ONNX as its runtimes compute them, where TVM's loops do something else: narrow floats in float32, and
// conversions of any float to an integer.
#pragma once

#include <span>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/module.h"

namespace iropt {

// Computes a call with operands of float16 or bfloat16 as runtimes do: in float32, and with its results rounded once.
// Floats become integers modulo 2^bits, and infinities and NaN 0, as in onnxruntime and TVM's reader of ONNX, where the
// kernels refuse them. Other calls are computed as they are. The kernels of EvalOp round every step instead, as the
// loops do that TVM makes of operators: there the sum of 4096 ones is 2048 in float16.
Result<HostValue> ComputeWide(const Call& call, const OpInfo& op, std::span<const HostValue> args,
                              OperatorRunner::Compute compute);

// Returns whether a run of the module computes so: it was read from ONNX. Modules of TVMScript round as TVM's loops do.
bool RoundsOnce(const Module& module);

// Does so for all operators of a run.
class WideArithmetic final : public OperatorRunner {
 public:
  Result<HostValue> Run(const Call& call, const OpInfo& op, std::span<const HostValue> args, Compute compute) override {
    return ComputeWide(call, op, args, compute);
  }
};

}  // namespace iropt
