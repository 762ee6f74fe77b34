#include "driver/catalog/describe_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/driver/catalog.h"
#include "iropt/pass/pipeline.h"

namespace iropt {

namespace {

// The pipeline as its row has it, which the registry has checked.
Pipeline PassesOf(const PipelineEntry& entry) {
  DiagnosticBuffer reports;
  DiagnosticEngine diagnostics(&reports);
  return ParsePipeline(entry.passes, 0, diagnostics).value_or(Pipeline());
}

std::string_view SummaryOf(const PipelineItem& item, const PassRegistry& registry) {
  if (const PassEntry* row = registry.Find(item.name)) return row->summary;
  const auto row = std::ranges::find(registry.pipelines(), item.name, &PipelineEntry::name);
  return row == registry.pipelines().end() ? std::string_view() : row->summary;
}

// A line for each pass, with its summary.
std::string RenderSteps(const PipelineEntry& entry, const PassRegistry& registry) {
  constexpr size_t kMostWidth = 40;
  const Pipeline passes = PassesOf(entry);
  size_t width = 0;
  for (const PipelineItem& item : passes) width = std::max(width, std::min(kMostWidth, PrintPipeline({item}).size()));
  std::string out;
  for (const PipelineItem& item : passes) {
    const std::string_view summary = SummaryOf(item, registry);
    out += fmt::format("  {:<{}}{}{}\n", PrintPipeline({item}), width, summary.empty() ? "" : "  ", summary);
  }
  return out;
}

std::string RenderPart(const PipelineEntry& entry, const PassRegistry& registry) {
  std::string out = fmt::format("\n{}: {}\n", LevelsOf(entry), entry.summary);
  if (!entry.plugin.empty()) out += fmt::format("  of the plugin {}\n", entry.plugin);
  return out + RenderSteps(entry, registry);
}

std::string RenderAddition(const PipelineEntry& addition, const PassRegistry& registry) {
  std::string out = fmt::format("\n{}, {}, {}: {}\n", addition.comes_first ? "First" : "Then", DescribeTarget(addition),
                                LevelsOf(addition), addition.summary);
  if (!addition.plugin.empty()) out += fmt::format("  of the plugin {}\n", addition.plugin);
  return out + RenderSteps(addition, registry);
}

}  // namespace

std::string DescribePipeline(std::string_view name, const PassRegistry& registry) {
  constexpr std::string_view kLevel = "<O";
  std::optional<int> level;
  if (name.ends_with('>') && name.size() > kLevel.size() + 2 &&
      name.substr(name.size() - kLevel.size() - 2, kLevel.size()) == kLevel) {
    level = name[name.size() - 2] - '0';
    name.remove_suffix(kLevel.size() + 2);
  }
  const auto is_asked = [&](const PipelineEntry& entry) {
    return entry.name == name && (!level || (entry.lowest_level <= *level && *level <= entry.highest_level));
  };
  std::vector<const PipelineEntry*> parts;
  std::string out;
  std::string rules;
  for (const PipelineEntry& entry : registry.pipelines()) {
    if (!is_asked(entry)) continue;
    parts.push_back(&entry);
    out += RenderPart(entry, registry);
    for (const PipelineRule& rule : entry.rules) rules += fmt::format("  {}: {}\n", rule.config, DescribeRule(rule));
  }
  if (parts.empty()) return "";
  for (const PipelineEntry& addition : registry.pipeline_additions()) {
    if (is_asked(addition)) out += RenderAddition(addition, registry);
  }
  if (!rules.empty()) out += "\nWith configuration options:\n" + rules;
  const bool for_all = parts.size() == 1 && parts[0]->lowest_level == 0 && parts[0]->highest_level == kMaxOptLevel;
  const std::string use = for_all || level ? std::string(name) : fmt::format("{}<ON>", name);
  return fmt::format("{}: a named pipeline, in pipelines {}\n", name,
                     level ? fmt::format("{}<O{}>", use, *level) : use) +
         out;
}

}  // namespace iropt
