// Building and asking about pipelines.
#include "iropt/pass/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "iropt/support/check.h"
#include "pipeline_text.h"

namespace iropt {

bool operator==(const PipelineItem& a, const PipelineItem& b) {
  return a.kind == b.kind && a.name == b.name && a.options == b.options && a.opt_level == b.opt_level &&
         a.at_level == b.at_level && a.count == b.count && a.children == b.children;
}

namespace {

PassInfo InfoOfSequential(const PipelineItem& item) {
  PassInfo info = SequentialInfo();
  if (!item.name.empty()) info.name = item.name;
  if (item.opt_level) info.opt_level = *item.opt_level;
  return info;
}

// The passes of a named pipeline as a Sequential; nothing if there are no parts.
std::optional<PipelineItem> GroupOfParts(const PipelineItem& named, std::span<const PipelineEntry* const> parts) {
  if (parts.empty()) return std::nullopt;
  PipelineItem group;
  group.kind = PipelineItem::Kind::Sequential;
  group.name = PrintPipeline({named});
  group.span = named.span;
  DiagnosticBuffer ignored;
  DiagnosticEngine diagnostics(&ignored);
  for (const PipelineEntry* part : parts) {
    std::optional<Pipeline> passes = ParsePipelineAt(part->passes, named.span, diagnostics);
    IROPT_CHECK(passes.has_value(), "the pipeline '{}' was read before", group.name);
    std::ranges::move(*passes, std::back_inserter(group.children));
  }
  return group;
}

// That of NAME<O2>; nothing if no pipeline has the name and the level.
std::optional<PipelineItem> GroupAtLevel(const PipelineItem& named, const PassRegistry& registry,
                                         std::string_view target) {
  std::optional<PipelineItem> group = GroupOfParts(named, registry.FindPipelineParts(named.name, named.count, target));
  if (group) group->at_level = named.count;
  return group;
}

// That of NAME, if one row has all levels: its passes run at the level of the context.
std::optional<PipelineItem> GroupAtAnyLevel(const PipelineItem& named, const PassRegistry& registry,
                                            std::string_view target) {
  std::vector<const PipelineEntry*> parts = registry.FindPipelineParts(named.name, 0, target);
  std::erase_if(parts, [](const PipelineEntry* part) { return part->highest_level < kMaxOptLevel; });
  return GroupOfParts(named, parts);
}

// The pass as an item of a pipeline; nothing if it is a fixpoint or a repeat, whose rounds are not known, or has one.
std::optional<PipelineItem> ItemOf(const Pass& pass, SourceSpan span) {
  const PassInfo& info = pass.info();
  PipelineItem item;
  item.name = info.name;
  item.span = span;
  if (!info.is_composite()) {
    item.options = info.options;
    return item;
  }
  if (info.kind != PassKind::Sequential) return std::nullopt;
  item.kind = PipelineItem::Kind::Sequential;
  if (info.opt_level != kNoOptLevel) item.opt_level = info.opt_level;
  for (const Pass& child : pass.children()) {
    std::optional<PipelineItem> made = ItemOf(child, span);
    if (!made) return std::nullopt;
    item.children.push_back(*std::move(made));
  }
  return item;
}

// The passes of a pass that is registered as a Sequential, in a Sequential of its name; nothing for other passes.
std::optional<PipelineItem> GroupOfPass(const PipelineItem& item, const PassRegistry& registry,
                                        std::string_view target) {
  const PassEntry* row = registry.Find(item.name);
  if (row == nullptr) return GroupAtAnyLevel(item, registry, target);
  if (row->info.kind != PassKind::Sequential) return std::nullopt;
  DiagnosticBuffer ignored;
  DiagnosticEngine diagnostics(&ignored);
  const Result<Pass> pass = registry.Create(item.name, item.options, diagnostics, item.span);
  return pass.ok() ? ItemOf(*pass, item.span) : std::nullopt;
}

class Builder {
 public:
  Builder(const PassRegistry& registry, DiagnosticEngine& diagnostics, std::string_view target)
      : registry_(registry), diagnostics_(diagnostics), target_(target) {}

  std::vector<Pass> Build(const Pipeline& pipeline) {
    std::vector<Pass> passes;
    for (const PipelineItem& item : pipeline) {
      if (std::optional<Pass> pass = BuildItem(item)) passes.push_back(*std::move(pass));
    }
    return passes;
  }

  // The first misfit does not end the building, so that all are reported; its code is that of the failure.
  std::optional<ErrorCode> failure() const { return failure_; }

 private:
  std::optional<Pass> BuildItem(const PipelineItem& item) {
    switch (item.kind) {
      case PipelineItem::Kind::Pass: return BuildPass(item);
      case PipelineItem::Kind::Sequential: return BuildSequential(item);
      case PipelineItem::Kind::Fixpoint: return Fixpoint(Build(item.children), item.count, item.span);
      case PipelineItem::Kind::Repeat: return Repeat(Build(item.children), item.count);
      case PipelineItem::Kind::Named: return BuildNamed(item);
    }
    IROPT_UNREACHABLE("pipeline item {}", item.kind);
  }

  std::optional<Pass> BuildPass(const PipelineItem& item) {
    if (registry_.Find(item.name) == nullptr) {
      if (const std::optional<PipelineItem> group = GroupAtAnyLevel(item, registry_, target_)) {
        if (item.options.empty()) return BuildSequential(*group);
        return Fail(item, "pass-failed", {ErrorCode::Usage, fmt::format("pipeline '{}' has no options", item.name)});
      }
    }
    Result<Pass> pass = registry_.Create(item.name, item.options, diagnostics_, item.span);
    if (!pass.ok()) return Fail(item, "pass-failed", pass.error());
    const auto required = registry_.RequiredBy(pass->info());
    if (!required.ok()) return Fail(item, "unknown-pass", {ErrorCode::Usage, required.error().message});
    return *std::move(pass);
  }

  std::nullopt_t Fail(const PipelineItem& item, std::string_view kind, const Error& error) {
    if (!error.reported()) diagnostics_.Error(item.span, kind, error.message);
    if (!failure_) failure_ = error.code;
    return std::nullopt;
  }

  Pass BuildSequential(const PipelineItem& item) {
    return Sequential(Build(item.children), InfoOfSequential(item), item.at_level);
  }

  std::optional<Pass> BuildNamed(const PipelineItem& item) {
    if (const std::optional<PipelineItem> group = GroupAtLevel(item, registry_, target_))
      return BuildSequential(*group);
    ReportUnknownPipeline(PrintPipeline({item}), item.span);
    return Fail(item, {}, {ErrorCode::Usage, {}});
  }

  void ReportUnknownPipeline(const std::string& name, SourceSpan span) {
    std::vector<std::string> known;
    for (const PipelineEntry& entry : registry_.pipelines()) {
      for (int level = entry.lowest_level; level <= entry.highest_level; ++level) {
        known.push_back(fmt::format("{}<O{}>", entry.name, level));
      }
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    ReportUnknownName(fmt::format("unknown pipeline '{}'", name), name, names, "unknown-pipeline", span, diagnostics_);
  }

  const PassRegistry& registry_;
  DiagnosticEngine& diagnostics_;
  const std::string_view target_;
  std::optional<ErrorCode> failure_;
};

// The properties of an item that the context checks; null if the item has no name and no level of its own.
std::optional<PassInfo> InfoOf(const PipelineItem& item, const PassRegistry& registry) {
  if (item.kind == PipelineItem::Kind::Sequential) return InfoOfSequential(item);
  if (item.kind != PipelineItem::Kind::Pass) return std::nullopt;
  const PassEntry* row = registry.Find(item.name);
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

void CollectSkipped(const Pipeline& pipeline, const PassRegistry& registry, const PassContext& context,
                    std::vector<const PipelineItem*>& skipped) {
  for (const PipelineItem& item : pipeline) {
    const std::optional<PassInfo> info = InfoOf(item, registry);
    if (!info || context.PassEnabled(*info)) {
      CollectSkipped(item.children, registry, context, skipped);
    } else if (!context.IsDisabled(info->name)) {
      skipped.push_back(&item);
    }
  }
}

void CollectNames(const Pipeline& pipeline, std::vector<std::string_view>& names) {
  for (const PipelineItem& item : pipeline) {
    if (!item.name.empty() && item.kind != PipelineItem::Kind::Named) names.push_back(item.name);
    CollectNames(item.children, names);
  }
}

}  // namespace

Result<Pass> BuildPipeline(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics,
                           std::string_view target) {
  Builder builder(registry, diagnostics, target);
  std::vector<Pass> passes = builder.Build(pipeline);
  if (builder.failure()) return Failure{*builder.failure()};
  return Sequential(std::move(passes), SequentialInfo("pipeline"));
}

Pipeline ExpandPipeline(const Pipeline& pipeline, const PassRegistry& registry, std::optional<int> level,
                        std::string_view target) {
  Pipeline expanded;
  for (const PipelineItem& item : pipeline) {
    std::optional<PipelineItem> group;
    if (item.kind == PipelineItem::Kind::Named) group = GroupAtLevel(item, registry, target);
    if (item.kind == PipelineItem::Kind::Pass) group = GroupOfPass(item, registry, target);
    PipelineItem made = group ? *std::move(group) : item;
    const std::optional<int> inner = level && made.at_level ? made.at_level : level;
    made.children = ExpandPipeline(made.children, registry, inner, target);
    if (item.kind == PipelineItem::Kind::Named && level && made.at_level == level) {
      std::ranges::move(made.children, std::back_inserter(expanded));
    } else {
      expanded.push_back(std::move(made));
    }
  }
  return expanded;
}

std::vector<const PipelineItem*> SkippedByLevel(const Pipeline& pipeline, const PassRegistry& registry,
                                                const PassContext& context) {
  std::vector<const PipelineItem*> skipped;
  CollectSkipped(pipeline, registry, context, skipped);
  return skipped;
}

std::vector<std::string_view> NamesIn(const Pipeline& pipeline) {
  std::vector<std::string_view> names;
  CollectNames(pipeline, names);
  return names;
}

}  // namespace iropt
