#include "exchange/onnx/export/finish_nodes.h"

#include <algorithm>
#include <string_view>

#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

class NodeUses {
 public:
  void CountUses(const GraphProto& graph) { Count(graph, 1); }
  void Run(GraphProto& graph) {
    CountUses(graph);
    Remove(graph);
  }
  int NumUses(std::string_view name) const { return uses_.Lookup(name); }
  bool IsUsed(std::string_view name) const { return NumUses(name) > 0; }

 private:
  void Count(const GraphProto& graph, int by) {
    for (const NodeProto& node : graph.nodes) Count(node, by);
    for (const ValueInfo& output : graph.outputs) uses_[output.name] += by;
  }
  void Count(const NodeProto& node, int by) {
    for (const std::string_view input : node.inputs) uses_[input] += by;
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) Count(*graph, by);
    }
  }

  // Users come after what they use.
  void Remove(GraphProto& graph) {
    std::vector<bool> is_dead(graph.nodes.size());
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      NodeProto& node = graph.nodes[i];
      is_dead[i] = std::ranges::none_of(node.outputs,
                                        [&](std::string_view output) { return !output.empty() && IsUsed(output); });
      if (is_dead[i]) {
        Count(node, -1);
        removed_.InsertAll(node.outputs);
        continue;
      }
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& inner : attribute.graphs) Remove(*inner);
      }
    }
    size_t next = 0;
    std::erase_if(graph.nodes, [&](const NodeProto&) { return is_dead[next++]; });
    std::erase_if(graph.value_infos, [&](const ValueInfo& info) { return removed_.contains(info.name); });
  }

  LookupMap<std::string_view, int> uses_;
  LookupSet<std::string_view> removed_;
};

}  // namespace

void DivideByReciprocals(GraphProto& graph) {
  LookupMap<std::string_view, std::string_view> operand_of;  // by reciprocals
  for (NodeProto& node : graph.nodes) {
    if (node.op_type == "Reciprocal" && node.domain.empty()) operand_of[node.outputs[0]] = node.inputs[0];
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) DivideByReciprocals(*inner);
    }
  }
  if (operand_of.empty()) return;
  NodeUses uses;
  uses.CountUses(graph);
  for (NodeProto& node : graph.nodes) {
    if (node.op_type != "Mul" || !node.domain.empty()) continue;
    for (const size_t i : {size_t{1}, size_t{0}}) {
      const auto* reciprocal = operand_of.Find(node.inputs[i]);
      if (!reciprocal || uses.NumUses(node.inputs[i]) != 1) continue;
      node.op_type = "Div";
      node.inputs = {node.inputs[1 - i], *reciprocal};
      break;
    }
  }
}

void RemoveDeadNodes(ExportedModel& model) {
  NodeUses uses;
  GraphProto& graph = model.model.graph;
  uses.Run(graph);
  size_t kept = 0;
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    if (!uses.IsUsed(graph.initializers[i].name)) continue;
    if (kept != i) {
      graph.initializers[kept] = std::move(graph.initializers[i]);
      model.arrays[kept] = model.arrays[i];
    }
    ++kept;
  }
  graph.initializers.resize(kept);
  model.arrays.resize(kept);
}

}  // namespace iropt::onnx
