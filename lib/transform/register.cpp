#include <algorithm>
#include <utility>

#include "configs/keys.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/normal_form.h"
#include "iropt/transform/passes.h"
#include "tir/properties.h"

namespace iropt {

namespace {

// The key, which configs.def must have: a wrong one does not compile.
consteval const char* ConfigOf(const char* key) {
  if (std::ranges::find(config::kKeys, std::string_view(key)) == std::end(config::kKeys)) throw "not in configs.def";
  return key;
}

// The properties of a row.
struct Requires {
  std::vector<std::string> passes;
  void AddTo(PassEntry& entry) { entry.info.required = std::move(passes); }
};
struct Preserves {
  AnalysisKinds analyses;
  void AddTo(PassEntry& entry) { entry.info.preserved_analyses = std::move(analyses); }
};
struct Needs {
  FunctionProperties properties;
  void AddTo(PassEntry& entry) { entry.info.required_properties = std::move(properties); }
};
struct Establishes {
  std::string config;
  const FunctionProperty* given;
  FunctionProperties properties;
  void AddTo(PassEntry& entry) {
    for (const FunctionProperty* property : properties) {
      entry.info.established_properties.push_back({property, config, given});
    }
  }
};
struct Breaks {
  FunctionProperties properties;
  void AddTo(PassEntry& entry) { entry.info.broken_properties = std::move(properties); }
};
struct Changes {
  std::vector<PassChange> changes;
  void AddTo(PassEntry& entry) { entry.info.changes = std::move(changes); }
};
struct Mandatory {
  static void AddTo(PassEntry& entry) { entry.info.is_mandatory = true; }
};
struct CountsRewrites {
  static void AddTo(PassEntry& entry) { entry.info.counts_rewrites = true; }
};
struct Option {
  OptionSpec spec;
  void AddTo(PassEntry& entry) { entry.options.push_back(std::move(spec)); }
};

// Appends what `make` returns. Rows are made in functions of their own: one function with the objects of all rows has a
// frame of 100 KiB, and takes the compiler minutes.
template <class Row, class F>
[[gnu::noinline]] void Append(std::vector<Row>& rows, F make) {
  rows.push_back(make());
}

template <class... P>
PassEntry MakeEntry(PassInfo info, std::string summary, PassFactory create, P... properties) {
  PassEntry entry{.info = std::move(info), .summary = std::move(summary), .create = create};
  (properties.AddTo(entry), ...);
  return entry;
}

#define IROPT_REQUIRES(...)                                                                                            \
  Requires {                                                                                                           \
    { __VA_ARGS__ }                                                                                                    \
  }
#define IROPT_PRESERVES(...)                                                                                           \
  Preserves {                                                                                                          \
    { __VA_ARGS__ }                                                                                                    \
  }
#define IROPT_NEEDS(...)                                                                                               \
  Needs {                                                                                                              \
    { __VA_ARGS__ }                                                                                                    \
  }
#define IROPT_ESTABLISHES(...)                                                                                         \
  Establishes {                                                                                                        \
    {}, nullptr, { __VA_ARGS__ }                                                                                       \
  }
#define IROPT_ESTABLISHES_IF(Config, Given, ...)                                                                       \
  Establishes {                                                                                                        \
    ConfigOf(Config), Given, { __VA_ARGS__ }                                                                           \
  }
#define IROPT_BREAKS(...)                                                                                              \
  Breaks {                                                                                                             \
    { __VA_ARGS__ }                                                                                                    \
  }
#define IROPT_CHANGES(...)                                                                                             \
  Changes {                                                                                                            \
    { __VA_ARGS__ }                                                                                                    \
  }
#define IROPT_MANDATORY()                                                                                              \
  Mandatory {}
#define IROPT_COUNTS_REWRITES()                                                                                        \
  CountsRewrites {}
#define IROPT_OPTION(Name, Type, Default, Summary)                                                                     \
  Option {                                                                                                             \
    { #Name, OptionType::Type, Default, Summary }                                                                      \
  }
#define IROPT_PATH_OPTION(Name, Type, Default, Summary)                                                                \
  Option {                                                                                                             \
    { #Name, OptionType::Type, Default, Summary, {}, {}, /*is_path=*/true }                                            \
  }
#define IROPT_CHOICE(Name, Default, Summary, ...)                                                                      \
  Option {                                                                                                             \
    {                                                                                                                  \
#Name, OptionType::String, Default, Summary, {}, { __VA_ARGS__ }                                                 \
    }                                                                                                                  \
  }
#define IROPT_DTYPE_CHOICE IROPT_CHOICE
#define IROPT_PASS(Kind, Id, Name, Level, Summary, ...)                                                                \
  Append(entries, [&] {                                                                                                \
    return MakeEntry({.name = Name, .opt_level = Level, .assumes_no_overflow = true, .kind = PassKind::Kind}, Summary, \
                     &Create##Id __VA_OPT__(, ) __VA_ARGS__);                                                          \
  });

std::vector<PassEntry> AllEntries() {
  using enum PassChange;
  const AnalysisKind* const called_functions = &KindOf<CalledFunctions>();
  const AnalysisKind* const normal_form = &KindOf<NormalFormInfo>();
#define IROPT_PROPERTY(Id, ...) const FunctionProperty* const Id = &properties::k##Id;
#include "properties.def"
  std::vector<PassEntry> entries;
#include "passes.def"
  return entries;
}

#undef IROPT_CHANGES
#undef IROPT_CHOICE
#undef IROPT_COUNTS_REWRITES
#undef IROPT_DTYPE_CHOICE
#undef IROPT_BREAKS
#undef IROPT_ESTABLISHES
#undef IROPT_ESTABLISHES_IF
#undef IROPT_MANDATORY
#undef IROPT_NEEDS
#undef IROPT_OPTION
#undef IROPT_PATH_OPTION
#undef IROPT_PRESERVES
#undef IROPT_REQUIRES

#define IROPT_CONFIG(Key, Type, Default, Summary)                                                                      \
  Append(configs, [] { return OptionSpec{Key, OptionType::Type, Default, Summary}; });
#define IROPT_CONFIG_CHOICE(Key, Default, Summary, ...)                                                                \
  Append(configs, [] { return OptionSpec{Key, OptionType::String, Default, Summary, {}, {__VA_ARGS__}}; });
#define IROPT_FIELD(Name, Type, Default, Summary)                                                                      \
  OptionSpec { #Name, OptionType::Type, Default, Summary }
#define IROPT_CONFIG_RECORD(Key, Summary, ...)                                                                         \
  Append(configs, [] { return OptionSpec{Key, OptionType::Record, {}, Summary, {__VA_ARGS__}}; });

std::vector<OptionSpec> AllConfigs() {
  std::vector<OptionSpec> configs;
#include "configs.def"
  return configs;
}

#define IROPT_PIPELINE(Name, Lowest, Highest, Passes, Summary, ...)                                                    \
  Append(pipelines, [] { return PipelineEntry{Name, Lowest, Highest, Passes, Summary, {}, {}, {__VA_ARGS__}}; });
#define IROPT_RUN_IF(Config, Name)                                                                                     \
  PipelineRule { PipelineRule::Kind::RunIf, ConfigOf(Config), Name }
#define IROPT_SKIP_IF(Config, Name)                                                                                    \
  PipelineRule { PipelineRule::Kind::SkipIf, ConfigOf(Config), Name }
#define IROPT_SET_IF(Config, Name, Option, Value)                                                                      \
  PipelineRule {                                                                                                       \
    PipelineRule::Kind::SetIf, ConfigOf(Config), Name, {                                                               \
      {                                                                                                                \
#Option, Value, {}                                                                                             \
      }                                                                                                                \
    }                                                                                                                  \
  }
#define IROPT_PHASE(Config, Number, Before)                                                                            \
  PipelineRule { PipelineRule::Kind::Phase, ConfigOf(Config), Before, {}, Number }
#define IROPT_TARGET_PIPELINE(Target, Name, Lowest, Highest, Passes, Summary)                                          \
  Append(pipelines, [] { return PipelineEntry{Name, Lowest, Highest, Passes, Summary, {}, Target}; });

std::vector<PipelineEntry> AllPipelines() {
  std::vector<PipelineEntry> pipelines;
#include "pipelines.def"
  return pipelines;
}

#undef IROPT_PHASE
#undef IROPT_RUN_IF
#undef IROPT_SET_IF
#undef IROPT_SKIP_IF

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
  for (PassEntry& entry : AllEntries()) IROPT_RETURN_IF_ERROR(registry.Add(std::move(entry)));
  for (const PassAlias& alias : kAliases) IROPT_RETURN_IF_ERROR(registry.AddAlias(alias));
  for (const OtherName& other : kOtherPassNames) IROPT_RETURN_IF_ERROR(registry.AddPassName(other));
  for (OptionSpec& config : AllConfigs()) IROPT_RETURN_IF_ERROR(registry.AddConfig(std::move(config)));
  for (const OtherName& other : kOtherConfigNames) IROPT_RETURN_IF_ERROR(registry.AddConfigName(other));
  for (PipelineEntry& row : AllPipelines()) {
    const bool is_addition = !row.target.empty();
    IROPT_RETURN_IF_ERROR(is_addition ? registry.ExtendPipeline(std::move(row)) : registry.AddPipeline(std::move(row)));
  }
  return {};
}

}  // namespace iropt
