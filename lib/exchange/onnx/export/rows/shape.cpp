// Tensors made of shapes, and shapes as values.

#include "iropt/op/ops/shape.h"

#include <fmt/format.h>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/create.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

// Shapes are not values of a graph.
Names ExportNothing(OpExport& op) { return op.NoValue(); }

Names ExportShapeToTensor(OpExport& op) {
  const std::string_view shape = op.ShapeOperand(op.Arg(0));
  return shape.empty() ? Names() : Names{shape};
}

Names ExportSize(OpExport& op) { return {op.Add("Size", {op.In(0)})}; }

// A tensor of one value. `shape` is a tensor of int64.
Names Filled(OpExport& op, std::string_view shape, double value, DataType dtype) {
  if (shape.empty()) return {};
  if (op.version() < 9) return op.Needs(9);
  const iropt::Scalar scalar =
      dtype.is_floating() ? iropt::Scalar::Float(value, dtype) : iropt::Scalar::Int(static_cast<int64_t>(value), dtype);
  const auto array = MakeScalarTensor(scalar);
  TensorProto tensor = op.exporter().context().TensorOf(*array);
  tensor.dims = {1};
  tensor.raw = op.exporter().Keep(std::string(*tensor.raw));
  if (tensor.type == ElementType::kUndefined) return op.Lacks(fmt::format("ONNX has no {}", dtype.ToString()));
  return {op.Add("ConstantOfShape", {shape}, {TensorAttribute("value", std::move(tensor))})};
}

DataType ResultDtype(OpExport& op) { return op.ResultType() ? op.ResultType()->dtype : DataType::Float(32); }

Names ExportOnes(OpExport& op) { return Filled(op, op.ShapeOperand(op.Arg(0)), 1, ResultDtype(op)); }
Names ExportZeros(OpExport& op) { return Filled(op, op.ShapeOperand(op.Arg(0)), 0, ResultDtype(op)); }

// The shape of the first operand.
std::string_view ShapeOfFirst(OpExport& op) {
  const auto numbers = StaticDimsOf(op.TypeOf(0));
  return numbers ? op.Ints(*numbers) : op.exporter().dims().ShapeOf(op.In(0));
}

Names ExportOnesLike(OpExport& op) { return Filled(op, ShapeOfFirst(op), 1, ResultDtype(op)); }
Names ExportZerosLike(OpExport& op) { return Filled(op, ShapeOfFirst(op), 0, ResultDtype(op)); }

Names FilledWith(OpExport& op, std::string_view shape) {
  if (shape.empty()) return {};
  const auto* constant = As<iropt::Constant>(op.Resolved(1));
  const DataType dtype = ResultDtype(op);
  if (constant != nullptr && constant->data->num_elements() == 1 && constant->data->dtype() == dtype &&
      op.version() >= 9) {
    TensorProto tensor = op.exporter().context().TensorOf(*constant->data);
    tensor.dims = {1};
    return {op.Add("ConstantOfShape", {shape}, {TensorAttribute("value", std::move(tensor))})};
  }
  return {op.Add("Expand", {op.Cast(op.In(1), op.Dtype(1), dtype), shape})};
}

Names ExportFull(OpExport& op) { return FilledWith(op, op.ShapeOperand(op.Arg(0))); }
Names ExportFullLike(OpExport& op) { return FilledWith(op, ShapeOfFirst(op)); }

// A PrimValue as a tensor of rank 0.
std::string_view RangeBound(OpExport& op, size_t i, DataType dtype) {
  if (const auto number = op.FloatArg(i)) return op.Scalar(*number, dtype);
  const PrimExpr* value = op.PrimArg(i);
  if (value == nullptr) return {};
  const std::string_view scalar = op.Squeeze(op.exporter().dims().ScalarTensor(value), {0});
  return op.Cast(scalar, DataType::Int(64), dtype);
}

Names ExportArange(OpExport& op) {
  const DataType dtype = ResultDtype(op);
  const Names inputs{RangeBound(op, 0, dtype), RangeBound(op, 1, dtype), RangeBound(op, 2, dtype)};
  if (inputs[0].empty() || inputs[1].empty() || inputs[2].empty()) return op.Lacks("a bound is not a number");
  return {op.Add("Range", inputs)};
}

// A triangle keeps the elements on one side of a diagonal.
Names ExportTriangle(OpExport& op, bool upper) {
  const auto k = op.IntArg(1);
  if (!k) return op.Lacks("its diagonal is not a number");
  return {op.Add("Trilu", {op.In(0), op.exporter().IntScalar(*k)}, {IntAttribute("upper", upper ? 1 : 0)})};
}
Names ExportTril(OpExport& op) { return ExportTriangle(op, false); }
Names ExportTriu(OpExport& op) { return ExportTriangle(op, true); }

Names ExportEyeLike(OpExport& op) {
  const auto k = op.IntArg(1);
  if (!k) return op.Lacks("its diagonal is not a number");
  std::vector<AttributeProto> attributes{IntAttribute("k", *k)};
  // By default that of the operand.
  if (const DataType dtype = ResultDtype(op); !dtype.is_void())
    attributes.push_back(IntAttribute("dtype", static_cast<int64_t>(ElementTypeOf(dtype))));
  return {op.Add("EyeLike", {op.In(0)}, std::move(attributes))};
}

Names ExportEye(OpExport& op) {
  const PrimExpr* rows = op.PrimArg(0);
  const PrimExpr* columns = op.PrimArg(1);
  const auto k = op.IntArg(2);
  if (rows == nullptr || columns == nullptr || !k) return op.Lacks("its diagonal is not a number");
  const PrimExpr* dims[] = {rows, columns};
  const Names zeros = Filled(op, op.exporter().dims().ShapeTensor(dims), 0, ResultDtype(op));
  if (zeros.empty()) return {};
  return {op.Add("EyeLike", zeros, {IntAttribute("k", *k)})};
}

constexpr ExportRow kShapeExports[] = {
    {op::kArange, "Range", 11, ExportArange},
    {op::kEye, "", 9, ExportEye},  // ConstantOfShape, EyeLike
    {op::kEyeLike, "EyeLike", 9, ExportEyeLike},
    {op::kFull, "", 8, ExportFull},          // ConstantOfShape, Expand
    {op::kFullLike, "", 8, ExportFullLike},  // ConstantOfShape, Expand
    {op::kOnes, "ConstantOfShape", 9, ExportOnes},
    {op::kOnesLike, "ConstantOfShape", 9, ExportOnesLike},
    {op::kShapeOf, "", 1, ExportNothing},              // Shape, where it is used
    {op::kShapeToTensor, "", 1, ExportShapeToTensor},  // Shape, Gather, Concat
    {op::kSize, "Size", 1, ExportSize},
    {op::kTensorToShape, "", 1, ExportNothing},  // its operand, where it is used
    {op::kTril, "Trilu", 14, ExportTril},
    {op::kTriu, "Trilu", 14, ExportTriu},
    {op::kZeros, "ConstantOfShape", 9, ExportZeros},
    {op::kZerosLike, "ConstantOfShape", 9, ExportZerosLike},
};

}  // namespace

std::span<const ExportRow> ShapeExports() { return kShapeExports; }

}  // namespace iropt::onnx
