// Quantized numbers. In ONNX, the zero point has the dtype of the quantized tensor and the shape of the scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/export/op_rows.h"
#include "exchange/onnx/run/numbers.h"
#include "iropt/op/ops/quantize.h"

namespace iropt::onnx {

namespace {

// A constant of the shape of the scale for a zero point of another dtype, or one number for several scales. Null if
// the zero point does not fit the dtype or is not known.
std::shared_ptr<const NDArray> ZeroPointLike(const iropt::Constant& zero, DataType dtype, const TensorType* scale) {
  const auto numbers = ToNumbers(*zero.data);
  const auto dims = StaticDimsOf(scale);
  if (!numbers || !dims || numbers->empty()) return nullptr;
  const auto count = static_cast<size_t>(Product(*dims));
  if (numbers->size() != 1 && numbers->size() != count) return nullptr;
  std::vector<double> values(count, numbers->front());
  if (numbers->size() == count) values = *numbers;
  Tensor array = FromNumbers(dtype, *dims, values);
  return ToNumbers(*array) == values ? std::move(array) : nullptr;
}

struct ZeroPoint {
  std::string_view name;  // empty for one that is left out
  bool fails = false;
};

// A zero of another dtype is left out where that says the same.
ZeroPoint ZeroPointOf(OpExport& op, DataType quantized, bool may_be_left_out) {
  const auto* constant = As<iropt::Constant>(op.Resolved(2));
  const bool has_dtype = op.Dtype(2) == quantized;
  if (has_dtype && op.Rank(2) == op.Rank(1)) return {op.In(2)};
  if (constant == nullptr) return {{}, true};
  const auto numbers = ToNumbers(*constant->data);
  const bool is_zero = numbers && std::ranges::all_of(*numbers, [](double number) { return number == 0; });
  if (!has_dtype && is_zero && may_be_left_out) return {};
  std::shared_ptr<const NDArray> array = ZeroPointLike(*constant, quantized, op.TypeOf(1));
  if (array == nullptr) return {{}, true};
  return {op.exporter().context().Initializer(std::move(array), "zero_point")};
}

bool HasOneScale(const OpExport& op) {
  const auto dims = StaticDimsOf(op.TypeOf(1));
  return dims && Product(*dims) == 1;
}

// Adds the node. `attributes` are those besides the axis.
Names AddQuantizeNode(OpExport& op, DataType quantized, bool may_leave_out, std::vector<AttributeProto> attributes,
                      const std::optional<AttributeProto>& without_zero = std::nullopt) {
  constexpr int64_t kDefaultAxis = 1;
  const int64_t given = op.Attrs<QuantizeAttrs>().axis();
  const int64_t axis = given < 0 ? given + op.Rank(0) : given;
  if (op.Rank(0) < 0) return op.Lacks("the rank of its data is not known");
  if (!HasOneScale(op)) {
    if (op.version() < 13) return op.Needs(13);
    if (axis != kDefaultAxis) attributes.push_back(IntAttribute("axis", axis));
  }
  if (quantized.bits == 16 && op.version() < 21) return op.Needs(21);
  const ZeroPoint zero = ZeroPointOf(op, quantized, may_leave_out);
  if (zero.fails)
    return op.Lacks(
        fmt::format("its zero point is not a constant of {} of the shape of the scale", quantized.ToString()));
  Names inputs = {op.In(0), op.In(1)};
  if (!zero.name.empty())
    inputs.push_back(zero.name);
  else if (without_zero)
    attributes.push_back(*without_zero);
  return {op.Add(op.onnx_op(), std::move(inputs), std::move(attributes))};
}

AttributeProto OutputDtype(DataType dtype) {
  return IntAttribute("output_dtype", static_cast<int64_t>(ElementTypeOf(dtype)));
}

Names ExportQuantize(OpExport& op) {
  const DataType quantized = op.Attrs<QuantizeAttrs>().out_dtype();
  const bool is_default = quantized == DataType::UInt(8);
  if (op.Dtype(0) != op.Dtype(1) && op.version() < 23)
    return op.Lacks(fmt::format("its scale is of {}, its data of {}", op.Dtype(1).ToString(), op.Dtype(0).ToString()));
  const bool has_attribute = op.version() >= 21;
  return AddQuantizeNode(op, quantized, is_default || has_attribute, {},
                         is_default ? std::nullopt : std::optional(OutputDtype(quantized)));
}

Names ExportDequantize(OpExport& op) {
  const DataType to = op.Attrs<QuantizeAttrs>().out_dtype();
  const bool is_scale = to == op.Dtype(1);
  if (is_scale || op.version() >= 23)
    return AddQuantizeNode(op, op.Dtype(0), true,
                           is_scale ? std::vector<AttributeProto>() : std::vector{OutputDtype(to)});
  const Names results = AddQuantizeNode(op, op.Dtype(0), true, {});
  return results.empty() ? results : Names{op.Cast(results.front(), op.Dtype(1), to)};
}

constexpr ExportRow kQuantizationExports[] = {
    {op::kDequantize, "DequantizeLinear", 10, ExportDequantize},
    {op::kQuantize, "QuantizeLinear", 10, ExportQuantize},
};

}  // namespace

std::span<const ExportRow> QuantizationExports() { return kQuantizationExports; }

}  // namespace iropt::onnx
