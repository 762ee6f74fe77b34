#include "exchange/onnx/export/inner_initializers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/onnx/export/external_data.h"
#include "exchange/onnx/tensors.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// Calls `visit` with each node, its graph, and whether that is the graph of a node.
template <class Visitor>
void ForEachNode(GraphProto& graph, bool is_inner, const Visitor& visit) {
  for (NodeProto& node : graph.nodes) {
    visit(node, graph, is_inner);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) ForEachNode(*inner, true, visit);
    }
  }
}

}  // namespace

void MoveOutputsInward(ExportedModel& exported) {
  GraphProto& graph = exported.model.graph;
  if (exported.model.ir_version < 4 || !HasInnerGraphs(graph)) return;
  struct Use {
    int count = 0;
    GraphProto* graph = nullptr;
    NodeProto* copy = nullptr;  // as an output
  };
  LookupMap<std::string_view, Use> uses;
  for (const TensorProto& tensor : graph.initializers) uses[tensor.name];
  ForEachNode(graph, false, [&](NodeProto& node, GraphProto& user, bool is_inner) {
    for (const std::string_view input : node.inputs) {
      Use* use = uses.Find(input);
      if (use == nullptr) continue;
      ++use->count;
      use->graph = &user;
      const bool is_copy = is_inner && node.op_type == "Identity" && node.domain.empty();
      if (is_copy && std::ranges::find(user.outputs, node.outputs[0], &ValueInfo::name) != user.outputs.end())
        use->copy = &node;
    }
  });
  std::vector<std::pair<GraphProto*, NodeProto*>> copies;
  exported.EraseInitializers([&](size_t i) {
    TensorProto& tensor = graph.initializers[i];
    const Use use = uses.Lookup(tensor.name);
    if (use.copy == nullptr || use.count != 1 || IsInOtherFile(exported.arrays[i])) return false;
    tensor.name = use.copy->outputs[0];
    use.graph->initializers.push_back(std::move(tensor));
    copies.emplace_back(use.graph, use.copy);
    return true;
  });
  for (const auto& [user, copy] : copies) copy->op_type = {};
  for (const auto& [user, copy] : copies)
    std::erase_if(user->nodes, [](const NodeProto& node) { return node.op_type.empty(); });
}

namespace {

class WeightMover {
 public:
  explicit WeightMover(ExportedModel& exported) : exported_(exported), rest_(exported.inner_bytes) {}

  void Run() {
    GraphProto& graph = exported_.model.graph;
    for (const TensorProto& tensor : graph.initializers) uses_[tensor.name].bits = BitsOf(tensor);
    ForEachNode(graph, false, [&](NodeProto& node, GraphProto& user, bool is_inner) {
      const Use* weights = node.op_type == "DequantizeLinear" ? uses_.Find(node.inputs[0]) : nullptr;
      const bool is_dequantized = is_inner && weights != nullptr && weights->bits > 0 && weights->bits <= 8;
      for (const std::string_view input : node.inputs) {
        Use* use = uses_.Find(input);
        if (use == nullptr) continue;
        std::vector<GraphProto*>& users = is_dequantized ? use->here : use->elsewhere;
        if (std::ranges::find(users, &user) == users.end()) users.push_back(&user);
      }
    });
    exported_.EraseInitializers([&](size_t i) { return Move(graph.initializers[i]); });
    if (!renames_.empty()) Rename();
  }

 private:
  // The graphs that use an initializer: to dequantize it, or what it is the scale of, and others.
  struct Use {
    int bits = 0;
    std::vector<GraphProto*> here;
    std::vector<GraphProto*> elsewhere;
  };
  struct NewName {
    const GraphProto* graph;
    std::string_view from;
    std::string_view to;
  };

  static int BitsOf(const TensorProto& tensor) {
    const std::optional<DataType> dtype = DataTypeOf(tensor.type);
    return dtype ? dtype->bits : 0;
  }

  // Returns whether the initializer itself moved.
  bool Move(TensorProto& tensor) {
    const Use& use = uses_.at(tensor.name);
    const bool stays = std::ranges::any_of(
        use.elsewhere, [&](GraphProto* graph) { return std::ranges::find(use.here, graph) == use.here.end(); });
    const size_t copies = use.here.size() - (stays || use.here.empty() ? 0 : 1);
    const uint64_t bytes = copies * (tensor.raw ? tensor.raw->size() : 0);
    if (use.here.empty() || bytes > rest_) return false;
    rest_ -= bytes;
    for (size_t i = use.here.size() - copies; i < use.here.size(); ++i) {
      GraphProto& graph = *use.here[i];
      TensorProto& copy = graph.initializers.emplace_back(tensor);
      copy.name = NewNameFor(tensor.name);
      renames_.push_back({&graph, tensor.name, copy.name});
    }
    if (!stays) use.here[0]->initializers.push_back(std::move(tensor));
    return !stays;
  }

  std::string_view NewNameFor(std::string_view name) {
    if (names_.empty()) {
      for (const TensorProto& tensor : exported_.model.graph.initializers) names_.insert(tensor.name);
      for (const ValueInfo& input : exported_.model.graph.inputs) names_.insert(input.name);
      ForEachNode(exported_.model.graph, false, [&](const NodeProto& node, const GraphProto& user, bool) {
        names_.InsertAll(node.outputs);
        for (const TensorProto& tensor : user.initializers) names_.insert(tensor.name);
        for (const ValueInfo& input : user.inputs) names_.insert(input.name);
      });
    }
    for (int suffix = 1;; ++suffix) {
      const std::string_view candidate = exported_.model.Keep(fmt::format("{}_{}", name, suffix));
      if (names_.insert(candidate)) return candidate;
    }
  }

  void Rename() {
    LookupMap<std::pair<const GraphProto*, std::string_view>, std::string_view> names;
    for (const NewName& name : renames_) names[{name.graph, name.from}] = name.to;
    ForEachNode(exported_.model.graph, false, [&](NodeProto& node, const GraphProto& user, bool) {
      for (std::string_view& input : node.inputs) {
        if (const auto* name = names.Find({&user, input})) input = *name;
      }
    });
  }

  ExportedModel& exported_;
  uint64_t rest_;  // bytes of copies
  LookupMap<std::string_view, Use> uses_;
  LookupSet<std::string_view> names_;
  std::vector<NewName> renames_;
};

}  // namespace

void MoveWeightsInward(ExportedModel& exported) {
  if (exported.model.ir_version >= 4 && HasInnerGraphs(exported.model.graph)) WeightMover(exported).Run();
}

}  // namespace iropt::onnx
