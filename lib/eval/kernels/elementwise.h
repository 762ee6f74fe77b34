// Kernels that compute each element of the result from the elements at the same position of the operands.
#pragma once

#include "eval/tir/scalar_ops.h"
#include "kernel.h"
#include "loop_nest.h"

namespace iropt::eval {

Result<Tensor> MapUnary(KernelCall& call, const UnaryOp& op, const Tensor& x);
Result<Tensor> MapBinary(KernelCall& call, const BinaryOp& op, const Tensor& a, const Tensor& b);
Result<Tensor> MapCompare(KernelCall& call, const CompareOp& op, const Tensor& a, const Tensor& b);

// A loop nest over the elements of `out` (first offset) and of operands that broadcast to it.
template <int N>
LoopNest<N> BroadcastNest(std::span<const int64_t> out_shape, const std::array<const NDArray*, N - 1>& operands) {
  std::array<std::vector<int64_t>, N> strides;
  strides[0] = RowMajorStrides(out_shape);
  for (int k = 1; k < N; ++k) strides[k] = BroadcastStrides(operands[k - 1]->shape(), out_shape);
  LoopNest<N> nest;
  for (size_t d = 0; d < out_shape.size(); ++d) {
    typename LoopNest<N>::Offsets at;
    for (int k = 0; k < N; ++k) at[k] = strides[k][d];
    nest.AddDim(out_shape[d], at);
  }
  return nest;
}

}  // namespace iropt::eval
