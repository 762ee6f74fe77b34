// Moving elements as a part of other kernels.
#pragma once

#include "kernel.h"

namespace iropt::eval {

// Dimension i of the result is dimension axes[i] of `x`.
Result<Tensor> Permute(KernelCall& call, const Tensor& x, std::span<const int64_t> axes);

// A tensor in a data layout ("NHWC", "NCHW4c") with its axes in another order ("NCHW"), and split axes joined again. An
// error if the layout does not have these axes or does not fit the tensor.
Result<Tensor> FromLayout(KernelCall& call, const Tensor& x, std::string_view layout, std::string_view order);
// The reverse; axes must divide evenly into their parts.
Result<Tensor> ToLayout(KernelCall& call, const Tensor& x, std::string_view order, std::string_view layout);

// The elements in [begin, end) of dimension `axis`, before which all dimensions must have extent 1: a view, nothing is
// copied.
Tensor SliceView(const Tensor& x, size_t axis, int64_t begin, int64_t end);

// Calls f(index) for every index of a tensor of this shape in row-major order.
template <class F>
void ForEachIndex(std::span<const int64_t> shape, F&& f) {
  for (const int64_t dim : shape) {
    if (dim == 0) return;
  }
  Shape index(shape.size(), 0);
  for (;;) {
    f(std::as_const(index));
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace iropt::eval
