#include "exchange/onnx/import/unused_outputs.h"

#include <algorithm>

#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

using UsedNames = LookupSet<std::string_view>;

// Old batch norms are not among them: those with several outputs train.
bool HasOptionalOutputs(const NodeProto& node) {
  constexpr std::string_view kOps[] = {"Dropout",
                                       "LayerNormalization",
                                       "MaxPool",
                                       "SimplifiedLayerNormalization",
                                       "SkipLayerNormalization",
                                       "SkipSimplifiedLayerNormalization",
                                       "SoftmaxCrossEntropyLoss"};
  return node.outputs.size() > 1 && std::ranges::find(kOps, node.op_type) != std::end(kOps);
}

template <class F>
bool AnyNode(const std::vector<NodeProto>& nodes, F&& f) {
  return std::ranges::any_of(nodes, [&](const NodeProto& node) {
    return f(node) || std::ranges::any_of(node.attributes, [&](const AttributeProto& attribute) {
             return std::ranges::any_of(attribute.graphs, [&](const auto& graph) { return AnyNode(graph->nodes, f); });
           });
  });
}

void Collect(const std::vector<NodeProto>& nodes, UsedNames& used) {
  for (const NodeProto& node : nodes) {
    used.InsertAll(node.inputs);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) {
        Collect(graph->nodes, used);
        for (const ValueInfo& output : graph->outputs) used.insert(output.name);
      }
    }
  }
}

void Remove(std::vector<NodeProto>& nodes, const UsedNames& used) {
  for (NodeProto& node : nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) Remove(graph->nodes, used);
    }
    if (!HasOptionalOutputs(node)) continue;
    while (node.outputs.size() > 1 && !used.contains(node.outputs.back())) node.outputs.pop_back();
  }
}

}  // namespace

void RemoveUnusedOutputs(Model& model) {
  const bool is_needed =
      AnyNode(model.graph.nodes, HasOptionalOutputs) ||
      std::ranges::any_of(model.functions, [](const FunctionProto& f) { return AnyNode(f.nodes, HasOptionalOutputs); });
  if (!is_needed) return;
  UsedNames used;
  Collect(model.graph.nodes, used);
  for (const ValueInfo& output : model.graph.outputs) used.insert(output.name);
  for (const FunctionProto& function : model.functions) {
    Collect(function.nodes, used);
    used.InsertAll(function.outputs);
  }
  Remove(model.graph.nodes, used);
  for (FunctionProto& function : model.functions) Remove(function.nodes, used);
}

}  // namespace iropt::onnx
