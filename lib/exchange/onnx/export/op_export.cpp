#include "exchange/onnx/export/op_export.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/op_rows.h"
#include "exchange/onnx/import/opaque_call.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/shape.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

std::string OpExport::OpName() const {
  if (const auto* op = As<Op>(call_->op)) {
    const bool packed = op->id == op::kCallPurePacked && num_args() > 0;
    const auto* callee = packed ? As<ExternFunc>(Arg(0)) : nullptr;
    return callee ? std::string(callee->global_symbol) : std::string(op->info->script);
  }
  if (const auto* callee = As<GlobalVar>(call_->op)) return fmt::format("a call of '{}'", callee->name);
  return "a call";
}

Names OpExport::Run() {
  const auto* op = As<Op>(call_->op);
  if (op == nullptr) return Lacks("only calls of operators can be written");
  if (op->id == op::kCallPurePacked) return RunOpaque();
  const ExportRow* row = FindExportRow(op->id);
  if (row == nullptr) return Lacks("ONNX has no such operator");
  if (version() < row->since) return Needs(row->since);
  onnx_op_ = row->onnx_op;
  if (row->make != nullptr) return row->make(*this);
  Names inputs;
  for (size_t i = 0; i < num_args(); ++i) inputs.push_back(In(i));
  return {Add(onnx_op_, std::move(inputs))};
}

Names OpExport::RunOpaque() {
  const auto* callee = num_args() > 0 ? As<ExternFunc>(Arg(0)) : nullptr;
  if (callee == nullptr || !callee->global_symbol.starts_with(kOpaquePrefix))
    return Lacks("packed functions are not in ONNX");
  is_opaque_ = true;
  return ExportOpaqueCall(*this, callee->global_symbol.substr(kOpaquePrefix.size()));
}

// ---- Operands

Names OpExport::TupleIn(size_t i) {
  const Expr* value = Resolved(i);
  Names names;
  if (const auto* tuple = As<iropt::Tuple>(value)) {
    for (const Expr* field : tuple->fields) names.push_back(exporter_.NameOf(field));
    return names;
  }
  const auto* type = As<TupleType>(Arg(i)->type);
  for (uint32_t field = 0; type && field < type->fields.size(); ++field) {
    const TupleGetItem item(Arg(i), static_cast<int32_t>(field), type->fields[field]);
    names.push_back(exporter_.NameOf(&item));
  }
  return names;
}

std::optional<std::vector<int64_t>> StaticDimsOf(const TensorType* type) {
  if (type == nullptr || !type->known) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const PrimExpr* dim : type->dims) {
    const auto* number = As<tir::IntImm>(dim);
    if (number == nullptr) return std::nullopt;
    numbers.push_back(number->value);
  }
  return numbers;
}

const PrimExpr* OpExport::PrimArg(size_t i) const {
  const auto* value = i < num_args() ? As<PrimValue>(Resolved(i)) : nullptr;
  return value ? value->value : nullptr;
}

std::optional<int64_t> OpExport::IntArg(size_t i) const {
  const auto* number = PrimArg(i) ? As<tir::IntImm>(PrimArg(i)) : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<double> OpExport::FloatArg(size_t i) const {
  if (const auto number = IntArg(i)) return static_cast<double>(*number);
  const auto* number = PrimArg(i) ? As<tir::FloatImm>(PrimArg(i)) : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

std::string_view OpExport::ShapeOperand(const Expr* shape) {
  const Expr* value = exporter_.definitions().Resolve(shape);
  if (const auto* dims = As<ShapeExpr>(value)) return exporter_.dims().ShapeTensor(dims->values.span());
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op != nullptr && op->id == op::kShapeOf) return exporter_.dims().ShapeOf(exporter_.NameOf(call->args[0]));
  if (op != nullptr && op->id == op::kTensorToShape) return exporter_.NameOf(call->args[0]);
  const auto* type = As<ShapeType>(shape->type);
  if (type != nullptr && type->known) return exporter_.dims().ShapeTensor(type->values.span());
  exporter_.Report(call_ ? OpName() : "a shape", "its shape is not known");
  return {};
}

// ---- Building

std::string_view OpExport::Scalar(double value, DataType dtype) {
  if (dtype.is_void()) {
    exporter_.Report(OpName(), "the dtype of its operand is not known");
    return {};
  }
  const iropt::Scalar scalar =
      dtype.is_floating() ? iropt::Scalar::Float(value, dtype) : iropt::Scalar::Int(static_cast<int64_t>(value), dtype);
  return exporter_.context().Initializer(std::shared_ptr<const NDArray>(MakeScalarTensor(scalar)), "");
}

std::string_view OpExport::Cast(std::string_view x, DataType from, DataType to) {
  if (from == to || to.is_void()) return x;
  return Add("Cast", {x}, {IntAttribute("to", static_cast<int64_t>(ElementTypeOf(to)))});
}

std::string_view OpExport::Transpose(std::string_view x, std::vector<int64_t> axes) {
  return Add("Transpose", {x}, {IntsAttribute("perm", std::move(axes))});
}

std::string_view OpExport::Squeeze(std::string_view x, std::vector<int64_t> axes) {
  if (axes.empty()) return x;  // for runtimes, an empty list is all of them
  if (version() >= 13) return Add("Squeeze", {x, Ints(axes)});
  return Add("Squeeze", {x}, {IntsAttribute("axes", std::move(axes))});
}

std::string_view OpExport::Unsqueeze(std::string_view x, std::vector<int64_t> axes) {
  if (version() >= 13) return Add("Unsqueeze", {x, Ints(axes)});
  return Add("Unsqueeze", {x}, {IntsAttribute("axes", std::move(axes))});
}

std::string_view OpExport::Reduce(std::string_view op, std::string_view x, std::vector<int64_t> axes, bool keepdims) {
  Names inputs{x};
  std::vector<AttributeProto> attributes{IntAttribute("keepdims", keepdims ? 1 : 0)};
  const int since = op == "ReduceSum" ? 13 : 18;
  if (axes.empty()) return Add(op, inputs, attributes);
  if (version() >= since)
    inputs.push_back(Ints(axes));
  else
    attributes.push_back(IntsAttribute("axes", std::move(axes)));
  return Add(op, inputs, attributes);
}

std::optional<std::vector<int64_t>> LayoutAxes(std::string_view from, std::string_view to) {
  std::vector<int64_t> axes;
  for (const char axis : to) {
    const size_t at = from.find(axis);
    if (at == std::string_view::npos) return std::nullopt;
    axes.push_back(static_cast<int64_t>(at));
  }
  return from.size() == to.size() ? std::optional(axes) : std::nullopt;
}

std::string_view OpExport::ToLayout(std::string_view x, std::string_view from, std::string_view to) {
  if (from == to) return x;
  auto axes = LayoutAxes(from, to);
  if (axes) return Transpose(x, std::move(*axes));
  reason_ = fmt::format("the layout '{}' is not a permutation of '{}'", from, to);
  return {};
}

Names OpExport::Needs(int64_t since) {
  return Lacks(fmt::format("it needs opset {} of ONNX, the model has {}", since, version()));
}

}  // namespace iropt::onnx
