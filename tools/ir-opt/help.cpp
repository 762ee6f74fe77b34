#include "help.h"

#include <fmt/format.h>

#include "cli/flag_help.h"
#include "cli/foreign_flags.h"
#include "flag_table.h"
#include "topics.h"

namespace iropt {

namespace {

std::string RenderForeignFlags() {
  std::string out = "\nFlags of other tools, and what ir-opt has for them:\n";
  for (const ForeignFlag& flag : kForeignFlags) {
    const std::string name = fmt::format("  -{} ({})", flag.name, flag.tool);
    const std::string_view answer = flag.ours.empty() ? flag.why : flag.ours;
    // A long name leaves no room beside it.
    out += name.size() < kFlagNameWidth ? fmt::format("{:{}}{}\n", name, kFlagNameWidth, answer)
                                        : fmt::format("{}\n{:{}}{}\n", name, "", kFlagNameWidth, answer);
  }
  return out;
}

}  // namespace

std::string RenderHelp() {
  return RenderHelpHead(Description()) + RenderFlags(Flags(), /*with_details=*/false) +
         fmt::format("\nExit codes:\n{}\nMore: -help-all, -help-pipelines, -help-pass=NAME, man ir-opt\n", kExitCodes);
}

std::string RenderHelpAll() {
  return RenderHelpHead(Description()) + RenderFlags(Flags(), /*with_details=*/true) + RenderForeignFlags() +
         fmt::format("\n{}\n\nExamples:\n{}\nExit codes:\n{}", WrapText(kFlagRules, 0), kExamples, kExitCodes);
}

}  // namespace iropt
