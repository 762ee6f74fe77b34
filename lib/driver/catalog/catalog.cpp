#include "iropt/driver/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/instruments/table.h"
#include "iropt/support/check.h"

namespace iropt {

std::string DescribeRule(const PipelineRule& rule) {
  switch (rule.kind) {
    case PipelineRule::Kind::RunIf: return fmt::format("{} runs", rule.pass);
    case PipelineRule::Kind::SkipIf: return fmt::format("{} does not run", rule.pass);
    case PipelineRule::Kind::SetIf:
      return fmt::format("{}<{}={}>", rule.pass, rule.option.front().key, ToString(rule.option.front().value));
    case PipelineRule::Kind::Phase:
      if (rule.pass.empty()) return fmt::format("phase {} is at the beginning", rule.phase);
      return fmt::format("phase {} is before {}", rule.phase, rule.pass);
  }
  IROPT_UNREACHABLE("rule of a pipeline {}", rule.kind);
}

std::string LevelsOf(const PipelineEntry& entry) {
  if (entry.lowest_level == entry.highest_level) return fmt::format("O{}", entry.lowest_level);
  return fmt::format("O{}-O{}", entry.lowest_level, entry.highest_level);
}

std::string DescribeTarget(const PipelineEntry& addition) {
  return addition.target.empty() ? "for all targets" : fmt::format("for -target={}", addition.target);
}

namespace {

using Json = nlohmann::ordered_json;

std::string FromPlugin(const std::string& plugin) {
  return plugin.empty() ? std::string() : fmt::format(" (plugin {})", plugin);
}

// Below the summary of a pass or an instrument, indented.
std::string RenderOptionLines(std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) {
    out += fmt::format("    {}={}  {}, {}\n", option.name, ToString(option.default_value), option.summary,
                       DescribeValues(option));
  }
  return out;
}

std::string_view OptionTypeWord(OptionType type) {
  switch (type) {
    case OptionType::Bool: return "bool";
    case OptionType::Int: return "int";
    case OptionType::Float: return "float";
    case OptionType::String: return "string";
    case OptionType::StringList: return "string list";
    case OptionType::Json: return "any";
    case OptionType::Phases: return "phases";
    case OptionType::Record: return "record";
  }
  IROPT_UNREACHABLE("option type {}", type);
}

Json OptionsJson(std::span<const OptionSpec> options) {
  Json list = Json::array();
  for (const OptionSpec& option : options) {
    list.push_back({{"name", option.name},
                    {"type", OptionTypeWord(option.type)},
                    {"default", Json::parse(ToJson(option.default_value))},
                    {"summary", option.summary}});
    if (!option.choices.empty()) list.back()["choices"] = option.choices;
    if (!option.fields.empty()) list.back()["fields"] = OptionsJson(option.fields);
  }
  return list;
}

// `what` is the key of the list.
std::string ListJson(const char* what, Json list) { return Json{{what, std::move(list)}}.dump(2) + '\n'; }

Json PipelineJson(const PipelineEntry& entry) {
  Json pipeline = {{"name", entry.name},
                   {"lowest_level", entry.lowest_level},
                   {"highest_level", entry.highest_level},
                   {"summary", entry.summary},
                   {"passes", entry.passes}};
  if (!entry.plugin.empty()) pipeline["plugin"] = entry.plugin;
  if (!entry.target.empty()) pipeline["target"] = entry.target;
  for (const PipelineRule& rule : entry.rules) {
    pipeline["configs"].push_back({{"config", rule.config}, {"effect", DescribeRule(rule)}});
  }
  return pipeline;
}

struct InstrumentView {
  std::string_view name;
  std::string_view summary;
  std::string flags;
  std::string_view plugin;
  std::span<const OptionSpec> options;
};

std::vector<InstrumentView> AllInstruments(const PassRegistry& registry) {
  std::vector<InstrumentView> all;
  for (const OwnInstrument& own : OwnInstruments())
    all.push_back({own.name, own.summary, SpellFlags(own), {}, own.options});
  for (const auto& [name, row] : registry.instruments())
    all.push_back({name, row.summary, {}, row.plugin, row.options});
  std::ranges::stable_sort(all, {}, &InstrumentView::name);
  return all;
}

constexpr size_t kConfigWidth = 52;

// "KEY=DEFAULT  meaning, type"; the fields of a record follow it under their paths.
void RenderConfig(const OptionSpec& spec, const std::string& path, std::string& out) {
  if (spec.type == OptionType::Record) {
    out += fmt::format("{:<{}}  {}\n", path, kConfigWidth, spec.summary);
    for (const OptionSpec& field : spec.fields) RenderConfig(field, path + '.' + field.name, out);
    return;
  }
  const std::string name = fmt::format("{}={}", path, ToString(spec.default_value));
  const std::string gap = name.size() > kConfigWidth ? fmt::format("\n{:{}}", "", kConfigWidth) : "";
  out += fmt::format("{}{:<{}}  {}, {}\n", name, gap, gap.empty() ? kConfigWidth - name.size() : 0, spec.summary,
                     DescribeValues(spec));
}

void AddConfigPaths(const OptionSpec& spec, const std::string& path, std::vector<std::string>& paths) {
  if (spec.type != OptionType::Record) paths.push_back(path);
  for (const OptionSpec& field : spec.fields) AddConfigPaths(field, path + '.' + field.name, paths);
}

}  // namespace

std::string RenderPasses(const PassRegistry& registry) {
  size_t width = 4;
  for (const auto& [name, row] : registry.passes()) width = std::max(width, name.size());
  std::string out = fmt::format("{:<{}}  summary (kind, level)\n", "pass", width);
  for (const auto& [name, row] : registry.passes()) {
    out += fmt::format("{:<{}}  {} ({}, {}{}){}\n", name, width, row.summary, PassKindName(row.info.kind),
                       row.info.opt_level, row.info.is_mandatory ? ", mandatory" : "", FromPlugin(row.plugin));
    out += RenderOptionLines(row.options);
  }
  return out;
}

std::string RenderPassesJson(const PassRegistry& registry) {
  Json passes = Json::array();
  for (const auto& [name, row] : registry.passes()) {
    const PassInfo& info = row.info;
    Json pass = {{"name", name},
                 {"kind", PassKindName(info.kind)},
                 {"opt_level", info.opt_level},
                 {"summary", row.summary},
                 {"required", info.required},
                 {"options", OptionsJson(row.options)},
                 {"mandatory", info.is_mandatory},
                 {"serial", info.is_serial},
                 {"counts_rewrites", info.counts_rewrites}};
    if (!row.plugin.empty()) pass["plugin"] = row.plugin;
    passes.push_back(std::move(pass));
  }
  return ListJson("passes", std::move(passes));
}

std::string RenderPipelines(const PassRegistry& registry) {
  size_t width = 8;
  for (const PipelineEntry& entry : registry.pipelines()) width = std::max(width, entry.name.size());
  std::string out = fmt::format("{:<{}}  levels  summary\n", "pipeline", width);
  for (const PipelineEntry& entry : registry.pipelines()) {
    out += fmt::format("{:<{}}  {:<6}  {}{}\n", entry.name, width, LevelsOf(entry), entry.summary,
                       FromPlugin(entry.plugin));
    out += fmt::format("{:<{}}    {}\n", "", width, entry.passes);
    for (const PipelineRule& rule : entry.rules) {
      out += fmt::format("{:<{}}    with {}: {}\n", "", width, rule.config, DescribeRule(rule));
    }
  }
  for (const PipelineEntry& addition : registry.pipeline_additions()) {
    out += fmt::format("{:<{}}  {:<6}  added {}{}: {}{}\n", addition.name, width, LevelsOf(addition),
                       addition.comes_first ? "first " : "", DescribeTarget(addition), addition.summary,
                       FromPlugin(addition.plugin));
    out += fmt::format("{:<{}}    {}\n", "", width, addition.passes);
  }
  return out;
}

std::string RenderPipelinesJson(const PassRegistry& registry) {
  Json pipelines = Json::array();
  for (const PipelineEntry& entry : registry.pipelines()) {
    Json additions = Json::array();
    for (const PipelineEntry& addition : registry.pipeline_additions()) {
      if (addition.name == entry.name) additions.push_back(PipelineJson(addition));
    }
    pipelines.push_back(PipelineJson(entry));
    if (!additions.empty()) pipelines.back()["additions"] = std::move(additions);
  }
  return ListJson("pipelines", std::move(pipelines));
}

std::vector<std::string> PipelineNames(const PassRegistry& registry) {
  std::vector<std::string> names;
  for (const PipelineEntry& entry : registry.pipelines()) {
    if (entry.lowest_level == 0 && entry.highest_level == kMaxOptLevel) {
      names.push_back(entry.name);
      continue;
    }
    for (int level = entry.lowest_level; level <= entry.highest_level; ++level) {
      names.push_back(fmt::format("{}<O{}>", entry.name, level));
    }
  }
  return names;
}

std::string RenderConfigs(const PassRegistry& registry) {
  std::string out;
  for (const auto& [key, spec] : registry.configs()) RenderConfig(spec, key, out);
  return out;
}

std::string RenderConfigsJson(const PassRegistry& registry) {
  std::vector<OptionSpec> options;
  for (const auto& [key, spec] : registry.configs()) options.emplace_back(spec).name = key;
  return ListJson("configs", OptionsJson(options));
}

std::vector<std::string> ConfigPaths(const PassRegistry& registry) {
  std::vector<std::string> paths;
  for (const auto& [key, spec] : registry.configs()) AddConfigPaths(spec, key, paths);
  return paths;
}

std::vector<CatalogEntry> Instruments(const PassRegistry& registry) {
  std::vector<CatalogEntry> entries;
  for (const InstrumentView& instrument : AllInstruments(registry)) {
    entries.push_back({std::string(instrument.name), std::string(instrument.summary)});
  }
  return entries;
}

std::string RenderInstruments(const PassRegistry& registry) {
  const std::vector<InstrumentView> all = AllInstruments(registry);
  size_t width = 10;
  for (const InstrumentView& instrument : all) width = std::max(width, instrument.name.size());
  std::string out = fmt::format("{:<{}}  summary\n", "instrument", width);
  for (const InstrumentView& instrument : all) {
    out += fmt::format("{:<{}}  {}{}\n", instrument.name, width, instrument.summary,
                       FromPlugin(std::string(instrument.plugin)));
    out += RenderOptionLines(instrument.options);
    if (!instrument.flags.empty()) out += fmt::format("    also {}\n", instrument.flags);
  }
  return out;
}

std::string RenderInstrumentsJson(const PassRegistry& registry) {
  Json instruments = Json::array();
  for (const InstrumentView& own : AllInstruments(registry)) {
    Json instrument = {{"name", own.name}, {"summary", own.summary}, {"options", OptionsJson(own.options)}};
    if (!own.flags.empty()) instrument["flags"] = own.flags;
    if (!own.plugin.empty()) instrument["plugin"] = own.plugin;
    instruments.push_back(std::move(instrument));
  }
  return ListJson("instruments", std::move(instruments));
}

}  // namespace iropt
