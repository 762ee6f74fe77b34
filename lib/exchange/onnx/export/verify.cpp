#include "exchange/onnx/export/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "exchange/onnx/export/convert_node.h"
#include "exchange/onnx/export/type_versions.h"
#include "exchange/onnx/node_places.h"
#include "exchange/onnx/tensors.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// The names that are seen, with their types as far as they are known.
class ScopeOfTypes {
 public:
  explicit ScopeOfTypes(const ScopeOfTypes* outer) : outer_(outer) {}

  bool Add(std::string_view name, const ValueType& type) {
    if (Find(name) != nullptr) return false;
    types_.try_emplace(name, type);
    return true;
  }
  const ValueType* Find(std::string_view name) const {
    const ValueType* found = types_.Find(name);
    return found || outer_ == nullptr ? found : outer_->Find(name);
  }

 private:
  const ScopeOfTypes* outer_;
  LookupMap<std::string_view, ValueType> types_;
};

ValueType TypeOf(const TensorProto& tensor) {
  ValueType type{.kind = ValueType::Kind::kTensor, .element = tensor.type, .has_shape = true};
  for (const int64_t dim : tensor.dims) type.dims.push_back({.value = dim});
  return type;
}

std::string PlaceOf(const NodeProto& node) {
  return fmt::format("the node of '{}' ({})", node.outputs.empty() ? "" : node.outputs.front(), QualifiedOp(node));
}

std::string ElementsOf(const ValueType& type) {
  return type.kind == ValueType::Kind::kTensor ? fmt::format("{} elements", NameOf(type.element)) : "elements";
}

// Operators whose operands have one type, with the first of them that does.
constexpr std::pair<std::string_view, size_t> kOfOneType[] = {
    {"Add", 0},           {"Concat", 0},      {"Conv", 0},
    {"ConvTranspose", 0}, {"Div", 0},         {"Equal", 0},
    {"Gemm", 0},          {"Greater", 0},     {"GreaterOrEqual", 0},
    {"Less", 0},          {"LessOrEqual", 0}, {"MatMul", 0},
    {"Max", 0},           {"Mean", 0},        {"Min", 0},
    {"Mod", 0},           {"Mul", 0},         {"PRelu", 0},
    {"Sub", 0},           {"Sum", 0},         {"Where", 1},
};

class GraphVerifier {
 public:
  GraphVerifier(const Model& model, std::span<const std::string_view> outputs, const LookupSet<std::string_view>& known)
      : opset_(model.OpsetOf("")), known_(known) {
    for (const std::string_view output : outputs) ++stated_outputs_[output];
  }

  // Returns whether all is right.
  bool Verify(const GraphProto& graph, const ScopeOfTypes* outer) {
    ScopeOfTypes scope(outer);
    LookupMap<std::string_view, ValueType> stated;
    for (const std::vector<ValueInfo>* infos : {&graph.value_infos, &graph.outputs}) {
      for (const ValueInfo& value : *infos) {
        if (!VerifyType(value)) return false;
        stated.try_emplace(value.name, value.type);
      }
    }
    for (const TensorProto& tensor : graph.initializers) {
      if (!VerifyTensor(tensor) || !Define(scope, tensor.name, TypeOf(tensor))) return false;
    }
    for (const ValueInfo& input : graph.inputs) {
      if (!VerifyType(input) || !Define(scope, input.name, input.type)) return false;
    }
    for (const NodeProto& node : graph.nodes) {
      if (!VerifyNode(node, scope)) return false;
      if (node.op_type == "If" && !VerifyResults(node, stated)) return false;
      for (const std::string_view output : node.outputs) {
        if (!output.empty() && !Define(scope, output, stated.Lookup(output))) return false;
      }
    }
    return VerifyOutputs(graph, scope);
  }

  std::optional<std::string> mistake() && { return std::move(mistake_); }

 private:
  bool Fail(std::string mistake) {
    mistake_ = std::move(mistake);
    return false;
  }

  bool Define(ScopeOfTypes& scope, std::string_view name, const ValueType& type) {
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

  bool VerifyOutputs(const GraphProto& graph, const ScopeOfTypes& scope) {
    LookupMap<std::string_view, int> times;
    for (const ValueInfo& output : graph.outputs) {
      if (scope.Find(output.name) == nullptr) return Fail(fmt::format("the output '{}' is not computed", output.name));
      if (++times[output.name] > std::max(1, stated_outputs_.Lookup(output.name)))
        return Fail(fmt::format("two outputs have the name '{}'", output.name));
    }
    return true;
  }

  bool VerifyTensor(const TensorProto& tensor) {
    ValueInfo value{.name = tensor.name, .type = TypeOf(tensor)};
    return VerifyType(value);
  }

  bool VerifyNode(const NodeProto& node, const ScopeOfTypes& scope) {
    for (const std::string_view input : node.inputs) {
      if (!input.empty() && scope.Find(input) == nullptr)
        return Fail(fmt::format("{}: the input '{}' is not defined before it", PlaceOf(node), input));
    }
    const bool has_places = node.op_type == "MaxPool" && node.outputs.size() > 1;
    const bool is_known = !IsOnnxDomain(node.domain) || known_.contains(node.op_type);
    const int since = is_known ? 1 : std::max(FirstVersionOf(node.op_type), has_places ? 8 : 1);
    if (since > opset_)
      return Fail(fmt::format("{} needs opset {} of ONNX, the model has {}", PlaceOf(node), since, opset_));
    for (const AttributeProto& attribute : node.attributes) {
      if (!VerifyAttribute(node, attribute, scope)) return false;
    }
    return VerifyTypes(node, scope);
  }

  bool VerifyAttribute(const NodeProto& node, const AttributeProto& attribute, const ScopeOfTypes& scope) {
    const bool is_dtype = attribute.name == "to" || attribute.name == "dtype";
    if (is_dtype && IsOnnxDomain(node.domain) && attribute.type == AttributeType::kInt && attribute.i == 0)
      return Fail(fmt::format("{}: the dtype of its result is not known", PlaceOf(node)));
    if (is_dtype && IsOnnxDomain(node.domain) && attribute.type == AttributeType::kInt && !node.outputs.empty()) {
      const ValueType result{.kind = ValueType::Kind::kTensor, .element = static_cast<ElementType>(attribute.i)};
      if (!VerifyType(node, node.outputs.front(), &result)) return false;
    }
    for (const TensorProto& tensor : attribute.tensors) {
      if (!VerifyTensor(tensor)) return false;
    }
    return std::ranges::all_of(attribute.graphs, [&](const auto& graph) { return Verify(*graph, &scope); });
  }

  bool VerifyResults(const NodeProto& node, const LookupMap<std::string_view, ValueType>& stated) {
    return std::ranges::all_of(node.outputs,
                               [&](std::string_view output) { return VerifyType(node, output, stated.Find(output)); });
  }

  bool VerifyType(const NodeProto& node, std::string_view value, const ValueType* type) {
    const int since = type == nullptr ? 0 : FirstVersionWith(node.op_type, *type);
    return since <= opset_ || Fail(fmt::format("{}: {} of '{}' need opset {} of ONNX, the model has {}", PlaceOf(node),
                                               ElementsOf(*type), value, since, opset_));
  }

  // The operators of older sets take fewer types.
  bool VerifyTypes(const NodeProto& node, const ScopeOfTypes& scope) {
    if (!IsOnnxDomain(node.domain)) return true;
    for (const std::string_view input : node.inputs) {
      if (!VerifyType(node, input, scope.Find(input))) return false;
      if (FirstInputDecides(node.op_type)) break;
    }
    return VerifyOneType(node, scope);
  }

  bool VerifyOneType(const NodeProto& node, const ScopeOfTypes& scope) {
    const auto row = std::ranges::find(kOfOneType, node.op_type, &std::pair<std::string_view, size_t>::first);
    if (row == std::end(kOfOneType)) return true;
    const ValueType* first = nullptr;
    for (size_t i = row->second; i < node.inputs.size(); ++i) {
      const ValueType* type = node.inputs[i].empty() ? nullptr : scope.Find(node.inputs[i]);
      if (type == nullptr || type->kind != ValueType::Kind::kTensor || type->element == ElementType::kUndefined)
        continue;
      if (first != nullptr && first->element != type->element)
        return Fail(fmt::format("{}: its operands are of {} and {}", PlaceOf(node), NameOf(first->element),
                                NameOf(type->element)));
      if (first == nullptr) first = type;
    }
    return true;
  }

  const int64_t opset_;
  const LookupSet<std::string_view>& known_;
  LookupMap<std::string_view, int> stated_outputs_;
  std::optional<std::string> mistake_;
};

}  // namespace

std::optional<std::string> FindMistake(const Model& model, std::span<const std::string_view> outputs,
                                       const LookupSet<std::string_view>& known) {
  GraphVerifier verifier(model, outputs, known);
  if (verifier.Verify(model.graph, nullptr)) return std::nullopt;
  return std::move(verifier).mistake();
}

}  // namespace iropt::onnx
