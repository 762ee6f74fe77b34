// Building and asking about pipelines.
#include "iropt/pass/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "iropt/support/check.h"
#include "named_pipelines.h"

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
                                        const NamedPipelines& named) {
  const PassEntry* row = registry.Find(item.name);
  if (row == nullptr) return named.AtAnyLevel(item);
  if (row->info.kind != PassKind::Sequential) return std::nullopt;
  DiagnosticBuffer ignored;
  DiagnosticEngine diagnostics(&ignored);
  const Result<Pass> pass = registry.Create(item.name, item.options, diagnostics, item.span);
  return pass.ok() ? ItemOf(*pass, item.span) : std::nullopt;
}

class Builder {
 public:
  Builder(const PassRegistry& registry, DiagnosticEngine& diagnostics, const PassContext* context)
      : registry_(registry), diagnostics_(diagnostics), named_(registry, context) {}

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
      if (const std::optional<PipelineItem> group = named_.AtAnyLevel(item)) {
        if (item.options.empty()) return BuildGroup(*group);
        return Fail(item, "pass-failed", {ErrorCode::Usage, fmt::format("pipeline '{}' has no options", item.name)});
      }
    }
    Result<Pass> pass = registry_.Create(item.name, item.options, diagnostics_, item.span);
    if (!pass.ok()) return Fail(item, "pass-failed", pass.error());
    const auto required = registry_.RequiredBy(pass->info());
    if (!required.ok()) return Fail(item, "unknown-pass", {ErrorCode::Usage, required.error().message});
    return *std::move(pass);
  }

  std::nullopt_t Fail(const PipelineItem& item, DiagId kind, const Error& error) {
    if (!error.reported()) diagnostics_.Error(item.span, kind, error.message);
    if (!failure_) failure_ = error.code;
    return std::nullopt;
  }

  Pass BuildSequential(const PipelineItem& item) {
    return Sequential(Build(item.children), InfoOfSequential(item), item.at_level);
  }

  // The passes that a configuration adds to a pipeline may name the pipeline again.
  std::optional<Pass> BuildGroup(const PipelineItem& group) {
    if (std::ranges::find(open_, group.name) != open_.end()) {
      return Fail(group, "pipeline-syntax",
                  {ErrorCode::Usage, fmt::format("pipeline '{}' cannot contain itself", group.name)});
    }
    open_.push_back(group.name);
    Pass pass = BuildSequential(group);
    open_.pop_back();
    return pass;
  }

  std::optional<Pass> BuildNamed(const PipelineItem& item) {
    if (const std::optional<PipelineItem> group = named_.AtLevel(item)) return BuildGroup(*group);
    ReportUnknownPipeline(PrintPipeline({item}), item.span);
    return Fail(item, "unknown-pipeline", {ErrorCode::Usage, {}});
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
  const NamedPipelines named_;
  std::vector<std::string> open_;  // the named pipelines that are being built, from the outermost one
  std::optional<ErrorCode> failure_;
};

// The properties of an item that the context checks; null if the item has no name and no level of its own.
std::optional<PassInfo> InfoOf(const PipelineItem& item, const PassRegistry& registry) {
  if (item.kind == PipelineItem::Kind::Sequential) return InfoOfSequential(item);
  if (item.kind != PipelineItem::Kind::Pass) return std::nullopt;
  const PassEntry* row = registry.Find(item.name);
  return row == nullptr ? std::nullopt : std::optional(row->info);
}

void CollectSkipped(const Pipeline& pipeline, const PassRegistry& registry, const PassContext& context, int level,
                    std::vector<SkippedItem>& skipped) {
  for (const PipelineItem& item : pipeline) {
    const std::optional<PassInfo> info = InfoOf(item, registry);
    if (!info || context.PassEnabled(*info, level)) {
      CollectSkipped(item.children, registry, context, item.at_level.value_or(level), skipped);
    } else if (!context.IsDisabled(info->name)) {
      skipped.push_back({&item, level});
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

std::string TitleOf(const PassInfo& info) {
  constexpr size_t kLongest = 100;
  if (info.is_composite() || info.options.empty()) return info.name;
  PipelineItem item;
  item.name = info.name;
  item.options = info.options;
  std::string title = PrintPipeline({item});
  if (title.size() <= kLongest) return title;
  title.resize(kLongest);
  return title + "...";
}

Result<Pass> BuildPipeline(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics,
                           const PassContext* context) {
  Builder builder(registry, diagnostics, context);
  std::vector<Pass> passes = builder.Build(pipeline);
  if (builder.failure()) return Failure{*builder.failure()};
  return Sequential(std::move(passes), SequentialInfo("pipeline"));
}

Pipeline ExpandPipeline(const Pipeline& pipeline, const PassRegistry& registry, std::optional<int> level,
                        const PassContext* context) {
  const NamedPipelines named(registry, context);
  Pipeline expanded;
  for (const PipelineItem& item : pipeline) {
    std::optional<PipelineItem> group;
    if (item.kind == PipelineItem::Kind::Named) group = named.AtLevel(item);
    if (item.kind == PipelineItem::Kind::Pass) group = GroupOfPass(item, registry, named);
    PipelineItem made = group ? *std::move(group) : item;
    if (made.kind == PipelineItem::Kind::Pass) {
      registry.AddOptionsOf(made.name, made.options);
      made.name = registry.PassName(made.name);
    }
    const std::optional<int> inner = level && made.at_level ? made.at_level : level;
    made.children = ExpandPipeline(made.children, registry, inner, context);
    if (item.kind == PipelineItem::Kind::Named && level && made.at_level == level) {
      std::ranges::move(made.children, std::back_inserter(expanded));
    } else {
      expanded.push_back(std::move(made));
    }
  }
  return expanded;
}

std::vector<SkippedItem> SkippedByLevel(const Pipeline& pipeline, const PassRegistry& registry,
                                        const PassContext& context) {
  std::vector<SkippedItem> skipped;
  CollectSkipped(pipeline, registry, context, context.opt_level, skipped);
  return skipped;
}

std::vector<std::string_view> NamesIn(const Pipeline& pipeline) {
  std::vector<std::string_view> names;
  CollectNames(pipeline, names);
  return names;
}

}  // namespace iropt
