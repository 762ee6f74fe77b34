// Commands above functions: what the passes of the test change, and what a function computes.
#include <fmt/format.h>

#include <string>
#include <utility>

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
  const std::vector<ModulePart>& parts = document.analysis().parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const FunctionPart& function : parts[i].reading->functions()) {
      const Json range = ToJson(document.text().RangeOf(parts[i].NameOf(function)));
      const std::string& name = function.reading->name;
      const auto add = [&](std::string_view title, ViewKind kind, std::pair<std::string, std::string> parameter) {
        VirtualUri uri{kind,
                       fmt::format("{}.{}", name, ViewOf(kind).extension),
                       {{"source", document.uri()}, std::move(parameter)}};
        if (parts.size() > 1) uri.parameters["part"] = fmt::format("{}", i);
        lenses.push_back(Lens(range, title, uri));
      };
      add("Show what the passes change", ViewKind::kDiff, {"passes", pipeline});
      add("Show the module after the passes", ViewKind::kAfter, {"passes", pipeline});
      add("Run with random inputs", ViewKind::kRun, {"function", name});
    }
  }
  return lenses;
}

}  // namespace iropt::lsp
