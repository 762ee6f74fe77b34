#include "exchange/onnx/import/left_out.h"

#include <algorithm>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// Sizes of the messages of protobuf: each field has a tag, most have a length.
constexpr uint64_t kField = 2;
constexpr uint64_t kNumber = 4;
constexpr uint64_t kLeastNode = 42;

uint64_t BytesOf(std::string_view text) { return text.empty() ? 0 : kField + text.size(); }

uint64_t BytesOf(const std::vector<std::string_view>& texts) {
  uint64_t bytes = 0;
  for (const std::string_view text : texts) bytes += kField + text.size();
  return bytes;
}

// Without tensors, and without graphs, whose nodes count themselves.
uint64_t BytesOf(const AttributeProto& attribute) {
  constexpr uint64_t kType = 3;
  return kField + BytesOf(attribute.name) + kType + BytesOf(attribute.s) + BytesOf(attribute.strings) +
         kNumber * attribute.floats.size() + kField * (attribute.ints.size() + attribute.tensors.size());
}

uint64_t BytesOf(const NodeProto& node) {
  uint64_t bytes = kField + BytesOf(node.op_type) + BytesOf(node.domain) + BytesOf(node.name) + BytesOf(node.inputs);
  for (const AttributeProto& attribute : node.attributes) bytes += BytesOf(attribute);
  // The tensor of a constant has the name instead.
  return node.op_type == "Constant" ? bytes : bytes + BytesOf(node.outputs);
}

// The places of all calls and conditionals.
struct Places : WalkHandler {
  void OnCall(const Call& call) { begins.insert(Location(call).begin); }
  void OnBinding(const Binding& binding) { begins.insert(Location(*ValueOf(&binding)).begin); }
  LookupSet<uint32_t> begins;
};

bool AsksForShapes(const GraphProto& graph) {
  return std::ranges::any_of(graph.nodes, [](const NodeProto& node) {
    return node.op_type == "Shape" || node.op_type == "Size" ||
           std::ranges::any_of(node.attributes, [](const AttributeProto& attribute) {
             return std::ranges::any_of(attribute.graphs, [](const auto& inner) { return AsksForShapes(*inner); });
           });
  });
}

bool HasUnknownSizes(const GraphProto& graph) {
  return std::ranges::any_of(graph.inputs, [](const ValueInfo& input) {
    return !input.type.has_shape || std::ranges::any_of(input.type.dims, [](const Dim& dim) { return !dim.value; });
  });
}

uint64_t BytesLeftOut(const std::vector<NodeProto>& nodes, const Places& places, bool may_return) {
  uint64_t bytes = 0;
  for (const NodeProto& node : nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) bytes += BytesLeftOut(graph->nodes, places, may_return);
    }
    if (!node.span.known() || places.begins.contains(node.span.begin)) continue;
    const bool is_constant = node.op_type == "Constant";
    bytes += may_return && !is_constant ? std::min(BytesOf(node), kLeastNode) : BytesOf(node);
  }
  return bytes;
}

}  // namespace

bool MayComputeShapes(const GraphProto& graph) { return HasUnknownSizes(graph) && AsksForShapes(graph); }

uint64_t BytesLeftOut(const Model& model, const Module& module) {
  Places places;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<iropt::Function>(entry.func)) Walk(*function, places);
  }
  return BytesLeftOut(model.graph.nodes, places, !model.functions.empty() || MayComputeShapes(model.graph));
}

}  // namespace iropt::onnx
