#include "exchange/onnx/node_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

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

  // Shifts the spans, which count from the beginning of the text, to the source.
  Status Finish(const std::string& name, SourceManager& sources) {
    const auto kept = std::make_shared<const std::string>(std::move(text_));
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, sources.AddBuffer(name, *kept, kept));
    for (NodeProto* node : placed_) node->span.begin += base;
    return {};
  }

 private:
  void Place(NodeProto& node) {
    const size_t begin = text_.size();
    text_ += OnOneLine(QualifiedOp(node));
    if (!node.name.empty()) text_ += " " + Quoted(node.name);
    node.span = Span::Of(static_cast<uint32_t>(begin), static_cast<uint32_t>(text_.size()));
    placed_.push_back(&node);
    fmt::format_to(std::back_inserter(text_), ": {} -> {}\n", ListOf(node.inputs), ListOf(node.outputs));
  }

  std::string text_;
  std::vector<NodeProto*> placed_;
};

}  // namespace

std::string QualifiedOp(const NodeProto& node) {
  return IsOnnxDomain(node.domain) ? std::string(node.op_type) : fmt::format("{}.{}", node.domain, node.op_type);
}

Status PlaceNodes(Model& model, const std::string& name, SourceManager& sources) {
  NodePlacer placer;
  placer.Place(model.graph.nodes);
  for (FunctionProto& function : model.functions) placer.Place(function.nodes);
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

}  // namespace iropt::onnx
