#include "exchange/onnx/export/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/type_versions.h"
#include "exchange/onnx/node_places.h"
#include "exchange/onnx/tensors.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// The names that are seen, with the types of their elements; kUndefined where they are not known.
class ScopeOfTypes {
 public:
  explicit ScopeOfTypes(const ScopeOfTypes* outer) : outer_(outer) {}

  bool Add(std::string_view name, ElementType type) {
    if (Find(name) != nullptr) return false;
    types_.try_emplace(name, type);
    return true;
  }
  const ElementType* Find(std::string_view name) const {
    const ElementType* found = types_.Find(name);
    return found || outer_ == nullptr ? found : outer_->Find(name);
  }

 private:
  const ScopeOfTypes* outer_;
  LookupMap<std::string_view, ElementType> types_;
};

std::string PlaceOf(const NodeProto& node) {
  return fmt::format("the node of '{}' ({})", node.outputs.empty() ? "" : node.outputs.front(), QualifiedOp(node));
}

class GraphVerifier {
 public:
  explicit GraphVerifier(const Model& model) : opset_(model.OpsetOf("")) {}

  // Returns whether all is right.
  bool Verify(const GraphProto& graph, const ScopeOfTypes* outer) {
    ScopeOfTypes scope(outer);
    LookupMap<std::string_view, ElementType> stated;
    for (const std::vector<ValueInfo>* infos : {&graph.value_infos, &graph.outputs}) {
      for (const ValueInfo& value : *infos) {
        if (!VerifyType(value)) return false;
        stated.try_emplace(value.name, value.type.element);
      }
    }
    for (const TensorProto& tensor : graph.initializers) {
      if (!VerifyTensor(tensor) || !Define(scope, tensor.name, tensor.type)) return false;
    }
    for (const ValueInfo& input : graph.inputs) {
      if (!VerifyType(input) || !Define(scope, input.name, input.type.element)) return false;
    }
    for (const NodeProto& node : graph.nodes) {
      if (!VerifyNode(node, scope)) return false;
      for (const std::string_view output : node.outputs) {
        if (!output.empty() && !Define(scope, output, stated.Lookup(output))) return false;
      }
    }
    const auto undefined = std::ranges::find_if(
        graph.outputs, [&](const ValueInfo& output) { return scope.Find(output.name) == nullptr; });
    return undefined == graph.outputs.end() || Fail(fmt::format("the output '{}' is not computed", undefined->name));
  }

  std::optional<std::string> mistake() && { return std::move(mistake_); }

 private:
  bool Fail(std::string mistake) {
    mistake_ = std::move(mistake);
    return false;
  }

  bool Define(ScopeOfTypes& scope, std::string_view name, ElementType type) {
    return scope.Add(name, type) || Fail(fmt::format("two values have the name '{}'", name));
  }

  bool VerifyType(const ValueInfo& value) {
    if (value.type.kind == ValueType::Kind::kTensor && value.type.element == ElementType::kUndefined)
      return Fail(fmt::format("the dtype of '{}' is not known", value.name));
    for (const Dim& dim : value.type.dims) {
      if (dim.value && *dim.value < 0)
        return Fail(fmt::format("a dimension of '{}' is negative: {}", value.name, *dim.value));
    }
    return true;
  }

  bool VerifyTensor(const TensorProto& tensor) {
    ValueInfo value{.name = tensor.name};
    value.type.kind = ValueType::Kind::kTensor;
    value.type.element = tensor.type;
    for (const int64_t dim : tensor.dims) value.type.dims.push_back({.value = dim});
    return VerifyType(value);
  }

  bool VerifyNode(const NodeProto& node, const ScopeOfTypes& scope) {
    for (const std::string_view input : node.inputs) {
      if (!input.empty() && scope.Find(input) == nullptr)
        return Fail(fmt::format("{}: the input '{}' is not defined before it", PlaceOf(node), input));
    }
    for (const AttributeProto& attribute : node.attributes) {
      if (!VerifyAttribute(node, attribute, scope)) return false;
    }
    return VerifyTypes(node, scope);
  }

  bool VerifyAttribute(const NodeProto& node, const AttributeProto& attribute, const ScopeOfTypes& scope) {
    const bool is_dtype = attribute.name == "to" || attribute.name == "dtype";
    if (is_dtype && IsOnnxDomain(node.domain) && attribute.type == AttributeType::kInt && attribute.i == 0)
      return Fail(fmt::format("{}: the dtype of its result is not known", PlaceOf(node)));
    for (const TensorProto& tensor : attribute.tensors) {
      if (!VerifyTensor(tensor)) return false;
    }
    return std::ranges::all_of(attribute.graphs, [&](const auto& graph) { return Verify(*graph, &scope); });
  }

  // The operators of older sets take fewer types.
  bool VerifyTypes(const NodeProto& node, const ScopeOfTypes& scope) {
    if (!IsOnnxDomain(node.domain)) return true;
    for (const std::string_view input : node.inputs) {
      const ElementType* type = scope.Find(input);
      const int since = type == nullptr ? 0 : FirstVersionWith(node.op_type, *type);
      if (since > opset_) {
        return Fail(fmt::format("{}: {} elements of '{}' need opset {} of ONNX, the model has {}", PlaceOf(node),
                                NameOf(*type), input, since, opset_));
      }
      if (FirstInputDecides(node.op_type)) break;
    }
    return true;
  }

  const int64_t opset_;
  std::optional<std::string> mistake_;
};

}  // namespace

std::optional<std::string> FindMistake(const Model& model) {
  GraphVerifier verifier(model);
  if (verifier.Verify(model.graph, nullptr)) return std::nullopt;
  return std::move(verifier).mistake();
}

}  // namespace iropt::onnx
