#include <initializer_list>
#include <utility>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/transform/passes.h"
#include "iropt/transform/relax/structure/normalize.h"

namespace iropt {

namespace {

// What a pass preserves, forms and analyses.
struct Preserved {
  struct Item {
    Item(IRForm f) : form(f) {}                    // NOLINT(google-explicit-constructor): for the table
    Item(const AnalysisKind& k) : analysis(&k) {}  // NOLINT(google-explicit-constructor)
    IRForm form = {};
    const AnalysisKind* analysis = nullptr;
  };

  Preserved(std::initializer_list<Item> items) {
    for (const Item& item : items) {
      if (item.analysis != nullptr) {
        analyses.push_back(item.analysis);
      } else {
        forms = forms | IRForms{item.form};
      }
    }
  }

  IRForms forms;
  AnalysisKinds analyses;
};

#define IROPT_REQUIRES(...)                                                                                            \
  { __VA_ARGS__ }
#define IROPT_NEEDS(...)                                                                                               \
  { __VA_ARGS__ }
#define IROPT_ESTABLISHES(...)                                                                                         \
  { __VA_ARGS__ }
#define IROPT_PRESERVES(...)                                                                                           \
  { __VA_ARGS__ }
#define IROPT_OPTIONS(...)                                                                                             \
  { __VA_ARGS__ }
#define IROPT_OPTION(Name, Type, Default, Summary)                                                                     \
  OptionSpec { #Name, OptionType::Type, Default, Summary }
#define IROPT_CHOICE(Name, Default, Summary, ...)                                                                      \
  OptionSpec {                                                                                                         \
    .name = #Name, .type = OptionType::String, .default_value = Default, .summary = Summary, .choices = {              \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
#define IROPT_PASS(Kind, Id, Name, Level, Required, Needs, Establishes, Preserves, Options, Summary)                   \
  PassEntry{{.name = Name,                                                                                               \
           .opt_level = Level,                                                                                         \
           .required = Required,                                                                                       \
           .needs = Needs,                                                                                             \
           .establishes = Establishes,                                                                                 \
           .preserves = Preserved(Preserves).forms,                                                                    \
           .preserved_analyses = Preserved(Preserves).analyses,                                                        \
           .kind = PassKind::Kind},                                                                                    \
          Options,                                                                                                     \
          Summary,                                                                                                     \
          &Create##Id},

std::vector<PassEntry> AllRows() {
  using enum IRForm;
  const AnalysisKind& called_functions = KindOf<CalledFunctions>();
  const AnalysisKind& form_facts = KindOf<FormFacts>();
  return {
#include "passes.def"
  };
}

#undef IROPT_CHOICE
#undef IROPT_OPTION
#undef IROPT_OPTIONS
#undef IROPT_PRESERVES
#undef IROPT_ESTABLISHES
#undef IROPT_NEEDS
#undef IROPT_REQUIRES

#define IROPT_FIELDS(...)                                                                                              \
  { __VA_ARGS__ }
#define IROPT_FIELD(Name, Type, Default, Summary)                                                                      \
  OptionSpec { #Name, OptionType::Type, Default, Summary }
#define IROPT_CONFIG(Key, Type, Default, Summary) OptionSpec{Key, OptionType::Type, Default, Summary},
#define IROPT_CONFIG_RECORD(Key, Fields, Summary) OptionSpec{Key, OptionType::Record, {}, Summary, Fields},

std::vector<OptionSpec> AllConfigs() {
  return {
#include "configs.def"
  };
}

#undef IROPT_FIELD
#undef IROPT_FIELDS

// Cleans up before folding, so that more operands are seen to be constant, and after merging, which leaves renamings.
std::vector<std::string> DefaultPipeline() {
  return {
      "Normalize",          "CanonicalizeBindings", "FoldConstant", "EliminateCommonSubexpr", "CanonicalizeBindings",
      "DeadCodeElimination"};
}

}  // namespace

Status RegisterAllPasses(PassRegistry& registry) {
  for (PassEntry& row : AllRows()) IROPT_RETURN_IF_ERROR(registry.Add(std::move(row)));
  for (OptionSpec& config : AllConfigs()) IROPT_RETURN_IF_ERROR(registry.AddConfig(std::move(config)));
  registry.set_default_pipeline(DefaultPipeline());
  return {};
}

}  // namespace iropt
