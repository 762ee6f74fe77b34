// Commands above functions: what the passes of the test change, and what a function computes.
#include <fmt/format.h>

#include "features.h"
#include "test_comments.h"
#include "virtual_documents.h"

namespace iropt::lsp {

namespace {

constexpr std::string_view kShow = "ir.show";

Json Lens(const Json& range, std::string_view title, const VirtualUri& uri) {
  return {{"range", range}, {"command", {{"title", title}, {"command", kShow}, {"arguments", {uri.ToString()}}}}};
}

}  // namespace

std::string PipelineOf(const Document& document) {
  for (const RunLine& run : RunLines(document.text())) {
    if (run.pipeline.begin < run.pipeline.end) return std::string(document.text().Text(run.pipeline));
  }
  return "default<O2>";
}

Json CodeLenses(Document& document) {
  Json lenses = Json::array();
  if (document.kind() != DocumentKind::kScript) return lenses;
  const std::string pipeline = PipelineOf(document);
  for (const ModulePart& part : document.analysis().parts()) {
    for (const FunctionPart& function : part.reading->functions()) {
      const Json range = ToJson(document.text().RangeOf(part.NameOf(function)));
      const std::string& name = function.reading->name;
      lenses.push_back(
          Lens(range, "Show what the passes change",
               {"diff", fmt::format("{}.diff", name), {{"source", document.uri()}, {"passes", pipeline}}}));
      lenses.push_back(Lens(range, "Show the module after the passes",
                            {"after", fmt::format("{}.ir", name), {{"source", document.uri()}, {"passes", pipeline}}}));
      lenses.push_back(Lens(range, "Run with random inputs",
                            {"run", fmt::format("{}.txt", name), {{"source", document.uri()}, {"function", name}}}));
    }
  }
  return lenses;
}

}  // namespace iropt::lsp
