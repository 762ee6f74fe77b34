// Numbers that become integers by a scale and a zero point. Scales of blocks, and elements that R.quantize does not
// have, stay calls.
#include <algorithm>
#include <cmath>
#include <optional>

#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/tensors.h"
#include "iropt/ir/narrow_float.h"
#include "iropt/ir/number_format.h"
#include "iropt/op/ops/quantize.h"

namespace iropt::onnx {

namespace {

constexpr DataType kFloat = DataType::Float(32);
constexpr DataType kHalf = DataType::Float(16);

bool IsQuantized(DataType dtype) {
  return dtype.lanes == 1 && (dtype.is_int() || dtype.is_uint()) && !dtype.is_bool() &&
         (dtype.bits == 8 || dtype.bits == 16);
}

// The axis of the scale and the zero point: the last one if they hold for all elements. Nothing if the shapes are not
// those that Relax takes, or not known to be.
std::optional<int64_t> ParameterAxis(OpImport& op) {
  const TensorType* data = op.TypeOf(0);
  const TensorType* scale = op.TypeOf(1);
  if (data == nullptr || data->ndim == kUnknownDim || scale == nullptr || op.Int("block_size") != 0)
    return std::nullopt;
  const auto scale_dims = op.Dims(1);
  if (!scale_dims || (op.Has(2) && op.Dims(2) != scale_dims)) return std::nullopt;
  if (std::ranges::all_of(*scale_dims, [](int64_t dim) { return dim == 1; }) && scale_dims->size() <= 1)
    return data->ndim - 1;
  const int64_t given = op.Int("axis", 1);
  const int64_t axis = given < 0 ? given + data->ndim : given;
  if (scale_dims->size() != 1 || axis < 0 || axis >= data->ndim) return std::nullopt;
  const auto* size = As<tir::IntImm>(DimOf(data, static_cast<size_t>(axis)));
  return size != nullptr && size->value == scale_dims->front() ? std::optional(axis) : std::nullopt;
}

// The call. A zero point that is left out is an int32, which ONNX has for no quantized tensor.
Value MakeQuantizeCall(OpImport& op, OpId id, int64_t axis, DataType dtype) {
  const Expr* zero = op.Has(2) ? op.In(2) : op.Scalar(0, DataType::Int(32));
  const bool is_last = axis == op.Rank(0) - 1;
  return op.Call(id, {op.In(0), op.In(1), zero},
                 op.Attrs<QuantizeAttrs>(id, {.out_dtype = dtype, .axis = is_last ? -1 : axis}));
}

Value ImportQuantizeLinear(OpImport& op) {
  DataType dtype = op.Has(2) ? op.Dtype(2) : DataType::UInt(8);
  if (!op.Has(2) && op.Int("output_dtype") != 0)
    dtype = DataTypeOf(static_cast<ElementType>(op.Int("output_dtype"))).value_or(DataType::Void());
  const int64_t precision = op.Int("precision");
  const bool divides_floats = precision == 0 || precision == static_cast<int64_t>(ElementType::kFloat);
  if (!IsQuantized(dtype) || op.Dtype(0) != kFloat || op.Dtype(1) != kFloat || !divides_floats) return {};
  const std::optional<int64_t> axis = ParameterAxis(op);
  return axis ? MakeQuantizeCall(op, op::kQuantize, *axis, dtype) : Value();
}

// Returns whether no product is too large for a half: R.dequantize limits it, and ONNX makes it infinite.
bool FitsHalves(OpImport& op) {
  const auto most = static_cast<float>(GreatestOf(*FormatOfDType(kHalf)));
  const NDArray* scale = op.ConstantOf(1);
  if (scale == nullptr || scale->dtype() != kHalf || op.Dtype(0).bits > 16) return false;
  const auto farthest = static_cast<float>((1 << op.Dtype(0).bits) - 1);
  return std::ranges::all_of(scale->As<Float16>(),
                             [&](Float16 value) { return std::abs(static_cast<float>(value)) * farthest <= most; });
}

Value ImportDequantizeLinear(OpImport& op) {
  const DataType from = op.Dtype(0);
  const DataType to = op.Dtype(1);
  if (!IsQuantized(from) && from != DataType::Int(32)) return {};
  if (to != kFloat && (to != kHalf || !FitsHalves(op))) return {};
  const int64_t stated = op.Int("output_dtype");
  if (stated != 0 && stated != static_cast<int64_t>(ElementTypeOf(to))) return {};
  const std::optional<int64_t> axis = ParameterAxis(op);
  return axis ? MakeQuantizeCall(op, op::kDequantize, *axis, to) : Value();
}

constexpr OpRow kQuantizationRows[] = {
    {"DequantizeLinear", 10, 2, 3, ImportDequantizeLinear, "R.dequantize"},
    {"QuantizeLinear", 10, 2, 3, ImportQuantizeLinear, "R.quantize"},
};

}  // namespace

std::span<const OpRow> QuantizationRows() { return kQuantizationRows; }

}  // namespace iropt::onnx
