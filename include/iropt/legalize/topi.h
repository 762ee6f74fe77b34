// A library of tensor expressions, after TVM's topi: the computations that legalizations are made of. The functions
// have topi's names; names of stages and order of operations are topi's, too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/legalize/te.h"

namespace iropt::topi {

using te::Operand;
using te::Shape;
using te::Tensor;
using te::Value;
using te::Values;

using UnaryFn = FunctionRef<Value(Value)>;
using BinaryFn = FunctionRef<Value(Value, Value)>;
using Ints = std::span<const int64_t>;
// The axes of a reduction; nothing: all.
using Axes = std::optional<std::vector<int64_t>>;

// ---- Scalars
Value Exp(Value x);
Value Erf(Value x);
Value Log(Value x);
Value Sqrt(Value x);
Value Rsqrt(Value x);
Value Sigmoid(Value x);
Value Tanh(Value x);
Value Pow(Value x, Value y);
// Integers stay as they are.
Value Floor(Value x);
Value Ceil(Value x);
Value Round(Value x);
Value Abs(Value x);
Value Sign(Value x);

// ---- Shapes
// The result of broadcasting two shapes, and for each of their dimensions whether it is repeated.
struct BroadcastShapes {
  Shape shape = {};
  std::vector<bool> repeats_a = {}, repeats_b = {};
};
BroadcastShapes Broadcast(te::Builder& te, Values a, Values b);
// The position in a shape of a flat index, and the reverse.
Value RavelIndex(Values indices, Values shape);
std::vector<Value> UnravelIndex(Value index, Values shape);
// Axes counted from the front, sorted, each once.
std::vector<size_t> RealAxes(size_t ndim, const Axes& axes);
size_t RealAxis(size_t ndim, int64_t axis);
Value Product(Values dims, Value one);

// ---- Elementwise
Tensor Map(const Tensor& x, UnaryFn f, std::string_view name = "compute",
           const te::StageOptions& options = te::PythonAxes());
Tensor Broadcast(const Operand& a, const Operand& b, std::string_view name, BinaryFn f);
Tensor Add(const Operand& a, const Operand& b);
Tensor Subtract(const Operand& a, const Operand& b);
Tensor Multiply(const Operand& a, const Operand& b);
Tensor Divide(const Operand& a, const Operand& b);
// As Python's topi and as C++'s topi name the stage.
Tensor Cast(const Tensor& x, DataType dtype);
Tensor CastElements(const Tensor& x, DataType dtype);
Tensor Identity(const Tensor& x, std::string_view name = "T_identity");
Tensor Full(te::Builder& te, Values shape, DataType dtype, const Operand& value);

// ---- Rearranging
Tensor BroadcastTo(const Tensor& x, Values shape);
Tensor Reshape(const Tensor& x, Values shape);
Tensor Transpose(const Tensor& x, Ints axes);
Tensor Squeeze(const Tensor& x, const Axes& axes);
Tensor Concatenate(std::span<const Tensor> inputs, int64_t axis);
std::vector<Tensor> Split(const Tensor& x, Values indices, int64_t axis, std::string_view name = "T_split");
std::vector<Tensor> SplitSections(const Tensor& x, int64_t sections, int64_t axis);
Tensor Repeat(const Tensor& x, int64_t repeats, int64_t axis);
Tensor Tile(const Tensor& x, Ints repeats);
Tensor Flip(const Tensor& x, int64_t axis);
// As Python's topi writes it: both bounds of an axis are checked if it is padded on any side.
Tensor Pad(const Tensor& x, Values before, Values after, Value value, std::string_view name = "PadInput");
// As C++'s topi writes it: only the bounds of padded sides are checked.
Tensor PadSides(const Tensor& x, Values before, Values after, Value value, std::string_view name = "T_pad");
// Zeros between the elements.
Tensor Dilate(const Tensor& x, Ints strides, std::string_view name = "DilatedInput");
Tensor Trilu(const Tensor& x, Value k, bool upper);
Tensor Trilu(const Tensor& x, Value k, bool upper, Value rest);

// ---- Picking
// `mode` says what indices out of range pick: undefined (fast), the nearest element (clip), counted round (wrap), or
// NaN.
Tensor Take(const Tensor& x, const Operand& indices, std::optional<int64_t> axis, std::string_view mode = "fast");
// The element of each index tensor in place of the position on the axis.
Tensor Gather(const Tensor& x, int64_t axis, const Tensor& indices);
// Element i of an axis is that at first + i * stride.
Tensor StridedSlice(const Tensor& x, Values first, Values strides, const std::vector<size_t>& axes, Values shape);
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);
Tensor Arange(te::Builder& te, Value start, Value stop, Value step, DataType dtype);

// ---- Reductions
Tensor Reduce(const Tensor& x, const Axes& axes, bool keepdims, te::Reducer reducer, bool atleast1d = false);
inline te::Reducer SumReducer(DataType dtype) { return dtype.is_bool() ? te::Reducer::kAny : te::Reducer::kSum; }
inline Tensor Sum(const Tensor& x, const Axes& axes, bool keepdims = false, bool atleast1d = false) {
  return Reduce(x, axes, keepdims, SumReducer(x.dtype()), atleast1d);
}
// Returns the dtype in which sums are computed for a mean: integers in 64 bits, so that neither the sum nor the number
// of elements wraps around.
inline DataType SumDType(DataType dtype) { return dtype.is_integer() && dtype.bits < 64 ? DataType::Int(64) : dtype; }
// The index of the greatest or least element.
Tensor ReduceIndex(const Tensor& x, const Axes& axes, bool keepdims, te::Reducer reducer);
Tensor CollapseSum(const Tensor& x, Values shape);
// The mean over the axes, and the sums of the squares of the deviations from it, in float32 for float16.
struct MeanDeviations {
  Tensor mean, squares;
};
MeanDeviations DeviationsFromMean(const Tensor& x, const std::vector<size_t>& axes, Value extent);

// ---- Approximations, for float32; other dtypes as the intrinsics compute them
Tensor FastExp(const Tensor& x);
Tensor FastErf(const Tensor& x);  // for float16, too
Tensor FastTanh(const Tensor& x);
Tensor FastSoftmax(const Tensor& x, int64_t axis);

// ---- Products
// As numpy.matmul, of `y` with its last two axes exchanged if it is transposed. The factors are converted to the dtype
// unless it is void.
Tensor Matmul(const Tensor& x, const Tensor& y, bool transpose_b, DataType out_dtype, std::string_view name);

// ---- Neural networks
Tensor Softmax(const Tensor& x, int64_t axis);
Tensor LogSoftmax(const Tensor& x, int64_t axis);
struct NormOptions {
  double epsilon = 1e-5;
  bool center = true;  // adds beta
  bool scale = true;   // multiplies by gamma
};
Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Axes& axes,
                 const NormOptions& options);
Tensor GroupNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t groups, int64_t channel_axis,
                 const Axes& axes, const NormOptions& options);
Tensor InstanceNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t channel_axis, const Axes& axes,
                    const NormOptions& options);
Tensor RmsNorm(const Tensor& x, const Tensor& weight, const Axes& axes, double epsilon);
struct BatchNormOptions {
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  double momentum = 0.1;
  bool training = true;  // normalize by the statistics of the data and move the moving ones; else by the moving ones
};
// The normalized data, and the new moving mean and variance.
std::vector<Tensor> BatchNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& moving_mean,
                              const Tensor& moving_var, const BatchNormOptions& options);
Tensor BatchMatmul(const Tensor& x, const Tensor& y, bool transpose_b);
Tensor NllLoss(const Tensor& predictions, const Tensor& targets, const Tensor& weights, std::string_view reduction,
               int64_t ignore_index);

// ---- Windows
struct ConvOptions {
  std::vector<int64_t> strides = {}, padding = {}, dilation = {};
  int64_t groups = 1;
  std::string data_layout = {}, kernel_layout = {};
  DataType out_dtype = {};
};
Tensor Conv(const Tensor& x, const Tensor& weight, const ConvOptions& options);
// Of data in NC..., and weights in IO...; `output_padding` is added to the size of the result.
Tensor ConvTranspose(const Tensor& x, const Tensor& weight, const ConvOptions& options, Ints output_padding);

struct PoolOptions {
  bool is_max = false;
  std::vector<int64_t> window = {}, strides = {}, dilation = {}, padding = {};
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::string layout = {};
};
// The number of windows is that of the shape of the result.
Tensor Pool(const Tensor& x, Values shape, const PoolOptions& options);
Tensor AdaptiveAvgPool(const Tensor& x, Values output_size, std::string_view layout);
// The gradient of a pooling in two dimensions, without dilation.
Tensor PoolGrad(const Tensor& grad, const Tensor& x, const PoolOptions& options);

}  // namespace iropt::topi
