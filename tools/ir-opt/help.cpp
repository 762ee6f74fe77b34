#include "help.h"

#include <fmt/format.h>

#include "cli/flag_help.h"
#include "flag_table.h"
#include "topics.h"

namespace iropt {

namespace {

std::string Head() {
  return fmt::format("{}\n\nusage: ir-opt [flags] [FILE]\n\n  {:{}}{}\n", kPurpose, "FILE", kFlagNameWidth - 2,
                     "the module to read; '-' or nothing: the standard input");
}

}  // namespace

std::string RenderHelp() {
  return Head() + RenderFlags(Flags(), /*with_details=*/false) +
         fmt::format("\nExit codes:\n{}\nMore: -help-all, -help-pipelines, -help-pass=NAME, man ir-opt\n", kExitCodes);
}

std::string RenderHelpAll() {
  return Head() + RenderFlags(Flags(), /*with_details=*/true) +
         fmt::format("\n{}\n\nExamples:\n{}\nExit codes:\n{}", WrapText(kFlagRules, 0), kExamples, kExitCodes);
}

}  // namespace iropt
