#include "flag_table.h"

#include <algorithm>

#include "cli/flag_rows.h"
#include "cli/foreign_flags.h"
#include "topics.h"

namespace iropt {

namespace {

constexpr Flag kFlags[] = {
#define IROPT_FLAG IROPT_FLAG_ROW
#include "flags.def"
};

constexpr bool IsOurs(std::string_view name) {
  return std::ranges::find(kFlags, name, &Flag::name) != std::ranges::end(kFlags);
}

static_assert(std::ranges::none_of(kForeignFlags, IsOurs, &ForeignFlag::name), "a flag of ir-opt is not foreign");
static_assert(std::ranges::all_of(kForeignFlags,
                                  [](const ForeignFlag& row) { return row.ours.empty() || IsOurs(row.our_name()); }),
              "foreign_flags.def names flags of ir-opt");

}  // namespace

std::span<const Flag> Flags() { return kFlags; }

ToolDescription Description() {
  return {.name = "ir-opt",
          .summary = "optimize tensor programs in TVMScript",
          .purpose = "Reads a module, runs a pipeline of passes, prints the module.",
          .arguments = "[flags] [FILE...]",
          .file_meaning = "a module to read; '-' or nothing: the standard input",
          .flags = kFlags,
          .examples = kExamples,
          .exit_codes = kExitCodes};
}

}  // namespace iropt
