#include "kernel.h"

#include <algorithm>

#include "iropt/infer/axes.h"

namespace iropt::eval {

Error KernelCall::UnsupportedDType(DataType dtype) const {
  return Fail(fmt::format("dtype {} is not supported", dtype.is_void() ? "void" : dtype.ToString()));
}

Result<std::shared_ptr<NDArray>> KernelCall::Allocate(DataType dtype, Shape shape) const {
  if (!IsElementType(dtype)) return UnsupportedDType(dtype);
  return AllocateMoved(dtype, std::move(shape));
}

Result<std::shared_ptr<NDArray>> KernelCall::AllocateMoved(DataType dtype, Shape shape) const {
  if (dtype.is_void() || dtype.is_handle() || !dtype.is_scalar()) return UnsupportedDType(dtype);
  const Result<uint64_t> bytes = TensorBytes(dtype, shape, limits_.max_bytes);
  if (!bytes) return Fail(bytes.error().message, bytes.error().code);
  return NDArray::Make(dtype, shape);
}

Status KernelCall::Charge(uint64_t units) {
  if (units > work_left_) return Fail(fmt::format("takes more than {} steps", available_work_), ErrorCode::Budget);
  work_left_ -= units;
  return {};
}

Result<int64_t> NormalizeAxis(const KernelCall& call, int64_t axis, size_t rank) {
  Result<int64_t> normal = iropt::NormalizeAxis(axis, static_cast<int64_t>(rank));
  return normal ? std::move(normal) : call.Fail(normal.error().message);
}

Result<Shape> NormalizeAxes(const KernelCall& call, std::span<const int64_t> axes, size_t rank) {
  Result<Shape> normal = iropt::NormalizeAxes(axes, static_cast<int64_t>(rank));
  return normal ? std::move(normal) : call.Fail(normal.error().message);
}

Result<Shape> BroadcastShapes(const KernelCall& call, std::span<const int64_t> a, std::span<const int64_t> b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return call.Fail(fmt::format("shapes {} and {} do not broadcast", ShapeText(a), ShapeText(b)));
    }
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

Tensor Reshaped(const Tensor& tensor, Shape shape) {
  return NDArray::View(tensor->dtype(), shape, tensor->data(), tensor);
}

Shape RowMajorStrides(std::span<const int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // For a tensor without elements the strides do not matter, and their product may overflow.
    stride = WrapMul(stride, std::max<int64_t>(shape[i], 1));
  }
  return strides;
}

}  // namespace iropt::eval
