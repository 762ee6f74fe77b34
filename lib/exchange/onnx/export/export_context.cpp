#include "exchange/onnx/export/export_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/packed_elements.h"
#include "exchange/onnx/import/import.h"
#include "exchange/onnx/node_places.h"
#include "exchange/onnx/tensors.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/support/identifier.h"

namespace iropt::onnx {

namespace {

// Arrays of more bytes are the same constant only if they are the same bytes of memory.
constexpr size_t kMostToCompare = size_t{1} << 16;

bool IsSameConstant(const NDArray& a, const NDArray& b) {
  if (a.dtype() != b.dtype() || !std::ranges::equal(a.shape(), b.shape())) return false;
  return a.data() == b.data() || (a.num_bytes() <= kMostToCompare && a == b);
}

uint64_t KeyOf(const NDArray& array) {
  return array.num_bytes() <= kMostToCompare ? array.Hash() : reinterpret_cast<uintptr_t>(array.data());
}

}  // namespace

std::string_view ExportContext::Unique(std::string_view hint) {
  const std::string base(hint.empty() ? "v" : hint);
  if (Take(base)) return *names_.find(base);
  size_t& suffix = suffixes_[base];
  for (;;) {
    const std::string name = fmt::format("{}_{}", base, ++suffix);
    if (Take(name)) return *names_.find(name);
  }
}

// The node whose value it is, of what several nodes became.
static Span FirstPart(Span span) {
  const SourceSpan first = PartsOf(Location(span)).front();
  return Span::Of(first.begin, first.end);
}

std::string_view ExportContext::NameOfOutput(Span span, std::string_view hint) {
  const NodeNote* note = notes_.Find(FirstPart(span));
  if (note != nullptr) {
    const auto output = std::ranges::find_if(
        note->outputs, [&](const std::string& name) { return !name.empty() && IdentifierFor(name) == hint; });
    if (output != note->outputs.end() && Take(*output)) return *names_.find(*output);
  }
  return Unique(hint);
}

std::string_view ExportContext::NameOfOutput(Span span, size_t output, std::string_view hint) {
  const NodeNote* note = notes_.Find(FirstPart(span));
  const bool is_named = note != nullptr && output < note->outputs.size() && !note->outputs[output].empty();
  return is_named && Take(note->outputs[output]) ? *names_.find(note->outputs[output]) : Unique(hint);
}

void ExportContext::Annotate(NodeProto& node, const NodeNote& note) {
  for (const auto& [key, value] : note.metadata) {
    const auto known = std::ranges::find(node.metadata, std::string_view(key), &Property::first);
    if (known == node.metadata.end()) {
      node.metadata.emplace_back(model().Keep(key), model().Keep(value));
    } else if (known->second.find(value) == std::string_view::npos) {
      // A node that stands for several has what they had.
      known->second = model().Keep(fmt::format("{}\n{}", known->second, value));
    }
  }
  if (node.doc.empty()) node.doc = model().Keep(note.doc);
}

// Returns whether a node is what one of the other operator became, with the same inputs but for the form of the weight.
static bool StandsFor(const NodeProto& node, std::string_view op) {
  const std::string own = QualifiedOp(node);
  return own == op || (own == "com.microsoft.MatMulNBits" && (op == "MatMul" || op == "Gemm"));
}

void ExportContext::NameNode(std::span<NodeProto> nodes, Span span) {
  if (sources_ == nullptr || !span.known()) return;
  if (IsJoint(Location(span))) {
    for (const SourceSpan part : PartsOf(Location(span))) NameNode(nodes, Span::Of(part.begin, part.end));
    return;
  }
  if (const NodeNote* note = notes_.Find(span)) {
    for (NodeProto& node : nodes) Annotate(node, *note);
  }
  const std::optional<NodePlace> place = PlaceAt(span, *sources_);
  if (!place || node_names_.contains(place->name)) return;
  // The last one computes the result.
  for (size_t i = nodes.size(); i-- > 0;) {
    NodeProto& node = nodes[i];
    if (!node.name.empty() || !StandsFor(node, place->op)) continue;
    node.name = model().Keep(place->name);
    node_names_.insert(node.name);
    return;
  }
}

namespace {

// The names of tensors that functions have as they were read.
struct SourceNames : WalkHandler {
  void OnConstant(const iropt::Constant& constant) {
    if (const FileTensor* source = constant.data->source()) names.insert(source->name);
  }
  LookupSet<std::string_view> names;
};

}  // namespace

std::string ExportContext::NameOf(const iropt::Constant& constant) {
  if (const FileTensor* source = constant.data->source()) return source->name;
  if (sources_ == nullptr || !constant.span().known()) return {};
  const std::optional<NodePlace> place = PlaceAt(FirstPart(constant.span()), *sources_);
  if (!place || place->op != kInitializer) return {};
  if (!names_in_use_) {
    SourceNames used;
    for (const ModuleEntry& entry : module_.functions()) {
      if (const auto* function = As<iropt::Function>(entry.func)) Walk(*function, used);
    }
    names_in_use_ = std::move(used.names);
  }
  // The tensor itself keeps its name.
  return names_in_use_->contains(std::string_view(place->name)) ? place->name + "_folded" : place->name;
}

const TensorProto* ExportContext::FindInitializer(std::string_view name) const {
  const std::vector<TensorProto>& all = result_.model.graph.initializers;
  const auto found = std::ranges::find(all, name, &TensorProto::name);
  return found == all.end() ? nullptr : &*found;
}

TensorProto ExportContext::TensorOf(const NDArray& array) { return TensorOf(array, *FileBytesOf(array)); }

TensorProto ExportContext::TensorOf(const NDArray& array, const NDArray& bytes) {
  return {.dims = {array.shape().begin(), array.shape().end()},
          .type = ElementTypeOf(array.dtype()),
          .raw = std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.num_bytes())};
}

const NDArray* ExportContext::FileBytesOf(const NDArray& array) {
  if (!IsPackedInFiles(array.dtype())) return &array;
  if (const NDArray* bytes = PackedBytesOf(array)) return bytes;
  Result<std::shared_ptr<const NDArray>> packed = PackElements(array);
  if (packed.ok()) return result_.made.emplace_back(*std::move(packed)).get();
  Report(packed.error().message);
  return &array;
}

std::string_view ExportContext::Initializer(TensorProto tensor, std::string_view hint) {
  tensor.name = Unique(hint.empty() ? "constant" : hint);
  return model().graph.initializers.emplace_back(std::move(tensor)).name;
}

void ExportContext::WishFor(std::string_view name, std::string_view initializer) {
  constexpr size_t kLeastSaved = 16;
  const std::string_view best = shorter_names_.Lookup(initializer);
  const size_t size = best.empty() ? initializer.size() - std::min(kLeastSaved, initializer.size()) : best.size();
  if (name.empty() || name.size() >= size || !Take(name)) return;
  if (!best.empty()) Release(best);
  shorter_names_[initializer] = result_.model.Keep(std::string(name));
}

std::string_view ExportContext::Initializer(const NDArray& array, std::string_view hint) {
  if (const auto* known = by_array_.Find(&array)) return *known;
  const uint64_t key = KeyOf(array);
  const auto* same = by_content_.FindIf(key, [&](const auto& other) { return IsSameConstant(*other.first, array); });
  const std::string_view wanted = array.source() ? std::string_view(array.source()->name) : hint;
  if (same) {
    if (array.source()) result_.merged_bytes += array.num_bytes();
    WishFor(wanted, same->second);
    return by_array_[&array] = same->second;
  }
  if (ElementTypeOf(array.dtype()) == ElementType::kUndefined) {
    Report(fmt::format("constants of dtype {} are not in ONNX", array.dtype().ToString()));
    return {};
  }
  const NDArray* bytes = FileBytesOf(array);
  const std::string_view name = Initializer(TensorOf(array, *bytes), wanted);
  result_.arrays.resize(model().graph.initializers.size(), nullptr);
  result_.arrays.back() = bytes;
  by_content_.emplace(key, std::pair(&array, name));
  return by_array_[&array] = name;
}

std::string_view ExportContext::Initializer(std::shared_ptr<const NDArray> array, std::string_view hint) {
  const NDArray& kept = *result_.made.emplace_back(std::move(array));
  return Initializer(kept, hint);
}

bool ExportContext::came_from_onnx() const { return module_.attrs()->Find(attr::kOnnxModel) != nullptr; }

void ExportContext::Report(std::string message, SourceSpan place) {
  failed_ = true;
  diagnostics_.Error(place, "no-counterpart", std::move(message));
}

}  // namespace iropt::onnx
