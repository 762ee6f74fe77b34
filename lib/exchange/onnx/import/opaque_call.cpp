#include "exchange/onnx/import/opaque_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exchange/onnx/import/body_function.h"
#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/type_text.h"
#include "exchange/onnx/types/node_types.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/runtime/value.h"
#include "iropt/support/stack.h"

namespace iropt::onnx {

namespace {

const Expr* StringExpr(std::string_view text, Workspace& workspace) {
  return workspace.New<StringImm>(workspace.arena().CopyString(text), ObjectType::Get());
}

const Expr* MakeTuple(std::span<const Expr* const> fields, Workspace& workspace) {
  std::vector<const Type*> types;
  for (const Expr* field : fields) types.push_back(field->type);
  return workspace.New<Tuple>(workspace.Copy(fields), TupleType::Get(workspace.arena(), types));
}

const Expr* TensorExpr(OpImport& op, const TensorProto& tensor) {
  if (!DataTypeOf(tensor.type)) return OpaqueTensor(tensor, op.workspace());
  const Result<Array> array = op.importer().context().tensors.Read(tensor);
  if (array.ok()) return op.Constant(*array);
  op.Error(array.error().message);
  return nullptr;
}

const Expr* SparseTensorExpr(OpImport& op, const SparseTensorProto& tensor) {
  const Result<Array> array = op.importer().context().tensors.Read(tensor);
  if (array.ok()) return op.Constant(*array);
  op.Error(array.error().message);
  return nullptr;
}

template <class T, class F>
const Expr* TupleOf(const std::vector<T>& items, Workspace& workspace, F&& make) {
  std::vector<const Expr*> fields;
  for (const T& item : items) {
    const Expr* field = make(item);
    if (field == nullptr) return nullptr;
    fields.push_back(field);
  }
  return MakeTuple(fields, workspace);
}

// Null after an error, or for a kind of attribute that calls cannot hold.
const Expr* AttributeExpr(OpImport& op, const AttributeProto& attribute) {
  Workspace& workspace = op.workspace();
  switch (attribute.type) {
    case AttributeType::kFloat: return op.PrimFloat(static_cast<double>(attribute.f), DataType::Float(32));
    case AttributeType::kInt: return op.Prim(attribute.i);
    case AttributeType::kString: return StringExpr(attribute.s, workspace);
    case AttributeType::kInts: return op.Shape(std::span<const int64_t>(attribute.ints));
    case AttributeType::kFloats:
      return TupleOf(attribute.floats, workspace,
                     [&](float value) { return op.PrimFloat(static_cast<double>(value), DataType::Float(32)); });
    case AttributeType::kStrings:
      return TupleOf(attribute.strings, workspace, [&](std::string_view text) { return StringExpr(text, workspace); });
    case AttributeType::kTensor: return attribute.tensors.empty() ? nullptr : TensorExpr(op, attribute.tensors.front());
    case AttributeType::kTensors:
      return TupleOf(attribute.tensors, workspace, [&](const TensorProto& tensor) { return TensorExpr(op, tensor); });
    case AttributeType::kType:
      return attribute.types.empty() ? nullptr : StringExpr(ToText(attribute.types.front()), workspace);
    case AttributeType::kSparseTensor:
      return attribute.sparse_tensors.empty() ? nullptr : SparseTensorExpr(op, attribute.sparse_tensors.front());
    default: return nullptr;
  }
}

// The operands of a call, with the callee.
struct OpaqueOperands {
  std::vector<const Expr*> args;
  const GlobalVar* body = nullptr;  // of the first graph
};

// Adds the name and the value of an attribute; false after an error.
bool AddAttribute(OpImport& op, const AttributeProto& attribute, OpaqueOperands& operands) {
  std::vector<const Expr*>& args = operands.args;
  args.push_back(StringExpr(attribute.name, op.workspace()));
  if (attribute.type == AttributeType::kGraph && !attribute.graphs.empty()) {
    const std::optional<BodyFunction> body = ImportBodyFunction(op, attribute.name, *attribute.graphs.front());
    if (!body) return op.Failed(), false;
    if (operands.body == nullptr) operands.body = body->function;
    args.push_back(body->function);
    args.push_back(MakeTuple(body->captured, op.workspace()));
    return true;
  }
  const Expr* value = AttributeExpr(op, attribute);
  if (value == nullptr && !op.failed())
    op.Error(fmt::format("attribute '{}' is of a kind that is not supported", attribute.name));
  args.push_back(value);
  return value != nullptr;
}

// Nullopt after an error.
std::optional<OpaqueOperands> OpaqueOperandsOf(OpImport& op) {
  Workspace& workspace = op.workspace();
  const NodeProto& node = op.node();
  const std::string name = IsOnnxDomain(node.domain) ? fmt::format("{}{}", kOpaquePrefix, node.op_type)
                                                     : fmt::format("{}{}.{}", kOpaquePrefix, node.domain, node.op_type);
  OpaqueOperands operands;
  std::vector<const Expr*>& args = operands.args;
  args.push_back(workspace.New<ExternFunc>(workspace.arena().CopyString(name), DictAttr::Empty(), PackedFuncType()));
  for (size_t i = 0; i < op.num_inputs(); ++i) args.push_back(op.Has(i) ? op.In(i) : MakeTuple({}, workspace));
  for (const AttributeProto& attribute : node.attributes) {
    if (!AddAttribute(op, attribute, operands)) return std::nullopt;
  }
  const auto add_number = [&](std::string_view key, int64_t number) {
    args.push_back(StringExpr(key, workspace));
    args.push_back(op.Prim(number));
  };
  add_number(kOpsetKey, op.version());
  if (op.num_outputs() != 1) add_number(kOutputsKey, static_cast<int64_t>(op.num_outputs()));
  return operands;
}

// With the types of the outputs, as far as they are known or the model states them.
Value CallOpaque(OpImport& op, const OpaqueOperands& operands, const std::vector<NodeType>& known) {
  std::vector<const Type*> types;
  for (size_t i = 0; i < known.size(); ++i) types.push_back(op.importer().StatedType(op.node().outputs[i], known[i]));
  const TupleType* type_args = TupleType::Get(op.workspace().arena(), types);
  const Expr* call = op.importer().MakeCall(op::kCallPurePacked, operands.args, nullptr, type_args);
  op.importer().KeepDims(op, call, known);
  return call;
}

}  // namespace

Value MakeOpaqueCall(OpImport& op) { return MakeOpaqueCall(op, TypesOfNode(op)); }

Value MakeOpaqueCall(OpImport& op, const std::vector<NodeType>& types) {
  const std::optional<OpaqueOperands> operands = OpaqueOperandsOf(op);
  return operands ? CallOpaque(op, *operands, types) : Value();
}

Value MakeOpaqueCall(OpImport& op, FunctionRef<std::vector<NodeType>(const iropt::Function& body)> types_of) {
  const std::optional<OpaqueOperands> operands = OpaqueOperandsOf(op);
  if (!operands) return {};
  const ModuleEntry* body = operands->body ? op.importer().context().module.Find(operands->body) : nullptr;
  if (body == nullptr) return op.Error("has no graph");
  return CallOpaque(op, *operands, types_of(*To<iropt::Function>(body->func)));
}

const Expr* OpaqueTensor(const TensorProto& tensor, Workspace& workspace) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t dim : tensor.dims) dims.push_back(IRContext::Current().Int(dim));
  const Expr* shape = workspace.New<ShapeExpr>(workspace.Copy(dims), ShapeType::Get(dims));
  const Expr* elements = nullptr;
  if (tensor.type == ElementType::kString) {
    elements = TupleOf(tensor.strings, workspace, [&](std::string_view text) { return StringExpr(text, workspace); });
  } else if (tensor.type == ElementType::kComplex64 || tensor.type == ElementType::kComplex128) {
    // Pairs of a real and an imaginary part.
    const bool is_double = tensor.type == ElementType::kComplex128;
    const std::string_view bytes = tensor.raw.value_or(is_double ? tensor.doubles : tensor.floats);
    const DataType dtype = DataType::Float(is_double ? 64 : 32);
    auto array = NDArray::Make(dtype, {static_cast<int64_t>(bytes.size()) / dtype.bytes()});
    bytes.copy(reinterpret_cast<char*>(array->mutable_data()), array->num_bytes());
    elements = MakeConstant(std::move(array), workspace);
  }
  if (elements == nullptr) return nullptr;
  const Expr* fields[] = {shape, elements};
  return MakeTuple(fields, workspace);
}

}  // namespace iropt::onnx
