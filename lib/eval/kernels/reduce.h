// Reductions as parts of other kernels.
#pragma once

#include "kernel.h"

namespace iropt::eval {

enum class ReduceOp : uint8_t { kSum, kProd, kMax, kMin };

// Over the given axes, which are normalized; elements are combined in row-major order, and each step is rounded to the
// dtype.
Result<Tensor> Reduce(KernelCall& call, ReduceOp op, const Tensor& x, std::span<const int64_t> axes, bool keepdims);
// The sum divided by the number of elements.
Result<Tensor> Mean(KernelCall& call, const Tensor& x, std::span<const int64_t> axes, bool keepdims);

}  // namespace iropt::eval
