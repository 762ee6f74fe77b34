#include "exchange/onnx/export/list_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "exchange/onnx/node_places.h"
#include "exchange/onnx/tensors.h"
#include "exchange/onnx/type_text.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

std::string TextOf(const ValueType& type) {
  if (type.kind == ValueType::Kind::kNone) return "?";
  if (type.kind != ValueType::Kind::kTensor) return ToText(type);
  if (!type.has_shape) return std::string(NameOf(type.element));
  std::vector<std::string> dims;
  for (const Dim& dim : type.dims)
    dims.push_back(dim.value ? fmt::format("{}", *dim.value) : dim.param.empty() ? "?" : std::string(dim.param));
  return fmt::format("{}[{}]", NameOf(type.element), fmt::join(dims, ", "));
}

int64_t BytesOf(const TensorProto& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.dims) elements *= dim;
  const std::optional<DataType> dtype = DataTypeOf(tensor.type);
  return dtype ? (elements * dtype->bits + 7) / 8 : 0;
}

// Empty for graphs, which have lines of their own, and for tensors and types.
std::string TextOf(const AttributeProto& attribute) {
  switch (attribute.type) {
    case AttributeType::kInt: return fmt::format("{}={}", attribute.name, attribute.i);
    case AttributeType::kFloat: return fmt::format("{}={}", attribute.name, attribute.f);
    case AttributeType::kString: return fmt::format("{}={}", attribute.name, attribute.s);
    case AttributeType::kInts: return fmt::format("{}=[{}]", attribute.name, fmt::join(attribute.ints, ", "));
    case AttributeType::kFloats: return fmt::format("{}=[{}]", attribute.name, fmt::join(attribute.floats, ", "));
    default: return {};
  }
}

class NodeLister {
 public:
  explicit NodeLister(OutputStream& out) : out_(out) {}

  void List(const GraphProto& graph, size_t depth) {
    for (const ValueInfo& value : graph.value_infos) types_[value.name] = TextOf(value.type);
    for (const ValueInfo& input : graph.inputs)
      Line(depth, fmt::format("input {}: {}", input.name, TextOf(input.type)));
    for (const TensorProto& tensor : graph.initializers) {
      Line(depth, fmt::format("initializer {}: {}[{}], {} bytes", tensor.name, NameOf(tensor.type),
                              fmt::join(tensor.dims, ", "), BytesOf(tensor)));
    }
    for (const ValueInfo& output : graph.outputs) types_[output.name] = TextOf(output.type);
    for (const NodeProto& node : graph.nodes) List(node, depth);
    for (const ValueInfo& output : graph.outputs)
      Line(depth, fmt::format("output {}: {}", output.name, TextOf(output.type)));
  }

 private:
  void Line(size_t depth, std::string_view text) {
    out_.AppendRepeated(' ', 2 * depth);
    out_.Append(text);
    out_.Append('\n');
  }

  void List(const NodeProto& node, size_t depth) {
    std::string text = QualifiedOp(node);
    if (!node.name.empty()) text += fmt::format(" \"{}\"", node.name);
    std::vector<std::string> attributes;
    for (const AttributeProto& attribute : node.attributes) {
      if (std::string one = TextOf(attribute); !one.empty()) attributes.push_back(std::move(one));
    }
    if (!attributes.empty()) text += fmt::format(" {{{}}}", fmt::join(attributes, ", "));
    std::vector<std::string> results;
    for (const std::string_view output : node.outputs) {
      const auto* type = types_.Find(output);
      results.push_back(output.empty() ? "_" : type ? fmt::format("{}: {}", output, *type) : std::string(output));
    }
    std::vector<std::string_view> operands = node.inputs;
    for (std::string_view& operand : operands) operand = operand.empty() ? "_" : operand;
    Line(depth, fmt::format("{}: {} -> {}", text, fmt::join(operands, ", "), fmt::join(results, ", ")));
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) {
        Line(depth + 1, fmt::format("{}:", attribute.name));
        List(*graph, depth + 2);
      }
    }
  }

  OutputStream& out_;
  LookupMap<std::string_view, std::string> types_;  // of values
};

}  // namespace

void ListNodes(const Model& model, OutputStream& out) {
  int64_t bytes = 0;
  for (const TensorProto& tensor : model.graph.initializers) bytes += BytesOf(tensor);
  out.Append(fmt::format("graph {}: {} nodes, {} initializers of {} bytes, opset {}\n", model.graph.name,
                         CountNodes(model.graph), model.graph.initializers.size(), bytes, model.OpsetOf("")));
  NodeLister(out).List(model.graph, 0);
}

}  // namespace iropt::onnx
