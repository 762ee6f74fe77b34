#include "named_pipelines.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "iropt/ir/target.h"
#include "iropt/support/check.h"
#include "pipeline_text.h"

namespace iropt {

NamedPipelines::NamedPipelines(const PassRegistry& registry, const PassContext* context)
    : registry_(registry), context_(context), target_(TargetKindOf(context == nullptr ? nullptr : context->target)) {}

std::optional<PipelineItem> NamedPipelines::AtLevel(const PipelineItem& named) const {
  std::optional<PipelineItem> group = GroupOf(named, registry_.FindPipelineParts(named.name, named.count, target_));
  if (group) group->at_level = named.count;
  return group;
}

std::optional<PipelineItem> NamedPipelines::AtAnyLevel(const PipelineItem& named) const {
  std::vector<const PipelineEntry*> parts = registry_.FindPipelineParts(named.name, 0, target_);
  std::erase_if(parts, [](const PipelineEntry* part) { return part->highest_level < kMaxOptLevel; });
  return GroupOf(named, parts);
}

std::optional<PipelineItem> NamedPipelines::GroupOf(const PipelineItem& named,
                                                    std::span<const PipelineEntry* const> parts) const {
  if (parts.empty()) return std::nullopt;
  PipelineItem group;
  group.kind = PipelineItem::Kind::Sequential;
  group.name = PrintPipeline({named});
  group.span = named.span;
  for (const PipelineEntry* part : parts) {
    std::ranges::move(PassesOf(*part, named.span), std::back_inserter(group.children));
  }
  return group;
}

Pipeline NamedPipelines::PassesOf(const PipelineEntry& entry, SourceSpan span) const {
  DiagnosticBuffer ignored;
  DiagnosticEngine diagnostics(&ignored);
  std::optional<Pipeline> own = ParsePipelineAt(entry.passes, span, diagnostics);
  IROPT_CHECK(own.has_value(), "the pipeline '{}' was read before", entry.name);
  Pipeline passes;
  AddPhases(entry, {}, passes);
  std::vector<std::string> seen = {""};  // groups may have no name
  for (PipelineItem& item : *own) {
    if (std::ranges::find(seen, item.name) == seen.end()) {
      AddPhases(entry, item.name, passes);
      seen.push_back(item.name);
    }
    if (Apply(entry, item)) passes.push_back(std::move(item));
  }
  return passes;
}

void NamedPipelines::AddPhases(const PipelineEntry& entry, std::string_view before, Pipeline& passes) const {
  for (const PipelineRule& rule : entry.rules) {
    if (rule.kind != PipelineRule::Kind::Phase || rule.pass != before) continue;
    const bool is_last = std::ranges::none_of(entry.rules, [&](const PipelineRule& other) {
      return other.kind == rule.kind && other.config == rule.config && other.phase > rule.phase;
    });
    DiagnosticBuffer ignored;
    DiagnosticEngine diagnostics(&ignored);
    std::optional<std::vector<PhasePasses>> phases = ReadPhases(Config(rule.config), rule.config, diagnostics);
    IROPT_CHECK(phases.has_value(), "the value of '{}' was checked before", rule.config);
    for (PhasePasses& added : *phases) {
      if (added.phase != rule.phase && !(is_last && added.phase > rule.phase)) continue;
      std::ranges::move(added.passes, std::back_inserter(passes));
    }
  }
}

bool NamedPipelines::Apply(const PipelineEntry& entry, PipelineItem& pass) const {
  bool runs = true;
  for (const PipelineRule& rule : entry.rules) {
    if (rule.kind == PipelineRule::Kind::Phase || rule.pass != pass.name) continue;
    const bool is_set = IsSet(rule.config);
    switch (rule.kind) {
      case PipelineRule::Kind::RunIf: runs &= is_set; break;
      case PipelineRule::Kind::SkipIf: runs &= !is_set; break;
      case PipelineRule::Kind::SetIf:
        if (is_set) std::ranges::copy(rule.option, std::back_inserter(pass.options));
        break;
      case PipelineRule::Kind::Phase: break;
    }
  }
  return runs;
}

const OptionValue& NamedPipelines::Config(std::string_view key) const {
  if (context_ != nullptr) {
    if (const auto set = context_->config().find(key); set != context_->config().end()) return set->second;
  }
  const OptionSpec* spec = registry_.FindConfig(key);
  IROPT_CHECK(spec != nullptr, "the configuration option '{}' was registered before", key);
  return spec->default_value;
}

bool NamedPipelines::IsSet(std::string_view key) const {
  const OptionValue& value = Config(key);
  if (const int64_t* number = value.as_int()) return *number != 0;  // a boolean of Python
  return value.as_bool() != nullptr && *value.as_bool();
}

}  // namespace iropt
