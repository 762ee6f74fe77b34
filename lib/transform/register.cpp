#include <algorithm>
#include <utility>

#include "iropt/transform/passes.h"
#include "rows.h"

namespace iropt {

namespace {

#define IROPT_PASS_ALIAS(Alias, Pass) PassAlias{Alias, Pass},

constexpr PassAlias kAliases[] = {
#include "pass_aliases.def"
};

static_assert(std::ranges::is_sorted(kAliases, {}, &PassAlias::alias), "rows are in the order of the aliases");

#define IROPT_OTHER_PASS_NAME(Name, ...) OtherName{Name, __VA_ARGS__},

constexpr OtherName kOtherPassNames[] = {
#include "other_names.def"
};

#define IROPT_OTHER_CONFIG_NAME(Name, Config) OtherName{Name, Config},

constexpr OtherName kOtherConfigNames[] = {
#include "other_names.def"
};

static_assert(std::ranges::is_sorted(kOtherPassNames, {}, &OtherName::name), "rows are in the order of the names");
static_assert(std::ranges::is_sorted(kOtherConfigNames, {}, &OtherName::name), "rows are in the order of the names");

}  // namespace

Status RegisterAllPasses(PassRegistry& registry) {
  for (PassEntry& entry : PassRows()) IROPT_RETURN_IF_ERROR(registry.Add(std::move(entry)));
  for (const PassAlias& alias : kAliases) IROPT_RETURN_IF_ERROR(registry.AddAlias(alias));
  for (const OtherName& other : kOtherPassNames) IROPT_RETURN_IF_ERROR(registry.AddPassName(other));
  for (OptionSpec& config : ConfigRows()) IROPT_RETURN_IF_ERROR(registry.AddConfig(std::move(config)));
  for (const OtherName& other : kOtherConfigNames) IROPT_RETURN_IF_ERROR(registry.AddConfigName(other));
  for (PipelineEntry& row : PipelineRows()) {
    const bool is_addition = !row.target.empty();
    IROPT_RETURN_IF_ERROR(is_addition ? registry.ExtendPipeline(std::move(row)) : registry.AddPipeline(std::move(row)));
  }
  return {};
}

}  // namespace iropt
