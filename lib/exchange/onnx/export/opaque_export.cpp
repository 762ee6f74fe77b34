// Calls of `onnx.<Op>`, which the reader makes of nodes that Relax has no operators for.

#include <fmt/format.h>

#include "exchange/onnx/export/convert_node.h"
#include "exchange/onnx/export/op_export.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/type_text.h"
#include "iropt/ir/relax/expr.h"

namespace iropt::onnx {

namespace {

bool IsFloat(const Expr* expr) {
  const auto* value = As<PrimValue>(expr);
  return value != nullptr && value->value->dtype.is_floating();
}

float FloatOf(const Expr* expr) {
  const auto* number = As<tir::FloatImm>(To<PrimValue>(expr)->value);
  return number ? static_cast<float>(number->value) : 0.0F;
}

// The attribute that an operand after its name is; of no type if it is not one.
AttributeProto AttributeOf(OpExport& op, std::string_view name, const Expr* value) {
  ExportContext& context = op.exporter().context();
  AttributeProto attribute{.name = name};
  if (const auto* text = As<iropt::StringImm>(value)) return TextAttribute(name, text->value);
  if (const auto* constant = As<iropt::Constant>(value))
    return TensorAttribute(name, context.TensorOf(*constant->data));
  if (IsFloat(value)) return FloatAttribute(name, static_cast<double>(FloatOf(value)));
  if (const auto* prim = As<PrimValue>(value)) {
    const auto* number = As<tir::IntImm>(prim->value);
    return number ? IntAttribute(name, number->value) : attribute;
  }
  if (const auto* shape = As<ShapeExpr>(value)) {
    std::vector<int64_t> numbers;
    for (const PrimExpr* dim : shape->values) numbers.push_back(As<tir::IntImm>(dim) ? To<tir::IntImm>(dim)->value : 0);
    return IntsAttribute(name, std::move(numbers));
  }
  const auto* tuple = As<iropt::Tuple>(value);
  if (tuple == nullptr || tuple->fields.empty()) return attribute;
  if (std::optional<TensorProto> tensor = OpaqueTensor(*tuple, op.exporter().definitions()))
    return TensorAttribute(name, *std::move(tensor));
  for (const Expr* field : tuple->fields) {
    if (const auto* text = As<iropt::StringImm>(field)) {
      attribute.type = AttributeType::kStrings;
      attribute.strings.push_back(text->value);
    } else if (IsFloat(field)) {
      attribute.type = AttributeType::kFloats;
      attribute.floats.push_back(FloatOf(field));
    } else if (const auto* constant = As<iropt::Constant>(field)) {
      attribute.type = AttributeType::kTensors;
      attribute.tensors.push_back(context.TensorOf(*constant->data));
    } else {
      return {.name = name};
    }
  }
  return attribute;
}

// The domain and the operator: domains have dots, operators do not.
std::pair<std::string_view, std::string_view> SplitName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

// Operands after the attributes of the node.
struct NodeFacts {
  int64_t opset = 0;  // 0: any
  size_t outputs = 1;
};

// Reads the operand of this name into `facts`. Returns whether it is one of the facts, which come last: attributes may
// have their names.
bool ReadFact(OpExport& op, std::string_view key, size_t value, NodeFacts& facts) {
  if (key != kOpsetKey && key != kOutputsKey) return false;
  const auto* last = op.num_args() < 3
                         ? nullptr
                         : As<iropt::StringImm>(op.exporter().definitions().Resolve(op.Arg(op.num_args() - 2)));
  const bool is_fact =
      value + 1 == op.num_args() || (value + 3 == op.num_args() && last != nullptr && last->value == kOutputsKey);
  if (!is_fact) return false;
  const std::optional<int64_t> number = op.IntArg(value);
  if (!number || *number < 0) return false;
  if (key == kOpsetKey)
    facts.opset = *number;
  else
    facts.outputs = static_cast<size_t>(*number);
  return true;
}

}  // namespace

Names ExportOpaqueCall(OpExport& op, std::string_view name) {
  FunctionExporter& exporter = op.exporter();
  const auto [domain, op_type] = SplitName(name);
  Names inputs;
  size_t i = 1;
  const auto value_at = [&](size_t at) { return exporter.definitions().Resolve(op.Arg(at)); };
  for (; i < op.num_args() && !Is<iropt::StringImm>(value_at(i)); ++i) {
    const auto* tuple = As<iropt::Tuple>(value_at(i));
    inputs.push_back(tuple && tuple->fields.empty() ? std::string_view() : op.In(i));
  }
  std::vector<AttributeProto> attributes;
  const auto* type = As<TupleType>(op.call().type);
  NodeFacts facts{.outputs = type ? type->fields.size() : 1};
  while (i + 1 < op.num_args()) {
    const auto* key = As<iropt::StringImm>(value_at(i));
    if (key == nullptr) return op.Lacks("an attribute has no name");
    if (const auto* function = As<GlobalVar>(op.Arg(i + 1))) {
      if (i + 2 >= op.num_args()) return op.Lacks(fmt::format("attribute '{}' has no captured values", key->value));
      auto graph = exporter.BodyGraph(function, op.TupleIn(i + 2));
      if (graph == nullptr) return {};
      attributes.push_back(GraphAttribute(key->value, std::move(graph)));
      i += 3;
      continue;
    }
    if (ReadFact(op, key->value, i + 1, facts)) {
      i += 2;
      continue;
    }
    const Expr* value = value_at(i + 1);
    AttributeProto attribute = AttributeOf(op, key->value, value);
    // The only operator with a type as an attribute, which the reader has as a text.
    const bool is_type = op_type == "Optional" && key->value == "type";
    if (std::optional<ValueType> given = is_type ? TypeFromText(attribute.s) : std::nullopt)
      attribute = {.name = key->value, .type = AttributeType::kType, .types = {std::move(*given)}};
    const auto* tuple = As<iropt::Tuple>(value);
    const bool is_empty = tuple != nullptr && tuple->fields.empty();
    if (attribute.type == AttributeType::kUndefined && !is_empty)
      return op.Lacks(fmt::format("attribute '{}' has a value that is not an attribute of ONNX", key->value));
    if (!is_empty) attributes.push_back(std::move(attribute));
    i += 2;
  }
  NodeForm node{.op = op_type, .inputs = std::move(inputs), .attributes = std::move(attributes)};
  if (domain.empty()) {
    if (std::optional<std::string> reason = ConvertNode(op, facts.opset, node)) return op.Lacks(std::move(*reason));
    if (facts.opset == exporter.context().opset()) exporter.context().known_operators().insert(node.op);
  }
  return exporter.AddNode(node.op, std::move(node.inputs), std::move(node.attributes), facts.outputs,
                          domain.empty() ? std::string_view() : exporter.Keep(std::string(domain)));
}

}  // namespace iropt::onnx
