// Operators that create tensors: constant fills, ranges, triangles, shapes as data.
#include "iropt/op/ops/create.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "eval/tir/scalar_ops.h"
#include "kernel.h"

namespace iropt::eval {

namespace {

Result<HostValue> MakeFilled(KernelCall& call, DataType dtype, Shape shape, const NDArray& fill) {
  if (fill.num_elements() != 1) return call.Fail("the fill value is not a scalar");
  if (!IsElementType(fill.dtype())) return call.UnsupportedDType(fill.dtype());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, std::move(shape)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  bool defined = true;
  DispatchElement(fill.dtype(), [&]<class From>(std::type_identity<From>) {
    DispatchElement(dtype, [&]<class To>(std::type_identity<To>) {
      To value;
      defined = ConvertElement(fill.As<From>()[0], &value);
      if (defined) std::ranges::fill(out->MutableAs<To>(), value);
    });
  });
  if (!defined) return call.Fail(fmt::format("the fill value is out of range for {}", dtype.ToString()));
  return HostValue(Tensor(out));
}

Result<HostValue> FilledWith(KernelCall& call, DataType dtype, Shape shape, int64_t value) {
  return MakeFilled(call, dtype, std::move(shape), *MakeScalarTensor(Scalar::Int(value)));
}

Result<HostValue> FilledLike(KernelCall& call, int64_t value) {
  const auto attrs = call.attrs<InitAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  return FilledWith(call, DTypeOr(attrs.dtype(), x->dtype()), ShapeOf(*x), value);
}

Result<HostValue> FilledShape(KernelCall& call, int64_t value) {
  const auto attrs = call.attrs<InitAttrs>();
  IROPT_ASSIGN_OR_RETURN(Shape shape, call.ShapeArg(0));
  return FilledWith(call, DTypeOr(attrs.dtype(), DataType::Void()), std::move(shape), value);
}

}  // namespace

Result<HostValue> EvalFull(KernelCall& call) {
  const auto attrs = call.attrs<InitAttrs>();
  IROPT_ASSIGN_OR_RETURN(Shape shape, call.ShapeArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor fill, call.TensorArg(1));
  return MakeFilled(call, DTypeOr(attrs.dtype(), fill->dtype()), std::move(shape), *fill);
}

Result<HostValue> EvalFullLike(KernelCall& call) {
  const auto attrs = call.attrs<InitAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor fill, call.TensorArg(1));
  return MakeFilled(call, DTypeOr(attrs.dtype(), x->dtype()), ShapeOf(*x), *fill);
}

Result<HostValue> EvalOnes(KernelCall& call) { return FilledShape(call, 1); }
Result<HostValue> EvalZeros(KernelCall& call) { return FilledShape(call, 0); }
Result<HostValue> EvalOnesLike(KernelCall& call) { return FilledLike(call, 1); }
Result<HostValue> EvalZerosLike(KernelCall& call) { return FilledLike(call, 0); }

namespace {

// The number of elements of a range; an error if the step is 0 or the number is out of range.
Result<int64_t> RangeLength(const KernelCall& call, const Scalar& start, const Scalar& end, const Scalar& step) {
  const double width = end.ToDouble() - start.ToDouble();
  if (step.ToDouble() == 0 || !std::isfinite(width / step.ToDouble())) return call.Fail("the range has no end");
  if (!start.dtype.is_floating() && !end.dtype.is_floating() && !step.dtype.is_floating()) {
    int64_t distance;
    if (__builtin_sub_overflow(end.integer, start.integer, &distance)) return call.Fail("the range is too long");
    const int64_t whole = FloorDiv(distance, step.integer);
    return std::max<int64_t>(0, FloorMod(distance, step.integer) != 0 ? whole + 1 : whole);
  }
  const double length = std::ceil(width / step.ToDouble());
  if (length > 9e18) return call.Fail("the range is too long");
  return static_cast<int64_t>(std::max(length, 0.0));
}

// Element i is start + i * delta, computed in the dtype; delta is the difference of the first two elements.
template <class T>
void FillRange(const Scalar& start, const Scalar& step, std::span<T> out) {
  if constexpr (std::is_integral_v<T>) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<T>(WrapAdd(start.integer, WrapMul(static_cast<int64_t>(i), step.integer)));
    }
  } else if constexpr (!std::is_same_v<T, BoolByte>) {
    const double first = ToReal(FromReal<T>(start.ToDouble()));
    const double second = ToReal(FromReal<T>(start.ToDouble() + step.ToDouble()));
    const double delta = ToReal(FromReal<T>(second - first));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = FromReal<T>(first + ToReal(FromReal<T>(ToReal(FromReal<T>(static_cast<double>(i))) * delta)));
    }
  }
}

}  // namespace

Result<HostValue> EvalArange(KernelCall& call) {
  const auto attrs = call.attrs<InitAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Scalar start, call.ScalarArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar end, call.ScalarArg(1));
  IROPT_ASSIGN_OR_RETURN(const Scalar step, call.ScalarArg(2));
  const DataType dtype = DTypeOr(attrs.dtype(), start.dtype);
  const bool integers = !start.dtype.is_floating() && !step.dtype.is_floating();
  if (dtype.is_bool() || (dtype.is_integer() && !integers)) return call.UnsupportedDType(dtype);
  IROPT_ASSIGN_OR_RETURN(const int64_t length, RangeLength(call, start, end, step));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, {length}));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(length)));
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) { FillRange(start, step, out->MutableAs<T>()); });
  return HostValue(Tensor(out));
}

namespace {

// Ones where column - row is `diagonal`, zeros elsewhere.
Result<HostValue> MakeEye(KernelCall& call, int64_t rows, int64_t columns, const Scalar& diagonal, DataType dtype) {
  const std::optional<int64_t> k = diagonal.ToInt();
  if (!k || rows < 0 || columns < 0) return call.Fail("expects a shape and an integer diagonal");
  if (!IsElementType(dtype)) return call.UnsupportedDType(dtype);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, {rows, columns}));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    T one;
    ConvertElement(int64_t{1}, &one);
    const std::span<T> result = out->MutableAs<T>();
    for (int64_t row = 0; row < rows; ++row) {
      int64_t column;
      if (__builtin_add_overflow(row, *k, &column) || column < 0 || column >= columns) continue;
      result[static_cast<size_t>(row * columns + column)] = one;
    }
  });
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalEye(KernelCall& call) {
  std::array<Scalar, 3> numbers;
  for (size_t i = 0; i < 3; ++i) {
    IROPT_ASSIGN_OR_RETURN(numbers[i], call.ScalarArg(i));
  }
  const std::optional<int64_t> rows = numbers[0].ToInt();
  const std::optional<int64_t> columns = numbers[1].ToInt();
  if (!rows || !columns) return call.Fail("the numbers of rows and columns must be integers");
  return MakeEye(call, *rows, *columns, numbers[2], DTypeOr(call.attrs<InitAttrs>().dtype(), DataType::Float(32)));
}

Result<HostValue> EvalEyeLike(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar diagonal, call.ScalarArg(1));
  if (x->shape().size() != 2) return call.Fail("expects a matrix");
  return MakeEye(call, x->shape()[0], x->shape()[1], diagonal, DTypeOr(call.attrs<InitAttrs>().dtype(), x->dtype()));
}

// alpha - beta * cos(2 * pi * i / (n - 1)), where n is one more than the size if the window is periodic.
Result<HostValue> EvalHammingWindow(KernelCall& call) {
  std::array<Scalar, 4> numbers;
  for (size_t i = 0; i < 4; ++i) {
    IROPT_ASSIGN_OR_RETURN(numbers[i], call.ScalarArg(i));
  }
  const std::optional<int64_t> size = numbers[0].ToInt();
  const DataType dtype = call.attrs<InitAttrs>().dtype();
  if (!size || *size < 1) return call.Fail("the size must be a positive integer");
  if (!dtype.is_floating() || !IsElementType(dtype)) return call.UnsupportedDType(dtype);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, {*size}));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(*size)));
  const double period = static_cast<double>(*size) - (numbers[1].ToDouble() != 0 ? 0 : 1);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      const std::span<T> result = out->MutableAs<T>();
      for (size_t i = 0; i < result.size(); ++i) {
        const double angle = 2 * 3.14159265358979323846 * static_cast<double>(i) / period;
        result[i] = FromReal<T>(*size == 1 ? 1 : numbers[2].ToDouble() - numbers[3].ToDouble() * std::cos(angle));
      }
    }
  });
  return HostValue(Tensor(out));
}

namespace {

// Keeps the elements of each matrix with column - row >= k (upper) or <= k (lower); the rest is zero.
Result<HostValue> Triangle(KernelCall& call, bool upper) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar diagonal, call.ScalarArg(1));
  const std::optional<int64_t> k = diagonal.ToInt();
  const Shape shape = ShapeOf(*x);
  if (!k || shape.size() < 2) return call.Fail("expects a matrix and an integer diagonal");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape.back();
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> in = x->As<T>();
    const std::span<T> result = out->MutableAs<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      const int64_t column = static_cast<int64_t>(i) % columns;
      const int64_t row = static_cast<int64_t>(i) / columns % rows;
      if (upper ? column - row >= *k : column - row <= *k) result[i] = in[i];
    }
  });
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalTril(KernelCall& call) { return Triangle(call, /*upper=*/false); }
Result<HostValue> EvalTriu(KernelCall& call) { return Triangle(call, /*upper=*/true); }

Result<HostValue> EvalShapeToTensor(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Shape shape, call.ShapeArg(0));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out,
                         call.Allocate(DataType::Int(64), {static_cast<int64_t>(shape.size())}));
  std::ranges::copy(shape, out->MutableAs<int64_t>().begin());
  return HostValue(Tensor(out));
}

Result<HostValue> EvalSize(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  return HostValue(MakeScalarTensor(Scalar::Int(x->num_elements())));
}

Result<HostValue> EvalTensorToShape(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  if (x->shape().size() != 1 || x->dtype() != DataType::Int(64)) return call.Fail("expects an int64 tensor of rank 1");
  const std::span<const int64_t> dims = x->As<int64_t>();
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return call.Fail("a dimension is negative");
  return HostValue(ShapeValue(dims.begin(), dims.end()));
}

}  // namespace iropt::eval
