#include "exchange/onnx/export/finish_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <protozero/varint.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exchange/onnx/encode.h"
#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/rename_values.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

constexpr size_t kSmallConstant = 64;         // bytes of constants that may be there several times
constexpr size_t kMovedConstant = 64 * 1024;  // bytes of constants that may move into a node
constexpr size_t kMostCopied = 1024;          // bytes of all constants that are there for several outputs

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

namespace {

const std::vector<int64_t>* PermOf(const NodeProto& node) {
  if (node.op_type != "Transpose" || !node.domain.empty() || node.attributes.size() != 1) return nullptr;
  return &node.attributes[0].ints;
}

void CancelTransposes(GraphProto& graph, const Renames& outer) {
  Renames same = outer;
  LookupMap<std::string_view, const NodeProto*> transposes;  // by results
  for (NodeProto& node : graph.nodes) {
    for (std::string_view& input : node.inputs) {
      if (const auto* before = same.Find(input)) input = *before;
    }
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) CancelTransposes(*inner, same);
    }
    const std::vector<int64_t>* perm = PermOf(node);
    if (perm == nullptr) continue;
    transposes[node.outputs[0]] = &node;
    const NodeProto* const* first = transposes.Find(node.inputs[0]);
    if (first == nullptr || !(node.is_step || (*first)->is_step)) continue;
    const std::vector<int64_t>& before = *PermOf(**first);
    bool cancels = before.size() == perm->size();
    for (size_t i = 0; cancels && i < perm->size(); ++i) {
      const auto axis = static_cast<size_t>((*perm)[i]);
      cancels = axis < before.size() && before[axis] == static_cast<int64_t>(i);
    }
    if (cancels) same[node.outputs[0]] = (*first)->inputs[0];
  }
}

}  // namespace

void CancelTransposes(GraphProto& graph) { CancelTransposes(graph, {}); }

namespace {

// What a node computes: nothing for one that has a graph, gives several values, or random ones.
std::optional<std::string> KeyOf(const NodeProto& node) {
  constexpr std::string_view kRandom[] = {"Bernoulli",     "Dropout",          "Multinomial",      "RandomNormal",
                                          "RandomUniform", "RandomNormalLike", "RandomUniformLike"};
  if (!node.domain.empty() || node.outputs.size() != 1 || std::ranges::find(kRandom, node.op_type) != std::end(kRandom))
    return std::nullopt;
  // Lists and texts have their sizes, since names may have any characters.
  std::string key;
  const auto add_text = [&](std::string_view text) { key += fmt::format("{} {} ", text.size(), text); };
  const auto add_all = [&](const auto& numbers) {
    key += fmt::format("{} ", numbers.size());
    for (const auto number : numbers) key += fmt::format("{} ", number);
  };
  const auto add_texts = [&](const auto& texts) {
    key += fmt::format("{} ", texts.size());
    for (const std::string_view text : texts) add_text(text);
  };
  add_text(node.op_type);
  add_texts(node.inputs);
  for (const AttributeProto& a : node.attributes) {
    if (!a.graphs.empty() || !a.tensors.empty() || !a.sparse_tensors.empty() || !a.types.empty()) return std::nullopt;
    add_text(a.name);
    key += fmt::format("{} {} ", a.f, a.i);
    add_text(a.s);
    add_all(a.floats);
    add_all(a.ints);
    add_texts(a.strings);
  }
  return key;
}

// `better` gets the names that values of later nodes had, for the ones that take their places.
void MergeEqualNodes(GraphProto& graph, const Renames& outer, Renames& better) {
  Renames same = outer;
  std::unordered_map<std::string, size_t> first_nodes;
  LookupSet<std::string_view> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.insert(output.name);
  const auto rename = [&](std::string_view& name) {
    if (const auto* first = same.Find(name)) name = *first;
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    NodeProto& node = graph.nodes[i];
    for (std::string_view& input : node.inputs) rename(input);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) MergeEqualNodes(*inner, same, better);
    }
    const std::optional<std::string> key = KeyOf(node);
    if (!key) continue;
    const auto [place, is_new] = first_nodes.emplace(*key, i);
    if (is_new) continue;
    NodeProto& first = graph.nodes[place->second];
    const bool is_output = outputs.contains(node.outputs[0]);
    const bool first_is_better = !first.name.empty() || outputs.contains(first.outputs[0]);
    if (first_is_better && (!node.name.empty() || is_output)) continue;
    if (!first_is_better && (!node.name.empty() || is_output)) {
      first.name = std::exchange(node.name, {});
      first.doc = node.doc;
      first.metadata = std::move(node.metadata);
      // The node that nothing uses gets the other name, so that each is there once.
      better[first.outputs[0]] = node.outputs[0];
      better[node.outputs[0]] = first.outputs[0];
      if (is_output) outputs.insert(first.outputs[0]);
    }
    same[node.outputs[0]] = first.outputs[0];
  }
  for (ValueInfo& output : graph.outputs) rename(output.name);
}

// The tensors int64[n] of consecutive numbers from 0 up, by their names: the first number and the one after the last.
using Ranges = LookupMap<std::string_view, std::pair<int64_t, int64_t>>;

Ranges RangesIn(const GraphProto& graph) {
  constexpr int64_t kMostDims = 64;
  Ranges ranges;
  for (const TensorProto& tensor : graph.initializers) {
    if (tensor.type != ElementType::kInt64 || tensor.dims.size() != 1 || tensor.dims[0] < 1 ||
        tensor.dims[0] > kMostDims || !tensor.raw)
      continue;
    std::vector<int64_t> numbers(static_cast<size_t>(tensor.dims[0]));
    if (tensor.raw->size() != numbers.size() * sizeof(int64_t)) continue;
    std::memcpy(numbers.data(), tensor.raw->data(), tensor.raw->size());
    bool is_range = numbers[0] >= 0;
    for (size_t i = 1; i < numbers.size(); ++i) is_range = is_range && numbers[i] == numbers[i - 1] + 1;
    if (is_range) ranges[tensor.name] = {numbers.front(), numbers.back() + 1};
  }
  return ranges;
}

void TakePartsOfShapes(GraphProto& graph, const Ranges& ranges, const NodeUses& uses) {
  LookupMap<std::string_view, std::string_view> operand_of;  // by shapes
  LookupMap<std::string_view, int> parts;                    // that are taken of them
  const auto is_part = [&](const NodeProto& node) {
    return node.op_type == "Gather" && node.domain.empty() && operand_of.contains(node.inputs[0]) &&
           ranges.contains(node.inputs[1]);
  };
  for (const NodeProto& node : graph.nodes) {
    if (node.op_type == "Shape" && node.domain.empty() && node.attributes.empty())
      operand_of[node.outputs[0]] = node.inputs[0];
    if (is_part(node)) ++parts[node.inputs[0]];
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) TakePartsOfShapes(*inner, ranges, uses);
    }
  }
  for (NodeProto& node : graph.nodes) {
    if (!is_part(node) || parts.Lookup(node.inputs[0]) != uses.NumUses(node.inputs[0])) continue;
    const auto [first, last] = *ranges.Find(node.inputs[1]);
    node.op_type = "Shape";
    node.inputs = {*operand_of.Find(node.inputs[0])};
    node.attributes = {IntAttribute("end", last)};
    if (first != 0) node.attributes.push_back(IntAttribute("start", first));
  }
}

}  // namespace

void TakePartsOfShapes(GraphProto& graph) {
  const Ranges ranges = RangesIn(graph);
  if (ranges.empty()) return;
  NodeUses uses;
  uses.CountUses(graph);
  TakePartsOfShapes(graph, ranges, uses);
}

void RemoveDeadNodes(ExportedModel& model) {
  NodeUses uses;
  GraphProto& graph = model.model.graph;
  uses.Run(graph);
  model.EraseInitializers([&](size_t i) { return !uses.IsUsed(graph.initializers[i].name); });
}

void MergeEqualNodes(GraphProto& graph) {
  Renames better;
  MergeEqualNodes(graph, {}, better);
  RenameValues(better, graph);
}

namespace {

void TidyValueInfos(GraphProto& graph) {
  LookupSet<std::string_view> seen;
  for (const ValueInfo& input : graph.inputs) seen.insert(input.name);
  for (const ValueInfo& output : graph.outputs) seen.insert(output.name);
  std::ranges::reverse(graph.value_infos);
  std::erase_if(graph.value_infos, [&](const ValueInfo& info) { return !seen.insert(info.name); });
  std::ranges::reverse(graph.value_infos);
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) TidyValueInfos(*inner);
    }
  }
}

// Leaves the first descriptions, which take this many bytes at most.
void ShortenValueInfos(GraphProto& graph, uint64_t& rest) {
  std::erase_if(graph.value_infos, [&](const ValueInfo& info) {
    const uint64_t size = rest > 0 ? SizeOfInfos(std::span(&info, 1)) : 1;
    if (size > rest) return true;
    rest -= size;
    return false;
  });
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) ShortenValueInfos(*inner, rest);
    }
  }
}

}  // namespace

namespace {

// Leaves the first shapes of inputs and outputs, which take this many bytes at most.
void ShortenShapes(GraphProto& graph, uint64_t& rest) {
  for (std::vector<ValueInfo>* infos : {&graph.inputs, &graph.outputs}) {
    for (ValueInfo& info : *infos) {
      const uint64_t size = SizeOfShape(info);
      if (size > rest) {
        info.type.has_shape = false;
        info.type.dims.clear();
      } else {
        rest -= size;
      }
    }
  }
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) ShortenShapes(*inner, rest);
    }
  }
}

}  // namespace

void TidyShapes(Model& model, uint64_t given) {
  constexpr uint64_t kMost = 192;
  constexpr uint64_t kShare = 400;
  const uint64_t room = kMost + EncodedSize(model) / kShare;
  if (given >= UINT64_MAX - room || SizeOfShapes(model.graph) <= given + room) return;
  uint64_t rest = given + room;
  ShortenShapes(model.graph, rest);
}

void TidyValueInfos(Model& model, uint64_t given) {
  TidyValueInfos(model.graph);
  const uint64_t infos = SizeOfInfos(model.graph);
  // Constants may make the file grow by the rest of 1 kB and a percent, see FormatRow::max_constant_growth.
  constexpr uint64_t kMost = 64;
  constexpr uint64_t kShare = 400;
  const uint64_t room = kMost + (EncodedSize(model) - infos) / kShare;
  if (infos <= room || infos - room <= given) return;
  uint64_t rest = given == 0 ? 0 : given + room;
  ShortenValueInfos(model.graph, rest);
}

void MakeConstantNodes(ExportedModel& exported) {
  const Model& model = exported.model;
  if (model.ir_version >= 4) return;
  GraphProto& graph = exported.model.graph;
  NodeUses uses;
  uses.CountUses(graph);
  size_t spare = exported.merged_bytes;
  LookupMap<std::string_view, const TensorProto*> small;
  for (const TensorProto& tensor : graph.initializers) {
    const auto uses_of_it = static_cast<size_t>(uses.NumUses(tensor.name));
    const size_t size = tensor.raw ? tensor.raw->size() : 0;
    const bool is_small = size <= (uses_of_it == 1 ? kMovedConstant : kSmallConstant);
    if (!tensor.raw || (!is_small && (uses_of_it - 1) * size > spare)) continue;
    if (!is_small) spare -= (uses_of_it - 1) * size;
    small[tensor.name] = &tensor;
  }
  for (NodeProto& node : graph.nodes) {
    const auto* constant = node.op_type == "Identity" && node.domain.empty() ? small.Find(node.inputs[0]) : nullptr;
    if (constant == nullptr) continue;
    node.op_type = "Constant";
    node.attributes = {TensorAttribute("value", **constant)};
    node.inputs.clear();
  }
}

void NameOutputs(ExportedModel& exported) {
  const Model& model = exported.model;
  GraphProto& graph = exported.model.graph;
  const size_t most_copied = kMostCopied + exported.merged_bytes;
  LookupMap<std::string_view, size_t> small;  // constants
  LookupSet<std::string_view> outputs;
  LookupSet<std::string_view> kept;  // their names
  for (const ValueInfo& output : graph.outputs) outputs.insert(output.name);
  for (const ValueInfo& input : graph.inputs) kept.insert(input.name);
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const TensorProto& tensor = graph.initializers[i];
    if (model.ir_version < 4)
      kept.insert(tensor.name);
    else if (tensor.raw && tensor.raw->size() <= most_copied)
      small[tensor.name] = i;
  }
  Renames renames;
  size_t copied = 0;
  std::erase_if(graph.nodes, [&](const NodeProto& node) {
    if (node.op_type != "Identity" || !node.domain.empty() || !outputs.contains(node.outputs[0])) return false;
    const std::string_view value = node.inputs[0];
    if (kept.contains(value)) return false;
    if (!outputs.contains(value) && !renames.contains(value)) {
      renames[value] = node.outputs[0];
      return true;
    }
    const size_t* constant = small.Find(value);
    if (constant == nullptr) return false;
    const size_t size = graph.initializers[*constant].raw->size();
    if (size > kSmallConstant && copied + size > most_copied) return false;
    copied += size;
    graph.initializers.push_back(graph.initializers[*constant]);
    graph.initializers.back().name = node.outputs[0];
    exported.arrays.push_back(exported.arrays[*constant]);
    return true;
  });
  RenameValues(renames, graph);
}

namespace {

constexpr size_t kLeastListed = 1024;  // bytes

// Bytes of the integers as numbers of variable lengths.
template <class T>
size_t ListedSize(const std::vector<T>& numbers) {
  size_t size = 0;
  for (const T number : numbers)
    size += static_cast<size_t>(protozero::length_of_varint(static_cast<uint64_t>(static_cast<int64_t>(number))));
  return size;
}

template <class T>
void ListIfSmaller(TensorProto& tensor) {
  std::vector<T> numbers(tensor.raw->size() / sizeof(T));
  std::memcpy(numbers.data(), tensor.raw->data(), numbers.size() * sizeof(T));
  if (ListedSize(numbers) >= tensor.raw->size()) return;
  tensor.ints.assign(numbers.begin(), numbers.end());
  tensor.raw.reset();
}

}  // namespace

void ListSmallIntegers(ExportedModel& exported) {
  for (size_t i = 0; i < exported.arrays.size(); ++i) {
    TensorProto& tensor = exported.model.graph.initializers[i];
    const NDArray* array = exported.arrays[i];
    if (!tensor.raw || tensor.raw->size() < kLeastListed || (array != nullptr && array->source() != nullptr)) continue;
    if (tensor.type == ElementType::kInt64) ListIfSmaller<int64_t>(tensor);
    if (tensor.type == ElementType::kInt32) ListIfSmaller<int32_t>(tensor);
  }
}

}  // namespace iropt::onnx
