#include "exchange/onnx/export/dead_nodes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace iropt::onnx {

namespace {

class DeadNodeRemover {
 public:
  void Run(GraphProto& graph) {
    Count(graph, 1);
    Remove(graph);
  }
  bool IsUsed(std::string_view name) const {
    const auto found = uses_.find(name);
    return found != uses_.end() && found->second > 0;
  }

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
        removed_.insert(node.outputs.begin(), node.outputs.end());
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

  std::unordered_map<std::string_view, int> uses_;
  std::unordered_set<std::string_view> removed_;
};

}  // namespace

void RemoveDeadNodes(ExportedModel& model) {
  DeadNodeRemover remover;
  GraphProto& graph = model.model.graph;
  remover.Run(graph);
  size_t kept = 0;
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    if (!remover.IsUsed(graph.initializers[i].name)) continue;
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
