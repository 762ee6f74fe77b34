#include "kernel.h"

#include <algorithm>

#include "iropt/infer/axes.h"

namespace iropt::eval {

Error KernelCall::Fail(std::string_view message, ErrorCode code) const {
  return {code, fmt::format("{}: {}", op_.name, message)};
}

Error KernelCall::UnsupportedDType(DataType dtype) const {
  return Fail(fmt::format("dtype {} is not supported", dtype.is_void() ? "void" : dtype.ToString()));
}

Result<Tensor> KernelCall::TensorArg(size_t i) const {
  if (i < args_.size()) {
    if (const auto* tensor = std::get_if<Tensor>(&args_[i].state)) return *tensor;
  }
  return Fail(fmt::format("operand {} is not a tensor", i));
}

Result<Shape> KernelCall::ShapeArg(size_t i) const {
  if (i < args_.size()) {
    if (const ShapeValue* shape = args_[i].shape()) return *shape;
  }
  return Fail(fmt::format("operand {} is not a shape", i));
}

Result<Scalar> KernelCall::ScalarArg(size_t i) const {
  if (i < args_.size()) {
    if (const Scalar* scalar = args_[i].scalar()) return *scalar;
  }
  return Fail(fmt::format("operand {} is not a scalar", i));
}

Result<Shape> KernelCall::IntsArg(size_t i) const {
  if (i < args_.size() && args_[i].shape()) return *args_[i].shape();
  const TupleValue* tuple = i < args_.size() ? args_[i].tuple() : nullptr;
  if (!tuple) return Fail(fmt::format("operand {} is not a list of integers", i));
  Shape result;
  for (const HostValue& field : tuple->fields) {
    const std::optional<int64_t> value = field.scalar() ? field.scalar()->ToInt() : std::nullopt;
    if (!value) return Fail(fmt::format("operand {} is not a list of integers", i));
    result.push_back(*value);
  }
  return result;
}

Result<std::vector<Tensor>> KernelCall::TensorsArg(size_t i) const {
  const TupleValue* tuple = i < args_.size() ? args_[i].tuple() : nullptr;
  if (!tuple) return Fail(fmt::format("operand {} is not a tuple", i));
  std::vector<Tensor> result;
  for (const HostValue& field : tuple->fields) {
    const auto* tensor = std::get_if<Tensor>(&field.state);
    if (!tensor) return Fail(fmt::format("operand {} is not a tuple of tensors", i));
    result.push_back(*tensor);
  }
  return result;
}

Result<std::shared_ptr<NDArray>> KernelCall::Allocate(DataType dtype, Shape shape) const {
  if (!IsElementType(dtype)) return UnsupportedDType(dtype);
  uint64_t bytes = static_cast<uint64_t>(dtype.bytes());
  bool overflow = false;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return Fail(fmt::format("a dimension is negative in the shape {}", ShapeText(shape)));
    if (dim == 0) empty = true;
    overflow |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim == 0 ? 1 : dim), &bytes);
  }
  // The product of the other dimensions is bounded also if one is zero: strides are computed from it.
  if (overflow || bytes > INT64_MAX || (!empty && bytes > limits_.max_bytes)) {
    return Fail(fmt::format("a tensor of shape {} is over the limit of {} bytes", ShapeText(shape), limits_.max_bytes),
                ErrorCode::Budget);
  }
  return NDArray::Make(dtype, shape);
}

Status KernelCall::Charge(uint64_t units) {
  if (units > work_left_) return Fail(fmt::format("takes more than {} steps", limits_.max_work), ErrorCode::Budget);
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

std::string ShapeText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Result<std::vector<int64_t>> IntElements(const KernelCall& call, const NDArray& tensor) {
  std::vector<int64_t> result;
  bool fits = tensor.dtype().is_integer();
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      result.reserve(tensor.As<T>().size());
      for (const T x : tensor.As<T>()) {
        if constexpr (std::is_same_v<T, uint64_t>) fits &= x <= INT64_MAX;
        result.push_back(static_cast<int64_t>(x));
      }
    } else {
      fits = false;
    }
  });
  if (!fits) return call.Fail(fmt::format("a tensor of dtype {} does not hold indices", tensor.dtype().ToString()));
  return result;
}

}  // namespace iropt::eval
