// Quantization: conversion between floats and integers with a scale and a zero point.
#include "iropt/op/ops/quantize.h"

#include <algorithm>

#include "kernel.h"
#include "numeric.h"

namespace iropt::eval {

namespace {

struct QuantArgs {
  Tensor data;
  Tensor scale;
  Tensor zero_point;
  DataType out_dtype;
  int64_t length = 1;  // of the axis
  int64_t inner = 1;   // of the dimensions after it

  // The index in a parameter for element i of the data.
  size_t Place(const NDArray& parameter, size_t i) const {
    return parameter.num_elements() == 1 ? 0 : static_cast<size_t>(static_cast<int64_t>(i) / inner % length);
  }
};

Result<QuantArgs> ReadQuantArgs(KernelCall& call) {
  const auto attrs = call.attrs<QuantizeAttrs>();
  QuantArgs args;
  IROPT_ASSIGN_OR_RETURN(args.data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(args.scale, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(args.zero_point, call.TensorArg(2));
  args.out_dtype = attrs.out_dtype();
  const Shape shape = ShapeOf(*args.data);
  if (!shape.empty()) {
    IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, attrs.axis(), shape.size()));
    args.length = std::max<int64_t>(shape[static_cast<size_t>(axis)], 1);
    args.inner = std::max<int64_t>(RowMajorStrides(shape)[static_cast<size_t>(axis)], 1);
  }
  for (const Tensor& parameter : {args.scale, args.zero_point}) {
    if (parameter->num_elements() != 1 && parameter->num_elements() != args.length)
      return call.Fail("a parameter fits neither the axis nor the whole tensor");
    if (parameter->dtype().is_bool()) return call.UnsupportedDType(parameter->dtype());
  }
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(args.data->num_elements())));
  return args;
}

// The number clamped to the range of T; nothing if T cannot hold the result: NaN is not an integer.
template <class T, class M>
bool ClipTo(M value, T* out) {
  M highest;
  M lowest;
  if constexpr (std::is_integral_v<T>) {
    highest = static_cast<M>(std::numeric_limits<T>::max());
    lowest = static_cast<M>(std::numeric_limits<T>::lowest());
  } else {
    lowest = static_cast<M>(ToReal(LowestElement<T>()));
    highest = -lowest;
  }
  return ConvertElement(MaxOf(MinOf(value, highest), lowest), out);
}

}  // namespace

// round(data / scale) + zero point in the wider of the dtypes of data and scale, clipped to the range of the result.
Result<HostValue> EvalQuantize(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const QuantArgs args, ReadQuantArgs(call));
  const bool is_double = args.data->dtype().bits > 32 || args.scale->dtype().bits > 32;
  const bool is_half = args.data->dtype() == args.scale->dtype() && args.data->dtype().bits == 16;
  if (!args.data->dtype().is_floating() || !args.scale->dtype().is_floating() || is_double)
    return call.UnsupportedDType(args.data->dtype());
  const DataType step = is_half ? args.data->dtype() : DataType::Float(32);
  IROPT_ASSIGN_OR_RETURN(const Tensor data, CastTensor(call, args.data, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const Tensor scale, CastTensor(call, args.scale, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const Tensor zero, CastTensor(call, args.zero_point, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(args.out_dtype, ShapeOf(*data)));
  const auto rounded = [&](double value) {
    float result = static_cast<float>(value);
    DispatchFloat(step,
                  [&]<class S>(std::type_identity<S>) { result = static_cast<float>(ToReal(FromReal<S>(value))); });
    return result;
  };
  bool defined = true;
  const bool supported = DispatchNumber(args.out_dtype, [&]<class T>(std::type_identity<T>) {
    const std::span<const float> x = data->As<float>();
    for (size_t i = 0; i < x.size(); ++i) {
      const float s = scale->As<float>()[args.Place(*scale, i)];
      float value = rounded(static_cast<double>(x[i]) / static_cast<double>(s));
      if (std::is_integral_v<T>) value = std::nearbyint(value);
      value = rounded(static_cast<double>(value) + static_cast<double>(zero->As<float>()[args.Place(*zero, i)]));
      defined &= ClipTo(value, &out->MutableAs<T>()[i]);
    }
  });
  if (!supported) return call.UnsupportedDType(args.out_dtype);
  if (!defined) return call.Fail("the result is undefined for some elements");
  return HostValue(Tensor(out));
}

namespace {

// (data - zero point) * scale, where the difference is one of D and the rest is computed in float32.
template <class D>
bool RunDequantize(const QuantArgs& args, const NDArray& data, const NDArray& zero, const NDArray& scale,
                   NDArray& out) {
  bool defined = true;
  DispatchFloat(args.out_dtype, [&]<class T>(std::type_identity<T>) {
    const std::span<const D> x = data.As<D>();
    for (size_t i = 0; i < x.size(); ++i) {
      const D distance = WrapSub(x[i], zero.As<D>()[args.Place(zero, i)]);
      const float value = static_cast<float>(distance) * scale.As<float>()[args.Place(scale, i)];
      if constexpr (std::is_same_v<T, float>) {
        out.MutableAs<T>()[i] = value;
      } else {
        defined &= ClipTo(value, &out.MutableAs<T>()[i]);
      }
    }
  });
  return defined;
}

}  // namespace

Result<HostValue> EvalDequantize(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const QuantArgs args, ReadQuantArgs(call));
  if (!args.out_dtype.is_floating() || args.out_dtype.bits > 32) return call.UnsupportedDType(args.out_dtype);
  const bool floats = args.data->dtype().is_floating();
  const DataType step = floats ? DataType::Float(32) : DataType::Int(32);
  if (!floats && args.zero_point->dtype().is_floating()) return call.UnsupportedDType(args.zero_point->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor data, CastTensor(call, args.data, step));
  IROPT_ASSIGN_OR_RETURN(const Tensor zero, CastTensor(call, args.zero_point, step));
  IROPT_ASSIGN_OR_RETURN(const Tensor scale, CastTensor(call, args.scale, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(args.out_dtype, ShapeOf(*data)));
  const bool defined = floats ? RunDequantize<float>(args, *data, *zero, *scale, *out)
                              : RunDequantize<int32_t>(args, *data, *zero, *scale, *out);
  if (!defined) return call.Fail("the result is undefined for some elements");
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
