#include "exchange/onnx/node_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "iropt/support/identifier.h"

namespace iropt::onnx {

namespace {

// A name in quotes, on one line.
std::string Quoted(std::string_view name) {
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Names of values are for people only.
std::string OnOneLine(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string ListOf(const std::vector<std::string_view>& names) {
  std::vector<std::string> texts;
  for (const std::string_view name : names) texts.push_back(name.empty() ? "_" : OnOneLine(name));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Not in a description, nor in JSON.
constexpr char kBeginNotes = '\x1f';

// As JSON on one line; empty if there is nothing to say.
std::string NoteOf(const NodeProto& node) {
  nlohmann::json note;
  const bool has_other_names = node.outputs.size() > 1 || std::ranges::any_of(node.outputs, [](std::string_view name) {
                                 return IdentifierFor(name) != name;
                               });
  if (has_other_names) note["outputs"] = node.outputs;
  for (const auto& [key, value] : node.metadata) note["metadata"].push_back({key, value});
  if (!node.doc.empty()) note["doc"] = node.doc;
  return note.is_null() ? std::string() : note.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What follows the last `before` in the text; empty if there is none.
std::string_view AfterLast(std::string_view text, std::string_view before) {
  const size_t at = text.rfind(before);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + before.size());
}

NodeNote NoteFrom(const nlohmann::json& json) {
  NodeNote note;
  if (json.contains("outputs")) note.outputs = json["outputs"].get<std::vector<std::string>>();
  if (json.contains("metadata"))
    note.metadata = json["metadata"].get<std::vector<std::pair<std::string, std::string>>>();
  if (json.contains("doc")) note.doc = json["doc"].get<std::string>();
  return note;
}

class NodePlacer {
 public:
  void Place(std::vector<NodeProto>& nodes) {
    for (NodeProto& node : nodes) {
      Place(node);
      for (const AttributeProto& attribute : node.attributes) {
        for (const auto& graph : attribute.graphs) Place(graph->nodes);
      }
    }
  }

  void PlaceInitializers(GraphProto& graph) {
    for (TensorProto& tensor : graph.initializers) Place(tensor);
    for (SparseTensorProto& tensor : graph.sparse_initializers) Place(tensor.values);
  }

  // Shifts the spans, which count from the beginning of the text, to the source.
  Status Finish(const std::string& name, SourceManager& sources) {
    const size_t notes = text_.size();
    text_ += kBeginNotes;
    for (const auto& [begin, note] : notes_) fmt::format_to(std::back_inserter(text_), "{} {}\n", notes - begin, note);
    const auto kept = std::make_shared<const std::string>(std::move(text_));
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources.AddBuffer(name, *kept, kept));
    for (Span* span : placed_) span->begin += base;
    return {};
  }

 private:
  void Place(TensorProto& tensor) {
    const size_t begin = text_.size();
    fmt::format_to(std::back_inserter(text_), "{} {}", kInitializer, Quoted(tensor.name));
    tensor.span = Span::Of(static_cast<uint32_t>(begin), static_cast<uint32_t>(text_.size()));
    placed_.push_back(&tensor.span);
    text_ += '\n';
  }

  void Place(NodeProto& node) {
    const size_t begin = text_.size();
    text_ += OnOneLine(QualifiedOp(node));
    if (!node.name.empty()) text_ += " " + Quoted(node.name);
    node.span = Span::Of(static_cast<uint32_t>(begin), static_cast<uint32_t>(text_.size()));
    placed_.push_back(&node.span);
    if (std::string note = NoteOf(node); !note.empty()) notes_.emplace_back(begin, std::move(note));
    fmt::format_to(std::back_inserter(text_), ": {} -> {}", ListOf(node.inputs), ListOf(node.outputs));
    if (const std::string line = SourceLineOf(node); !line.empty()) text_ += "  # " + line;
    text_ += '\n';
  }

  std::string text_;
  std::vector<std::pair<size_t, std::string>> notes_;
  std::vector<Span*> placed_;
};

}  // namespace

std::string SourceLineOf(const NodeProto& node) {
  const auto trace = std::ranges::find(node.metadata, std::string_view("pkg.torch.onnx.stack_trace"), &Property::first);
  if (trace == node.metadata.end()) return {};
  // Python's form, the innermost call last: File "/home/me/model.py", line 12, in forward
  const std::string_view call = AfterLast(trace->second, "File \"");
  const size_t quote = call.find('"');
  constexpr std::string_view kLine = ", line ";
  if (quote == std::string_view::npos || !call.substr(quote + 1).starts_with(kLine)) return {};
  const std::string_view file = call.substr(0, quote);
  const std::string_view rest = call.substr(quote + 1 + kLine.size());
  const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
  const std::string_view name = file.find('/') == std::string_view::npos ? file : AfterLast(file, "/");
  return number.empty() ? std::string() : OnOneLine(fmt::format("{}:{}", name, number));
}

std::string QualifiedOp(const NodeProto& node) {
  return IsOnnxDomain(node.domain) ? std::string(node.op_type) : fmt::format("{}.{}", node.domain, node.op_type);
}

Status PlaceNodes(Model& model, const std::string& name, SourceManager& sources) {
  NodePlacer placer;
  placer.Place(model.graph.nodes);
  for (FunctionProto& function : model.functions) placer.Place(function.nodes);
  placer.PlaceInitializers(model.graph);
  return placer.Finish(name, sources);
}

std::optional<NodePlace> PlaceAt(Span span, const SourceManager& sources) {
  const std::string_view text = sources.Text({span.begin, span.end()});
  const size_t quote = text.find(" \"");
  if (quote == std::string_view::npos || !text.ends_with('"')) return std::nullopt;
  const auto name = nlohmann::json::parse(text.substr(quote + 1), nullptr, false);
  if (!name.is_string()) return std::nullopt;
  return NodePlace{.op = std::string(text.substr(0, quote)), .name = name.get<std::string>()};
}

NodeNotes::Block* NodeNotes::BlockOf(uint32_t offset) {
  constexpr uint32_t kEnd = std::numeric_limits<uint32_t>::max();
  const auto next = std::ranges::find_if(blocks_, [&](const Block& block) { return offset < block.begin; });
  if (next != blocks_.end()) {
    if (offset >= next->first) return &*next;
    if (sources_->Text({offset, next->first}).find(kBeginNotes) == std::string_view::npos &&
        sources_->Text({offset, next->first}).size() == next->first - offset) {
      next->first = offset;
      return &*next;
    }
  }
  std::string_view text = sources_->Text({offset, kEnd});
  const size_t begin = text.find(kBeginNotes);
  if (begin == std::string_view::npos) return nullptr;
  Block block{.first = offset, .begin = offset + static_cast<uint32_t>(begin), .notes = {}};
  text.remove_prefix(begin + 1);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    uint32_t distance = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), distance);
    const nlohmann::json note = nlohmann::json::parse(end, line.data() + line.size(), nullptr, false);
    if (error == std::errc() && note.is_object()) block.notes.emplace(distance, NoteFrom(note));
  }
  return &*blocks_.insert(next, std::move(block));
}

const NodeNote* NodeNotes::Find(Span span) {
  if (sources_ == nullptr || !span.known()) return nullptr;
  const Block* block = BlockOf(span.begin);
  if (block == nullptr) return nullptr;
  const auto note = block->notes.find(block->begin - span.begin);
  return note == block->notes.end() ? nullptr : &note->second;
}

}  // namespace iropt::onnx
