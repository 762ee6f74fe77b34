#include "exchange/onnx/import/local_functions.h"

#include <algorithm>

#include "iropt/support/stack.h"

namespace iropt::onnx {

LocalFunctions::LocalFunctions(const Model& model) {
  for (const FunctionProto& function : model.functions)
    functions_.emplace(KeyOf(function.domain, function.name, function.overload), &function);
}

LocalFunctions::Key LocalFunctions::KeyOf(std::string_view domain, std::string_view name, std::string_view overload) {
  return {IsOnnxDomain(domain) ? std::string_view() : domain, name, overload};
}

const FunctionProto* LocalFunctions::Find(const NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(KeyOf(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

void LocalFunctions::CountNodes(const std::vector<NodeProto>& nodes, uint64_t& count) {
  for (const NodeProto& node : nodes) {
    const FunctionProto* callee = Find(node);
    count = std::min(kMostNodes, count + (callee ? FactsOf(*callee).nodes : 0)) + 1;
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& graph : attribute.graphs) WithStack([&] { CountNodes(graph->nodes, count); });
    }
  }
}

LocalFunctions::Facts LocalFunctions::FactsOf(const FunctionProto& function) {
  if (const Facts* known = facts_.Find(&function)) return *known;
  facts_[&function] = {};
  return WithStack([&] {
    Facts facts;
    facts.has_conditional =
        std::ranges::any_of(function.nodes, [&](const NodeProto& node) { return HasConditional(node); });
    CountNodes(function.nodes, facts.nodes);
    return facts_[&function] = facts;
  });
}

bool LocalFunctions::HasConditional(const NodeProto& node) {
  if (IsOnnxDomain(node.domain) && node.op_type == "If") return true;
  const FunctionProto* function = Find(node);
  return function != nullptr && FactsOf(*function).has_conditional;
}

bool LocalFunctions::Expand(const FunctionProto& function) {
  expanded_ += FactsOf(function).nodes;
  return expanded_ <= kMostNodes;
}

namespace {

class NodesOfCalls {
 public:
  explicit NodesOfCalls(const Model& model) : functions_(model) {}

  uint64_t Of(const std::vector<NodeProto>& nodes) {
    constexpr uint64_t kMost = uint64_t{1} << 40;
    uint64_t count = 0;
    for (const NodeProto& node : nodes) {
      const FunctionProto* callee = functions_.Find(node);
      if (callee != nullptr || node.op_type != "Constant") count += callee ? Of(*callee) : 1;
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& graph : attribute.graphs) WithStack([&] { count += Of(graph->nodes); });
      }
      count = std::min(count, kMost);
    }
    return count;
  }

 private:
  // That of a function that calls itself is 0 in there.
  uint64_t Of(const FunctionProto& function) {
    if (const uint64_t* known = counts_.Find(&function)) return *known;
    counts_[&function] = 0;
    const uint64_t count = WithStack([&] { return Of(function.nodes); });
    return counts_[&function] = count;
  }

  LocalFunctions functions_;
  LookupMap<const FunctionProto*, uint64_t> counts_;
};

}  // namespace

uint64_t CountNodes(const Model& model) { return NodesOfCalls(model).Of(model.graph.nodes); }

}  // namespace iropt::onnx
