#include "ir-opt/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/flag_help.h"
#include "cli/foreign_flags.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/modes/mode.h"
#include "ir-opt/topics.h"
#include "iropt/driver/catalog.h"

namespace iropt {

namespace {

HelpRow RowOf(const ForeignFlag& flag) {
  return {fmt::format("-{} ({})", flag.name, flag.tool), flag.ours.empty() ? flag.why : flag.ours};
}

std::string RenderForeignFlags() {
  std::vector<HelpRow> rows;
  for (const ForeignFlag& flag : kForeignFlags) rows.push_back(RowOf(flag));
  return "Flags of other tools, and what ir-opt has for them:\n" + RenderRows(rows);
}

std::string RenderModes() {
  std::vector<HelpRow> rows;
  for (const Mode* mode : Modes()) rows.push_back({fmt::format("{} {}", mode->name, mode->usage), mode->summary});
  return "Commands, which have flags and help of their own, as in 'ir-opt diff -help':\n" + RenderRows(rows);
}

std::string RenderCommonPage() { return RenderHelp(Description()) + ", or the name of a pass; also man ir-opt\n"; }

}  // namespace

std::string RenderIrOptHelpAll() {
  return fmt::format("{}\n{}\n{}", RenderHelpAll(Description()), RenderModes(), RenderForeignFlags());
}

Result<std::string> RenderIrOptHelpPage(std::string_view page, const PassRegistry& registry) {
  if (page == kCommonPage) return RenderCommonPage();
  if (page == kCommandsPage) return RenderModes();
  if (page == kPipelinesPage) return std::string(kPipelines);
  if (page == kForeignPage) return RenderForeignFlags();
  Result<std::string> text = RenderHelpPage(Description(), page);
  if (text.ok()) return text;
  Result<std::string> pass = DescribePass(page, registry);
  if (pass.ok()) return pass;
  const std::string_view name = page.substr(std::min(page.find_first_not_of('-'), page.size()));
  const auto* foreign = std::ranges::find(kForeignFlags, name, &ForeignFlag::name);
  if (foreign != std::ranges::end(kForeignFlags)) return RenderRows(std::vector{RowOf(*foreign)});
  return text;
}

}  // namespace iropt
