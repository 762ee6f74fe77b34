#include "exchange/onnx/import/sort_nodes.h"

#include <functional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/onnx/import/function_importer.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

using Nodes = std::vector<NodeProto>;

// The values that a node uses, those of its graphs as well.
template <class F>
void ForEachUse(const NodeProto& node, F&& f) {
  for (const std::string_view input : node.inputs) f(input);
  for (const AttributeProto& attribute : node.attributes) {
    for (const auto& graph : attribute.graphs) {
      for (const std::string_view name : FreeNames(*graph)) f(name);
    }
  }
}

class NodeOrder {
 public:
  explicit NodeOrder(const Nodes& nodes) : waiting_(nodes.size()), users_(nodes.size()) {
    LookupMap<std::string_view, size_t> makers;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string_view output : nodes[i].outputs) {
        if (!output.empty()) makers.try_emplace(output, i);
      }
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      ForEachUse(nodes[i], [&](std::string_view name) {
        const size_t* maker = makers.Find(name);
        if (maker == nullptr) return;
        is_sorted_ = is_sorted_ && *maker < i;
        users_[*maker].push_back(i);
        ++waiting_[i];
      });
    }
  }

  bool is_sorted() const { return is_sorted_; }

  // The indices in order: of the nodes that can come next, the first one.
  std::vector<size_t> Sorted() {
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i] == 0) ready.push(i);
    }
    std::vector<size_t> order;
    std::vector<bool> placed(waiting_.size());
    while (!ready.empty()) {
      const size_t next = ready.top();
      ready.pop();
      order.push_back(next);
      placed[next] = true;
      for (const size_t user : users_[next]) {
        if (--waiting_[user] == 0) ready.push(user);
      }
    }
    for (size_t i = 0; i < placed.size(); ++i) {
      if (!placed[i]) order.push_back(i);
    }
    return order;
  }

 private:
  std::vector<size_t> waiting_;  // for how many operands
  std::vector<std::vector<size_t>> users_;
  bool is_sorted_ = true;
};

// False for the usual case, which needs no table of uses.
bool MayBeUnsorted(const Nodes& nodes) {
  LookupSet<std::string_view> used;
  bool unsorted = false;
  for (const NodeProto& node : nodes) {
    ForEachUse(node, [&](std::string_view name) { used.insert(name); });
    for (const std::string_view output : node.outputs)
      unsorted = unsorted || (!output.empty() && used.contains(output));
  }
  return unsorted;
}

void Sort(Nodes& nodes) {
  for (NodeProto& node : nodes) {
    for (AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) Sort(graph->nodes);
    }
  }
  if (!MayBeUnsorted(nodes)) return;
  NodeOrder order(nodes);
  if (order.is_sorted()) return;
  Nodes sorted;
  sorted.reserve(nodes.size());
  for (const size_t i : order.Sorted()) sorted.push_back(std::move(nodes[i]));
  nodes = std::move(sorted);
}

}  // namespace

void SortNodes(Model& model) {
  Sort(model.graph.nodes);
  for (FunctionProto& function : model.functions) Sort(function.nodes);
}

}  // namespace iropt::onnx
