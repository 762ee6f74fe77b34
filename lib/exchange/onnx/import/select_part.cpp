#include "exchange/onnx/import/select_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/rename_values.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

class PartSelector {
 public:
  PartSelector(Model& model, DiagnosticEngine& diagnostics)
      : model_(model), graph_(model.graph), diagnostics_(diagnostics) {
    for (const std::vector<ValueInfo>* infos : {&graph_.inputs, &graph_.outputs, &graph_.value_infos}) {
      for (const ValueInfo& info : *infos) infos_.try_emplace(info.name, info);
    }
    for (const ValueInfo& input : graph_.inputs) values_.insert(input.name);
    for (const TensorProto& tensor : graph_.initializers) constants_.insert(tensor.name);
    for (const SparseTensorProto& tensor : graph_.sparse_initializers) constants_.insert(tensor.values.name);
    for (const NodeProto& node : graph_.nodes) values_.InsertAll(node.outputs);
  }

  bool Rename(const std::vector<std::string>& renames) {
    Renames names;
    for (const std::string& rename : renames) {
      const size_t sign = rename.find('=');
      if (sign == std::string::npos || sign == 0 || sign + 1 == rename.size())
        return Fail(fmt::format("invalid name '{}' (-onnx-rename): expected OLD=NEW", rename));
      const std::string_view old_name = model_.Keep(rename.substr(0, sign));
      const std::string_view new_name = model_.Keep(rename.substr(sign + 1));
      if (!Has(old_name)) return false;
      if (values_.contains(new_name) || constants_.contains(new_name))
        return Fail(fmt::format("the model has a value '{}' already (-onnx-rename)", new_name));
      names[old_name] = new_name;
    }
    RenameValues(names, graph_);
    return true;
  }

  bool Select(const GraphPart& part) {
    for (const std::vector<std::string>* names : {&part.inputs, &part.outputs}) {
      if (!std::ranges::all_of(*names, [&](const std::string& name) { return Has(name); })) return false;
    }
    if (!part.outputs.empty()) graph_.outputs = Describe(part.outputs);
    if (!part.inputs.empty()) {
      std::vector<ValueInfo> inputs = Describe(part.inputs);
      for (const ValueInfo& input : inputs) {
        if (input.type.kind == ValueType::Kind::kNone)
          return Fail(fmt::format(
              "the type of '{}' is not known (-onnx-inputs): -infer-shapes=on writes a model that has all types",
              input.name));
      }
      listed_ = &part.inputs;
      graph_.inputs = std::move(inputs);
    }
    return Reduce();
  }

 private:
  bool Fail(std::string message) {
    diagnostics_.Error({}, "bad-model", std::move(message));
    return false;
  }

  bool Has(std::string_view name) {
    if (values_.contains(name) || constants_.contains(name)) return true;
    std::vector<std::string_view> known;
    for (const LookupSet<std::string_view>* names : {&values_, &constants_})
      names->ForEachInAnyOrder([&known](std::string_view value) { known.push_back(value); });
    std::ranges::sort(known);
    return Fail(fmt::format("the model has no value '{}'{}", name, DidYouMean(name, known)));
  }

  std::vector<ValueInfo> Describe(const std::vector<std::string>& names) {
    std::vector<ValueInfo> infos;
    for (const std::string& name : names) {
      const ValueInfo* known = infos_.Find(name);
      infos.push_back(known ? *known : ValueInfo{.name = model_.Keep(name)});
    }
    return infos;
  }

  // Keeps the nodes that the outputs need, from the inputs on.
  bool Reduce() {
    LookupSet<std::string_view> inputs;
    for (const ValueInfo& input : graph_.inputs) inputs.insert(input.name);
    std::unordered_map<std::string_view, size_t> makers;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string_view output : graph_.nodes[i].outputs) makers.emplace(output, i);
    }
    std::vector<bool> is_needed(graph_.nodes.size());
    LookupSet<std::string_view> used;
    std::vector<std::string_view> open;
    for (const ValueInfo& output : graph_.outputs) open.push_back(output.name);
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      if (name.empty() || !used.insert(name) || inputs.contains(name) || constants_.contains(name)) continue;
      const auto maker = makers.find(name);
      if (maker == makers.end())
        return Fail(fmt::format("the outputs need the input '{}', which is not listed (-onnx-inputs)", name));
      if (is_needed[maker->second]) continue;
      is_needed[maker->second] = true;
      const NodeProto& node = graph_.nodes[maker->second];
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& inner : attribute.graphs) {
          const std::vector<std::string_view> free = FreeNames(*inner);
          open.insert(open.end(), free.begin(), free.end());
        }
      }
    }
    // A node that is needed for another of its outputs does not define an input again.
    for (NodeProto& node : graph_.nodes) {
      for (std::string_view& output : node.outputs) {
        if (inputs.contains(output)) output = {};
      }
    }
    size_t next = 0;
    std::erase_if(graph_.nodes, [&](const NodeProto&) { return !is_needed[next++]; });
    if (listed_ == nullptr) std::erase_if(graph_.inputs, [&](const ValueInfo& i) { return !used.contains(i.name); });
    return true;
  }

  Model& model_;
  GraphProto& graph_;
  DiagnosticEngine& diagnostics_;
  LookupMap<std::string_view, ValueInfo> infos_;
  LookupSet<std::string_view> values_;
  LookupSet<std::string_view> constants_;
  const std::vector<std::string>* listed_ = nullptr;  // the inputs that are named
};

}  // namespace

bool SelectPart(Model& model, const GraphPart& part, DiagnosticEngine& diagnostics) {
  if (!part.renames.empty() && !PartSelector(model, diagnostics).Rename(part.renames)) return false;
  if (part.inputs.empty() && part.outputs.empty()) return true;
  return PartSelector(model, diagnostics).Select(part);
}

}  // namespace iropt::onnx
