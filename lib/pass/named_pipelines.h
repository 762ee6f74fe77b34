// The passes of named pipelines.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

class NamedPipelines {
 public:
  // `context` has the target and the configuration; null: no target, and the defaults.
  NamedPipelines(const PassRegistry& registry, const PassContext* context);

  // The passes of NAME<O2> as a Sequential; nothing if no pipeline has the name and the level.
  std::optional<PipelineItem> AtLevel(const PipelineItem& named) const;
  // Those of NAME, if one row has all levels: they run at the level of the context.
  std::optional<PipelineItem> AtAnyLevel(const PipelineItem& named) const;

 private:
  std::optional<PipelineItem> GroupOf(const PipelineItem& named, std::span<const PipelineEntry* const> parts) const;
  Pipeline PassesOf(const PipelineEntry& entry, SourceSpan span) const;
  void AddPhases(const PipelineEntry& entry, std::string_view before, Pipeline& passes) const;
  // Returns whether the pass runs; sets its options.
  bool Apply(const PipelineEntry& entry, PipelineItem& pass) const;
  const OptionValue& Config(std::string_view key) const;
  bool IsSet(std::string_view key) const;

  const PassRegistry& registry_;
  const PassContext* context_;
  std::string_view target_;  // its kind
};

}  // namespace iropt
