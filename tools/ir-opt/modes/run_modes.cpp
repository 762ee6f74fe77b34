// Modes that work on modules as a run of ir-opt does, under some of its flags.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "ir-opt/command_line.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/modes/mode.h"

namespace iropt {

namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool IsOneOf(FlagGroup group, std::initializer_list<FlagGroup> groups) {
  return std::ranges::find(groups, group) != groups.end();
}

// Flags about the tool and its messages.
bool IsCommon(const Flag& flag) {
  return IsOneOf(flag.group, {FlagGroup::Discovery, FlagGroup::Other}) ||
         IsOneOf(flag.name, {"load-pass-plugin", "quiet", "diagnostics", "color", "progress", "debug-only", "Werror",
                             "skip-type-check", "verify-weights"});
}

bool VerifyTakes(const Flag& flag) {
  if (IsOneOf(flag.name, {"extract", "delete"})) return false;
  return IsCommon(flag) || flag.group == FlagGroup::Input ||
         IsOneOf(flag.name, {"verify-only", "verify-diagnostics", "max-rss", "reproducer", "report", "time-passes",
                             "stats", "time-trace", "remarks", "target", "mode", "text-version", "weights"});
}

bool BisectTakes(const Flag& flag) {
  if (IsOneOf(flag.name, {"quiet", "split-input-file", "debug-only", "start-after", "stop-after", "print-pipeline"}))
    return false;
  return IsCommon(flag) || IsOneOf(flag.group, {FlagGroup::Pipeline, FlagGroup::Input}) ||
         flag.name.starts_with("check-semantics-") ||
         IsOneOf(flag.name, {"bisect", "rtol", "require-comparison", "pass-timeout", "max-rss", "max-ir-growth",
                             "reproducer", "text-version", "text-pep695", "inline-constants"});
}

bool LintTakes(const Flag& flag) {
  if (IsOneOf(flag.name, {"split-input-file", "keep-precision", "precision-objective", "precision-report", "rtol",
                          "start-after", "stop-after", "run-reproducer", "print-pipeline"}))
    return false;
  return IsCommon(flag) || IsOneOf(flag.group, {FlagGroup::Pipeline, FlagGroup::Input}) ||
         IsOneOf(flag.name, {"lint", "max-rss", "text-version"});
}

bool PrintPipelineTakes(const Flag& flag) {
  return !IsOneOf(flag.name, {"start-after", "stop-after", "verify-only", "verify-diagnostics", "bisect", "repeat",
                              "generate-checks", "cache-dir", "cache-size", "MD", "MF", "MT"});
}

bool ReproduceTakes(const Flag& flag) {
  return !IsOneOf(flag.name,
                  {"passes", "pipeline", "verify-only", "checkpoint-dir", "resume-from", "cache-dir", "cache-size"});
}

bool ExtractTakes(const Flag& flag) {
  return IsCommon(flag) || IsOneOf(flag.group, {FlagGroup::Input, FlagGroup::Output}) ||
         IsOneOf(flag.name, {"no-verify", "verify-roundtrip"});
}

// The flags of a run of ir-opt that a mode takes.
template <bool (*kTakes)(const Flag&)>
std::span<const Flag> Taken() {
  static const std::vector<Flag> flags = [] {
    std::vector<Flag> taken;
    std::ranges::copy_if(RunFlags(), std::back_inserter(taken), kTakes);
    return taken;
  }();
  return flags;
}

// Runs ir-opt under the flags of the mode.
int RunLimited(const Mode& mode, const std::vector<std::string>& words) {
  const auto parse = [&](const Arguments& arguments) { return ParseRun(arguments, &mode); };
  return RunCommandLine(Describe(mode), words, parse, RunLine);
}

constexpr std::string_view kVerifySelectors[] = {"verify-only"};
constexpr std::string_view kBisectSelectors[] = {"bisect"};
constexpr std::string_view kLintSelectors[] = {"lint"};
constexpr std::string_view kPrintPipelineSelectors[] = {"print-pipeline"};
constexpr std::string_view kReproduceSelectors[] = {"run-reproducer"};

}  // namespace

constinit const Mode verify_mode = {.name = "verify",
                                    .title = "ir-opt verify",
                                    .usage = "[FILE...]",
                                    .summary = "check modules and do nothing else",
                                    .examples = "  ir-opt verify in.ir\n",
                                    .selectors = kVerifySelectors,
                                    .flag = "verify-only",
                                    .flags = Taken<VerifyTakes>,
                                    .run = RunLimited};
constinit const Mode bisect_mode = {.name = "bisect",
                                    .title = "ir-opt bisect",
                                    .usage = "verify|semantics|races|precision|CMD [FILE]",
                                    .summary = "find the first pass whose result is bad",
                                    .examples = "  ir-opt bisect semantics -O3 in.ir -reproducer=small.ir\n",
                                    .selectors = kBisectSelectors,
                                    .flag = "bisect",
                                    .flag_takes_argument = true,
                                    .flags = Taken<BisectTakes>,
                                    .run = RunLimited};
constinit const Mode lint_mode = {.name = "lint",
                                  .title = "ir-opt lint",
                                  .usage = "numeric [FILE]",
                                  .summary = "warn where numbers overflow, vanish or lose digits",
                                  .examples = "  ir-opt lint numeric model.onnx -inputs='samples/*.npz'\n",
                                  .selectors = kLintSelectors,
                                  .flag = "lint",
                                  .flag_takes_argument = true,
                                  .flags = Taken<LintTakes>,
                                  .run = RunLimited};
constinit const Mode print_pipeline_mode = {.name = "print-pipeline",
                                            .title = "ir-opt print-pipeline",
                                            .usage = "[flags of a run]",
                                            .summary = "print the pipeline of a run",
                                            .examples = "  ir-opt print-pipeline -O3\n",
                                            .selectors = kPrintPipelineSelectors,
                                            .flag = "print-pipeline",
                                            .flags = Taken<PrintPipelineTakes>,
                                            .run = RunLimited};
constinit const Mode reproduce_mode = {.name = "reproduce",
                                       .title = "ir-opt reproduce",
                                       .usage = "FILE",
                                       .summary = "run the pipeline in the comments of a file",
                                       .examples = "  ir-opt reproduce repro.ir\n",
                                       .selectors = kReproduceSelectors,
                                       .flag = "run-reproducer",
                                       .flags = Taken<ReproduceTakes>,
                                       .run = RunLimited};
constinit const Mode extract_mode = {.name = "extract",
                                     .title = "ir-opt extract",
                                     .usage = "FUNCTIONS [FILE]",
                                     .summary = "make a module of some functions or bindings",
                                     .examples = "  ir-opt extract main:lv3..lv7 in.ir -o part.ir\n",
                                     .selectors = {},
                                     .flag = "extract",
                                     .flag_takes_argument = true,
                                     .flags = Taken<ExtractTakes>,
                                     .run = RunLimited};

}  // namespace iropt
