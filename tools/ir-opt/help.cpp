#include "ir-opt/help.h"

#include <fmt/format.h>

#include "cli/flag_help.h"
#include "cli/foreign_flags.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/modes/mode.h"
#include "ir-opt/topics.h"

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

std::string RenderModes() {
  std::string out = "\nCommands, which have flags and help of their own, as in 'ir-opt diff -help':\n";
  for (const Mode* mode : Modes()) {
    const std::string name = fmt::format("  {} {}", mode->name, mode->usage);
    out += name.size() < kFlagNameWidth ? fmt::format("{:{}}{}\n", name, kFlagNameWidth, mode->summary)
                                        : fmt::format("{}\n{:{}}{}\n", name, "", kFlagNameWidth, mode->summary);
  }
  return out;
}

}  // namespace

std::string RenderHelp() {
  return RenderHelpHead(Description()) + RenderFlags(Flags(), /*with_details=*/false) + RenderModes() +
         fmt::format("\nExit codes:\n{}\nMore: -help-all, -help-pipelines, -help-pass=NAME, man ir-opt\n", kExitCodes);
}

std::string RenderHelpAll() {
  return RenderHelpHead(Description()) + RenderFlags(Flags(), /*with_details=*/true) + RenderModes() +
         RenderForeignFlags() +
         fmt::format("\n{}\n\nExamples:\n{}\nExit codes:\n{}", WrapText(kFlagRules, 0), kExamples, kExitCodes);
}

}  // namespace iropt
