#include "integer_products.h"

#include <algorithm>

#include "affine_type.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/convolution.h"
#include "iropt/infer/ops/datatype.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/ir/ndarray.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

std::optional<int64_t> DimOf(const Expr* tensor, int axis) {
  const TensorType& type = *TensorTypeOf(tensor);
  if (!type.known) return std::nullopt;
  const int64_t* size = arith::AsInt(type.dims[static_cast<size_t>(axis < 0 ? axis + type.ndim : axis)]);
  return size ? std::optional(*size) : std::nullopt;
}

namespace {

constexpr DataType kSum = DataType::Int(32);
using Axes = std::vector<int64_t>;
constexpr double kOffset = 128;  // between bytes without and with a sign

// The one number that all elements of a constant are.
std::optional<double> UniformNumber(const Expr* expr) {
  const auto numbers = NumbersOf(expr);
  if (!numbers || numbers->empty()) return std::nullopt;
  const bool is_uniform = std::ranges::all_of(*numbers, [&](double number) { return number == numbers->front(); });
  return is_uniform ? std::optional(numbers->front()) : std::nullopt;
}

// The bytes of a constant with the other sign: a number that differs by kOffset has another first bit.
const Expr* TurnSigns(const NDArray& bytes, Workspace& workspace) {
  constexpr unsigned kFirstBit = 128;
  const DataType dtype = bytes.dtype().is_int() ? DataType::UInt(8) : DataType::Int(8);
  const auto turned = NDArray::Make(dtype, bytes.shape());
  const std::span from(bytes.data(), bytes.num_bytes());
  std::ranges::transform(from, turned->mutable_data(), [](std::byte byte) { return byte ^ std::byte{kFirstBit}; });
  return MakeConstant(turned, workspace);
}

// Sums of a constant of int8 over axes, of which 1 remains. Without the tensor of int32 that operators would make of
// it.
const Expr* SumConstant(const NDArray& tensor, const Axes& axes, Workspace& workspace) {
  const std::span<const int64_t> shape = tensor.shape();
  std::vector<int64_t> dims(shape.begin(), shape.end());
  for (const int64_t axis : axes) dims[static_cast<size_t>(axis)] = 1;
  const auto sums = NDArray::Make(kSum, dims);
  const std::span<int32_t> to = sums->MutableAs<int32_t>();
  std::vector<int64_t> steps(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    steps[i] = dims[i] == 1 ? 0 : step;
    step *= dims[i];
  }
  std::vector<int64_t> index(shape.size());
  int64_t at = 0;
  for (const int8_t number : tensor.As<int8_t>()) {
    to[static_cast<size_t>(at)] += number;
    for (size_t i = shape.size(); i-- > 0;) {
      at += steps[i];
      if (++index[i] < shape[i]) break;
      at -= steps[i] * index[i];
      index[i] = 0;
    }
  }
  return MakeConstant(sums, workspace);
}

// A constant of bytes with so many zeros after the end of the axis.
const Expr* AppendZeros(const NDArray& bytes, size_t axis, int64_t count, Workspace& workspace) {
  std::vector<int64_t> dims(bytes.shape().begin(), bytes.shape().end());
  int64_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const int64_t part = dims[axis] * inner;
  dims[axis] += count;
  const auto padded = NDArray::Make(bytes.dtype(), dims);
  std::byte* to = padded->mutable_data();
  for (size_t from = 0; from < bytes.num_bytes(); from += static_cast<size_t>(part), to += dims[axis] * inner)
    std::copy_n(bytes.data() + from, part, to);
  return MakeConstant(padded, workspace);
}

bool IsVector(const Expr* zero) {
  const TensorType& type = *TensorTypeOf(zero);
  return type.ndim == 1 && DimOf(zero, 0) != 1;
}

}  // namespace

const Expr* IntegerProducts::Cast(const Expr* x, DataType dtype) {
  return TensorTypeOf(x)->dtype == dtype ? x : op::Astype(calls_, x, {.dtype = dtype});
}

const Expr* IntegerProducts::AlongChannels(const Expr* vector) {
  return IsVector(vector) ? op::ExpandDims(calls_, vector, {.axis = Axes{0, 2, 3}}) : vector;
}

const Expr* IntegerProducts::AlongRows(const Expr* vector) {
  return IsVector(vector) ? op::ExpandDims(calls_, vector, {.axis = Axes{1}}) : vector;
}

ZeroedTensor IntegerProducts::WithSign(const ZeroedTensor& x, bool has_sign) {
  const bool has_now = TensorTypeOf(x.values)->dtype.is_int();
  const double offset = has_now == has_sign ? 0 : has_sign ? -kOffset : kOffset;
  ZeroedTensor result = x;
  if (offset != 0) {
    const auto* constant = As<Constant>(x.values);
    const Expr* moved = constant ? nullptr : op::Add(calls_, Cast(x.values, kSum), Scalar(offset));
    result.values = constant ? TurnSigns(*constant->data, workspace_)
                             : Cast(moved, has_sign ? DataType::Int(8) : DataType::UInt(8));
  }
  const auto number = x.zero ? UniformNumber(x.zero) : std::optional(0.0);
  if (number) {
    result.zero = *number + offset == 0 ? nullptr : Scalar(*number + offset);
  } else {
    result.zero = Cast(x.zero, kSum);
    if (offset != 0) result.zero = op::Add(calls_, result.zero, Scalar(offset));
  }
  return result;
}

const Expr* IntegerProducts::Pad(const Expr* x, const std::vector<int64_t>& widths, double value) {
  if (std::ranges::all_of(widths, [](int64_t width) { return width == 0; })) return x;
  const DataType dtype = TensorTypeOf(x)->dtype;
  return op::NnPad(calls_, x, calls_.MakeScalar(value, dtype), {.pad_width = widths, .pad_mode = "constant"});
}

const Expr* IntegerProducts::Sum(const Expr* x, const std::vector<int64_t>& axes) {
  const auto* constant = As<Constant>(x);
  if (constant && constant->data->dtype() == DataType::Int(8)) return SumConstant(*constant->data, axes, workspace_);
  return op::Sum(calls_, Cast(x, kSum), {.axis = axes, .keepdims = true});
}

const Expr* IntegerProducts::PadWeight(const Expr* w, size_t axis, int64_t count) {
  const auto* constant = As<Constant>(w);
  if (count > 0 && constant && constant->data->dtype() == DataType::Int(8) && constant->data->num_bytes() > 0)
    return AppendZeros(*constant->data, axis, count, workspace_);
  std::vector<int64_t> widths(static_cast<size_t>(2 * TensorTypeOf(w)->ndim));
  widths[2 * axis + 1] = count;
  return Pad(w, widths, 0);
}

const Expr* IntegerProducts::Product(const ZeroedTensor& given_a, const ZeroedTensor& given_b) {
  ZeroedTensor a = WithSign(given_a, false), b = WithSign(given_b, true);
  const TensorType &left = *TensorTypeOf(a.values), &right = *TensorTypeOf(b.values);
  if (left.ndim < 2 || right.ndim < 2) return nullptr;
  const auto columns_of_a = DimOf(a.values, -1), rows_of_b = DimOf(b.values, -2);
  const auto length = columns_of_a ? columns_of_a : rows_of_b;
  if (a.zero) a.zero = AlongRows(a.zero);
  const Expr* columns = nullptr;
  if (a.zero && b.zero && !length) {
    columns = Sum(op::Subtract(calls_, Cast(b.values, kSum), b.zero), {right.ndim - 2});
  } else if (a.zero) {
    columns = Sum(b.values, {right.ndim - 2});
    if (b.zero)
      columns = op::Subtract(calls_, columns, op::Multiply(calls_, b.zero, Scalar(static_cast<double>(*length))));
  }
  const Expr* rows = b.zero ? Sum(a.values, {left.ndim - 1}) : nullptr;
  if (length && *length % steps_ != 0) {
    const int64_t rest = steps_ - *length % steps_;
    std::vector<int64_t> widths(static_cast<size_t>(2 * left.ndim));
    widths.back() = rest;
    a.values = Pad(a.values, widths, 0);
    b.values = PadWeight(b.values, static_cast<size_t>(right.ndim - 2), rest);
  }
  const Expr* sums = op::Matmul(calls_, a.values, b.values, {.out_dtype = kSum});
  if (columns) sums = op::Subtract(calls_, sums, op::Multiply(calls_, columns, a.zero));
  if (rows) sums = op::Subtract(calls_, sums, op::Multiply(calls_, rows, b.zero));
  return sums;
}

// What each place of each filter adds up of its weights, as far as its window is in the image: [1, O, H, W], or
// [1, O, 1, 1] without padding.
const Expr* IntegerProducts::WindowSums(const Expr* x, const Expr* w, const ConvShape& shape) {
  if (std::ranges::all_of(shape.pads, [](int64_t pad) { return pad == 0; }))
    return op::PermuteDims(calls_, Sum(w, {1, 2, 3}), {.axes = Axes{1, 0, 2, 3}});
  const auto height = DimOf(x, 2), width = DimOf(x, 3);
  if (!height || !width) return nullptr;
  const std::vector<double> ones(static_cast<size_t>(*height * *width), 1);
  const int64_t image[] = {1, 1, *height, *width};
  return op::NnConv2d(
      calls_, MakeTensor(ones, image, kSum, workspace_), Sum(w, {1}),
      {.strides = shape.strides, .padding = shape.pads, .dilation = shape.dilations, .groups = 1, .out_dtype = kSum});
}

const Expr* IntegerProducts::Convolution(const ZeroedTensor& given_x, const ZeroedTensor& given_w,
                                         const ConvShape& shape) {
  ZeroedTensor x = WithSign(given_x, false), w = WithSign(given_w, true);
  const TensorType &image = *TensorTypeOf(x.values), &kernel = *TensorTypeOf(w.values);
  const auto channels = image.ndim == 4 ? DimOf(x.values, 1) : std::nullopt;
  if (kernel.ndim != 4 || !channels) return nullptr;
  // In groups, there are no dots of bytes, and the weights may be wider.
  if (w.zero && shape.groups > 1) {
    const Expr* zero = IsVector(w.zero) ? op::ExpandDims(calls_, w.zero, {.axis = Axes{1, 2, 3}}) : w.zero;
    w = {Cast(op::Subtract(calls_, Cast(w.values, kSum), zero), DataType::Int(16)), nullptr};
  }
  ConvShape now = shape;
  std::vector<int64_t> x_pads(8);
  const auto number = x.zero ? UniformNumber(x.zero) : std::optional(0.0);
  if (number && *number != 0) {
    // Padding is the zero point.
    x_pads[4] = shape.pads[0];
    x_pads[5] = shape.pads[2];
    x_pads[6] = shape.pads[1];
    x_pads[7] = shape.pads[3];
    now.pads.assign(4, 0);
  }
  const Expr* columns = x.zero ? WindowSums(x.values, w.values, now) : nullptr;
  if (x.zero && !columns) return nullptr;
  if (shape.groups == 1 && *channels % steps_ != 0) x_pads[3] = steps_ - *channels % steps_;
  x.values = Pad(x.values, x_pads, number.value_or(0));
  w.values = PadWeight(w.values, 1, x_pads[3]);
  const ConvAttrs::Values attrs = {
      .strides = now.strides, .padding = now.pads, .dilation = now.dilations, .groups = now.groups, .out_dtype = kSum};
  const Expr* sums = op::NnConv2d(calls_, x.values, w.values, attrs);
  if (columns) sums = op::Subtract(calls_, sums, op::Multiply(calls_, columns, x.zero));
  if (w.zero) {
    // The sum of (x - zero) over the window is that of a filter of ones, without the channels that are added.
    std::vector<int64_t> dims = {1};
    for (int i = 1; i < 4; ++i) {
      const auto size = DimOf(w.values, i);
      if (!size) return nullptr;
      dims.push_back(*size);
    }
    std::vector<double> ones(static_cast<size_t>(dims[1] * dims[2] * dims[3]));
    std::fill_n(ones.begin(), *channels * dims[2] * dims[3], 1);
    const Constant* filter = MakeTensor(ones, dims, DataType::Int(8), workspace_);
    const Expr* rows = op::NnConv2d(calls_, x.values, filter, attrs);
    if (x.zero) rows = op::Subtract(calls_, rows, op::Multiply(calls_, WindowSums(x.values, filter, now), x.zero));
    sums = op::Subtract(calls_, sums, op::Multiply(calls_, rows, AlongChannels(w.zero)));
  }
  return sums;
}

const Expr* IntegerProducts::Requantize(const Expr* sums, const Expr* factor, const Expr* zero, DataType dtype) {
  constexpr DataType kReal = DataType::Float(32);
  const auto [least, most] = RangeOf(dtype);
  const Expr* y = op::Round(calls_, op::Multiply(calls_, Cast(sums, kReal), factor));
  if (zero && UniformNumber(zero) != 0) y = op::Add(calls_, y, Cast(zero, kReal));
  y = op::Minimum(calls_, op::Maximum(calls_, y, calls_.MakeScalar(least, kReal)), calls_.MakeScalar(most, kReal));
  return Cast(y, dtype);
}

}  // namespace iropt
