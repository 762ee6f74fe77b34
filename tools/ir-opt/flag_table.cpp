#include "ir-opt/flag_table.h"

#include <algorithm>

#include "cli/foreign_flags.h"
#include "ir-opt/topics.h"
#include "iropt/driver/flag_rows.h"

namespace iropt {

namespace {

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/flags.def"
#define IROPT_FLAG IROPT_FLAG_ROW
#define IROPT_INSTRUMENT(Id, Name, Options, Phase, Runs, Flags, Summary) Flags
#include "iropt/driver/instruments.def"
#undef IROPT_FLAG
#define IROPT_MODE_SELECTORS
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/diff.def"
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/eval.def"
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/list.def"
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/query.def"
#define IROPT_FLAG IROPT_FLAG_ROW
#include "ir-opt/modes/verify_rules.def"
#undef IROPT_MODE_SELECTORS
};
constexpr size_t kOwnFlags = 0
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) +1
#include "ir-opt/flags.def"
    ;
constexpr size_t kInstrumentFlags = 0
#define IROPT_FLAG(Group, Name, Member, Value, Summary, Details) +1
#define IROPT_INSTRUMENT(Id, Name, Options, Phase, Runs, Flags, Summary) Flags
#include "iropt/driver/instruments.def"
#undef IROPT_FLAG
    ;

constexpr std::string_view kCommonFlags[] = {"output",      "opt-level", "passes",        "target",          "mode",
                                             "input-shape", "sym",       "verify-each",   "check-semantics", "report",
                                             "metrics",     "bisect",    "print-changed", "quiet",           "threads",
                                             "list-passes", "help-pass", "version"};

constexpr std::string_view kMorePages[] = {kCommandsPage, kPipelinesPage, kForeignPage};

constexpr bool IsOurs(std::string_view name) {
  return std::ranges::find(kFlags, name, &Flag::name) != std::ranges::end(kFlags);
}

static_assert(std::ranges::all_of(kCommonFlags, IsOurs), "the common flags are flags of ir-opt");
static_assert(std::ranges::none_of(kForeignFlags, IsOurs, &ForeignFlag::name), "a flag of ir-opt is not foreign");
static_assert(std::ranges::all_of(kForeignFlags,
                                  [](const ForeignFlag& row) { return row.ours.empty() || IsOurs(row.our_name()); }),
              "foreign_flags.def names flags of ir-opt");

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

std::span<const Flag> RunFlags() { return Flags().first(kOwnFlags + kInstrumentFlags); }

std::span<const Flag> InstrumentFlags() { return RunFlags().subspan(kOwnFlags); }

ToolDescription Description() {
  return {.name = "ir-opt",
          .summary = "optimize machine learning models in ONNX and TVMScript",
          .purpose = "Reads a module, runs a pipeline of passes, prints the module.",
          .arguments = "[flags] [FILE...]",
          .file_meaning = "a module to read; '-' or nothing: the standard input",
          .flags = kFlags,
          .examples = kExamples,
          .exit_codes = kExitCodes,
          .common = kCommonFlags,
          .more_pages = kMorePages};
}

}  // namespace iropt
