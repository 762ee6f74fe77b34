#include "exchange/onnx/import/op_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/node_places.h"
#include "iropt/arith/const_fold.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/reshape.h"

namespace iropt::onnx {

std::optional<std::vector<int64_t>> Elements::Numbers() const {
  std::vector<int64_t> numbers;
  numbers.reserve(values.size());
  for (const PrimExpr* value : values) {
    const auto* number = As<tir::IntImm>(value);
    if (number == nullptr) return std::nullopt;
    numbers.push_back(number->value);
  }
  return numbers;
}

std::string Describe(const NodeProto& node) {
  std::string op = QualifiedOp(node);
  if (const std::string line = SourceLineOf(node); !line.empty()) op += ", " + line;
  if (!node.name.empty()) return fmt::format("node '{}' ({})", node.name, op);
  for (const std::string_view output : node.outputs) {
    if (!output.empty()) return fmt::format("the node of '{}' ({})", output, op);
  }
  return fmt::format("a node ({})", op);
}

OpImport::OpImport(FunctionImporter& importer, const NodeProto& node, int64_t version, Scope& scope)
    : OperandMaker(importer.workspace()), importer_(importer), node_(node), version_(version), scope_(scope) {}

// ---- Inputs

const Expr* OpImport::In(size_t i) {
  if (Has(i)) return importer_.Operand(*scope_.Find(node_.inputs[i]));
  if (!failed_) Error(fmt::format("input {} is missing", i));
  return Tuple({});
}

std::vector<const Expr*> OpImport::AllIn() {
  std::vector<const Expr*> inputs;
  for (size_t i = 0; i < num_inputs(); ++i) {
    if (Has(i)) inputs.push_back(In(i));
  }
  return inputs;
}

std::optional<std::vector<int64_t>> OpImport::Dims(size_t i) {
  const TensorType* type = TypeOf(i);
  if (type == nullptr || !type->known) return std::nullopt;
  return Elements{.values = {type->dims.begin(), type->dims.end()}}.Numbers();
}

const Elements* OpImport::ElementsOf(size_t i) {
  if (!Has(i)) return nullptr;
  Value& value = *scope_.Find(node_.inputs[i]);
  if (!value.elements) value.elements = importer_.ElementsOfConstant(value.expr);
  return value.elements ? &*value.elements : nullptr;
}

std::optional<Elements> OpImport::ElementsIn(const TensorProto& tensor) {
  const Result<Array> array = importer_.context().tensors.Read(tensor);
  if (!array.ok()) return std::nullopt;
  return importer_.ElementsOfConstant(Constant(*array));
}

std::optional<std::vector<int64_t>> OpImport::Numbers(size_t i) {
  if (const Elements* elements = ElementsOf(i)) return elements->Numbers();
  const NDArray* array = ConstantOf(i);
  if (array == nullptr || array->dtype() != DataType::Int(64)) return std::nullopt;
  const std::span<const int64_t> numbers = array->As<int64_t>();
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

const NDArray* OpImport::ConstantOf(size_t i) {
  if (!Has(i)) return nullptr;
  const iropt::Constant* constant = importer_.ConstantBehind(In(i));
  return constant ? constant->data : nullptr;
}

std::optional<double> OpImport::NumberOf(size_t i) {
  const NDArray* array = ConstantOf(i);
  if (array == nullptr) return std::nullopt;
  const std::optional<iropt::Scalar> scalar = ScalarOf(*array);
  if (!scalar) return std::nullopt;
  return scalar->ToDouble();
}

// ---- Attributes

std::optional<std::vector<int64_t>> OpImport::AttrOrInput(std::string_view name, size_t input) {
  if (Has(input)) return Numbers(input);
  return Ints(name);
}

// ---- Building

const Expr* OpImport::Call(OpId op, std::initializer_list<const Expr*> args, const Attr* attrs) {
  return Call(op, std::span(args.begin(), args.size()), attrs);
}

const Expr* OpImport::Call(OpId op, std::span<const Expr* const> args, const Attr* attrs) {
  if (const OpInfo& info = OpInfoOf(op); attrs == nullptr && !info.attrs.empty()) {
    const std::vector<const Attr*> defaults(info.attrs.size(), nullptr);
    attrs = MakeOpAttrs(info, defaults);
  }
  return importer_.MakeCall(op, args, attrs);
}

const Expr* OpImport::Cast(const Expr* x, DataType dtype) {
  if (TensorOf(x) && TensorOf(x)->dtype == dtype) return x;
  return Call(op::kAstype, {x}, Attrs<AstypeAttrs>(op::kAstype, {.dtype = dtype}));
}

const Expr* OpImport::Reshape(const Expr* x, std::span<const int64_t> dims) {
  return Call(op::kReshape, {x, Shape(dims)});
}

const Expr* OpImport::Reshape(const Expr* x, std::span<const PrimExpr* const> dims) {
  return Call(op::kReshape, {x, Shape(dims)});
}

const Expr* OpImport::Transpose(const Expr* x, std::span<const int64_t> axes) {
  return Call(op::kPermuteDims, {x}, Attrs<PermuteDimsAttrs>(op::kPermuteDims, {.axes = axes}));
}

// ---- Failure

Value OpImport::Error(std::string message) {
  failed_ = true;
  importer_.Report(std::move(message));
  return {};
}

int64_t OpImport::Axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  Error(fmt::format("axis {} is out of range for a tensor of rank {}", axis, rank));
  return 0;
}

int64_t OpImport::Product(std::initializer_list<int64_t> factors) {
  std::optional<int64_t> product = 1;
  for (const int64_t factor : factors) product = product ? arith::CheckedMul(*product, factor) : std::nullopt;
  if (!product) Error(fmt::format("the product {} does not fit into 64 bits", fmt::join(factors, " * ")));
  return product.value_or(0);
}

}  // namespace iropt::onnx
