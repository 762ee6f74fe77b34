#include "exchange/onnx/import/bind_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "iropt/support/edit_distance.h"

namespace iropt::onnx {

namespace {

class SizeBinder {
 public:
  SizeBinder(Model& model, DiagnosticEngine& diagnostics) : model_(model), diagnostics_(diagnostics) {}

  bool Run(const StatedSizes& sizes) {
    for (const auto& [name, dims] : sizes.shapes) BindInput(name, dims);
    for (const auto& [name, size] : sizes.symbols) Bind(name, size);
    if (ok_) BindGraph(model_.graph);
    for (const auto& [name, size] : sizes.symbols) {
      if (ok_ && !used_.contains(name)) Fail(DescribeUnknown(name));
    }
    return ok_;
  }

 private:
  void BindInput(const std::string& name, const std::vector<std::optional<int64_t>>& sizes) {
    const auto input = std::ranges::find(model_.graph.inputs, name, &ValueInfo::name);
    if (input == model_.graph.inputs.end()) {
      std::vector<std::string_view> names;
      for (const ValueInfo& known : model_.graph.inputs) names.push_back(known.name);
      return Fail(fmt::format("the model has no input '{}'{}", name, DidYouMeanOr("; it has ", name, names)));
    }
    ValueType& type = input->type;
    if (!type.has_shape) {
      type.has_shape = true;
      type.dims.resize(sizes.size());
    }
    if (type.dims.size() != sizes.size()) {
      return Fail(
          fmt::format("input '{}' has {} dimensions, and {} sizes are given", name, type.dims.size(), sizes.size()));
    }
    for (size_t i = 0; i < sizes.size(); ++i) {
      Dim& dim = type.dims[i];
      if (!sizes[i]) continue;
      if (dim.value && *dim.value != *sizes[i])
        return Fail(fmt::format("dimension {} of input '{}' is {}, not {}", i, name, *dim.value, *sizes[i]));
      if (!dim.param.empty()) Bind(std::string(dim.param), *sizes[i]);
      dim.value = *sizes[i];
    }
  }

  void Bind(const std::string& name, int64_t size) {
    const auto [known, added] = values_.emplace(name, size);
    if (!added && known->second != size)
      Fail(fmt::format("dimension '{}' has two sizes: {} and {}", name, known->second, size));
  }

  std::string DescribeUnknown(const std::string& name) const {
    const std::vector<std::string_view> known(unbound_.begin(), unbound_.end());
    return fmt::format("the model has no dimension '{}'{}", name, DidYouMeanOr("; it has ", name, known));
  }

  void BindGraph(GraphProto& graph) {
    for (auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
      for (ValueInfo& info : *infos) BindType(info.type);
    }
    for (NodeProto& node : graph.nodes) {
      for (AttributeProto& attribute : node.attributes) {
        for (const auto& inner : attribute.graphs) BindGraph(*inner);
      }
    }
  }

  void BindType(ValueType& type) {
    for (Dim& dim : type.dims) {
      if (dim.param.empty()) continue;
      const auto known = values_.find(dim.param);
      if (known == values_.end()) {
        unbound_.insert(dim.param);
        continue;
      }
      dim.value = known->second;
      dim.param = {};
      used_[known->first] = true;
    }
    for (ValueType& inner : type.inner) BindType(inner);
  }

  void Fail(const std::string& message) {
    if (ok_) diagnostics_.Error({}, "bad-input", message);
    ok_ = false;
  }

  Model& model_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, int64_t, std::less<>> values_;
  std::map<std::string, bool, std::less<>> used_;
  std::set<std::string_view> unbound_;  // the dimensions that have no size
  bool ok_ = true;
};

}  // namespace

bool BindSizes(Model& model, const StatedSizes& sizes, DiagnosticEngine& diagnostics) {
  return SizeBinder(model, diagnostics).Run(sizes);
}

}  // namespace iropt::onnx
