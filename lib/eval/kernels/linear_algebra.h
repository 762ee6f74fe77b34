// Matrix products and softmax as parts of other kernels.
#pragma once

#include "kernel.h"

namespace iropt::eval {

// The product of batches of matrices, which broadcast; the operands are cast to `dtype` first.
Result<Tensor> Matmul(KernelCall& call, Tensor a, Tensor b, DataType dtype);
Result<Tensor> Softmax(KernelCall& call, const Tensor& x, int64_t axis);

}  // namespace iropt::eval
