#include <utility>

#include "analyses.h"
#include "iropt/support/check.h"
#include "iropt/transform/passes.h"
#include "rows.h"

namespace iropt {

Status RegisterAllPasses(PassRegistry& registry) {
  for (PassEntry& entry : PassRows()) IROPT_RETURN_IF_ERROR(registry.Add(std::move(entry)));
  for (PrintedAnalysis& analysis : AnalysisRows()) IROPT_RETURN_IF_ERROR(registry.AddAnalysis(std::move(analysis)));
  for (const PassAlias& hint : PassHints()) IROPT_RETURN_IF_ERROR(registry.AddAlias(hint));
  for (const OtherName& other : PassNames()) IROPT_RETURN_IF_ERROR(registry.AddPassName(other));
  for (OptionSpec& config : ConfigRows()) IROPT_RETURN_IF_ERROR(registry.AddConfig(std::move(config)));
  for (const OtherName& other : ConfigNames()) IROPT_RETURN_IF_ERROR(registry.AddConfigName(other));
  for (PipelineEntry& row : PipelineRows()) {
    const bool is_addition = !row.target.empty();
    IROPT_RETURN_IF_ERROR(is_addition ? registry.ExtendPipeline(std::move(row)) : registry.AddPipeline(std::move(row)));
  }
  return {};
}

const PassRegistry& AllPasses() {
  static const PassRegistry all = [] {
    PassRegistry registry;
    const Status added = RegisterAllPasses(registry);
    IROPT_CHECK(added.ok(), "{}", added.error().message);
    registry.Complete();
    return registry;
  }();
  return all;
}

}  // namespace iropt
