// Pipelines as text: a string, or a JSON file that also holds the context. Both are read into the same items, which can
// be printed back and built into a pass.
//
//   pipeline := item (',' item)*
//   item     := NAME ['<' OPTION (';' OPTION)* '>']                        a pass
//             | 'Sequential' ['<' options '>'] '(' pipeline ')'            options: name, opt_level, at_level
//             | 'fixpoint' ['<' ROUNDS '>'] '(' pipeline ')'
//             | 'repeat' '<' TIMES '>' '(' pipeline ')'
//             | NAME '<' 'O'LEVEL '>'                                       a named pipeline, such as default<O2>
//             | NAME                                                        one that is the same at all levels
//   OPTION   := NAME '=' VALUE | NAME                                     NAME alone is NAME=true
//   VALUE    := JSON, or a word in place of a string
//   NAME     := a word, or any string in double quotes, which is then the name of a pass or an option
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/context.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/registry.h"
#include "iropt/support/text_version.h"

namespace iropt {

inline constexpr int kDefaultFixpointRounds = 8;
inline constexpr int kMaxRounds = 1'000'000;  // of a fixpoint or a repeat

struct PipelineItem {
  enum class Kind : uint8_t { Pass, Sequential, Fixpoint, Repeat, Named };

  Kind kind = Kind::Pass;
  std::string name;              // of a pass, of a named pipeline; of a Sequential, empty if it has none
  OptionValue::Dict options;     // of a pass
  std::optional<int> opt_level;  // of a Sequential: the lowest level of a context at which it runs
  std::optional<int> at_level;   // of a Sequential: enables its passes instead of the level of the context
  int count = 0;                 // rounds of a fixpoint, times of a repeat, level of a named pipeline
  std::vector<PipelineItem> children;
  SourceSpan span;

  // Equality of the contents; spans do not count.
  friend bool operator==(const PipelineItem& a, const PipelineItem& b);
};
using Pipeline = std::vector<PipelineItem>;

// Reads the text of a buffer that begins at the global offset `base`. Reports the first error and returns nothing then.
// `level` is that of `default` where the text names none; without it, that is an error.
std::optional<Pipeline> ParsePipeline(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics,
                                      std::optional<int> level = std::nullopt);

// The canonical spelling: parsing it gives an equal pipeline.
std::string PrintPipeline(const Pipeline& pipeline);
// The pass with the options that were given, for headings: it is cut off after 100 bytes.
std::string TitleOf(const PassInfo& info);
// Prints the pipeline as the value of "passes" in a pipeline file, on one line.
std::string PrintPipelineJson(const Pipeline& pipeline);

// The passes of the pipeline as one Sequential. The target and the configuration of `context` choose the passes of
// named pipelines, see PipelineEntry; null: no target, and the defaults. Reports all unknown names and wrong options,
// passes that require one which is not registered, and named pipelines that contain themselves.
Result<Pass> BuildPipeline(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics,
                           const PassContext* context = nullptr);

// The pipeline with the passes of named pipelines in their places: as a Sequential, unless their level is `level`, that
// of the context. So are those of passes that are registered as a Sequential. Names without a pipeline stay. Only for
// pipelines that BuildPipeline has built, with the same context.
Pipeline ExpandPipeline(const Pipeline& pipeline, const PassRegistry& registry, std::optional<int> level,
                        const PassContext* context = nullptr);

// An item that a run of the pipeline skips, and the level there: that of the context, or of the group around the item.
struct SkippedItem {
  const PipelineItem* item;
  int level;
};

// The items that a run of the pipeline will skip because their level is above that level. Items inside of a skipped
// Sequential are not listed, nor are passes that a named pipeline skips.
std::vector<SkippedItem> SkippedByLevel(const Pipeline& pipeline, const PassRegistry& registry,
                                        const PassContext& context);

// All passes and Sequentials that the pipeline names, those of named pipelines excepted.
std::vector<std::string_view> NamesIn(const Pipeline& pipeline);

// A named instrument. In a file, its options are next to its name.
struct InstrumentSpec {
  std::string name;
  OptionValue::Dict options;
  SourceSpan span;
};

// The contents of a pipeline file; missing keys are empty.
struct PipelineFile {
  std::vector<LocatedName> plugins;    // shared objects; relative paths start from the folder of the file
  std::optional<TextVersion> version;  // of TVM, whose text is printed
  std::optional<int> opt_level;
  std::vector<LocatedName> disabled;
  std::vector<LocatedName> required;
  OptionValue::Dict config;
  std::optional<Pipeline> passes;
  OptionValue target;  // as ReadTarget takes it; null if there is none
  std::vector<InstrumentSpec> instruments;
};

// Reads a JSON pipeline. Reports every unknown key, with the nearest one, and values of a wrong type.
std::optional<PipelineFile> ParsePipelineFile(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

// The canonical text of a pipeline file, which reads back as the same; empty keys are left out.
std::string PrintPipelineFile(const PipelineFile& file);

// Passes for a phase of a named pipeline, see PipelineRule.
struct PhasePasses {
  int64_t phase = 0;  // not negative
  Pipeline passes;
};

// Reads the value of an option of the type Phases: a list of [phase, passes], where the passes are a string or one of
// the items of "passes" in a pipeline file. `what` names the option in messages. Reports every misfit and returns
// nothing then.
std::optional<std::vector<PhasePasses>> ReadPhases(const OptionValue& value, std::string_view what,
                                                   DiagnosticEngine& diagnostics);

// Reads instruments in the syntax of a pipeline, such as "timing,print-after<passes=[FoldConstant]>".
std::optional<std::vector<InstrumentSpec>> ParseInstruments(std::string_view text, uint32_t base,
                                                            DiagnosticEngine& diagnostics);

}  // namespace iropt
