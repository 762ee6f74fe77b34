#include "iropt/observe/print_changed.h"

#include <fmt/format.h>

#include "iropt/pass/pipeline.h"
#include "iropt/support/line_diff.h"

namespace iropt {

Status PrintChanged::OnResult(const Module& before, const Module& after, const PassInfo& info, ModuleChanges changes) {
  const bool changes_functions = !changes.functions.empty();
  std::erase_if(changes.functions, [&](const std::string& name) { return !printer_->filter().Matches(name); });
  const std::string heading = fmt::format("IR after {}", TitleOf(info));
  if (changes.empty()) {
    return mode_ == ChangePrinting::All
               ? printer_->PrintHeading(heading, changes_functions ? "filtered out" : "unchanged")
               : Status();
  }
  if (shows_difference()) return PrintDifference(before, after, heading, changes.functions);
  return printer_->PrintFunctions(after, heading, changes.functions);
}

// One difference for each function, so that each is compared with its own text whatever moved in the module.
Status PrintChanged::PrintDifference(const Module& before, const Module& after, const std::string& heading,
                                     std::span<const std::string> functions) const {
  const auto difference = [&](std::span<const std::string> names) {
    const auto text = [&](const Module& module) { return console_.ShownText(SelectFunctions(module, names)); };
    return UnifiedDiff(text(before), text(after), {.colour = mode_ == ChangePrinting::ColourDiff});
  };
  if (functions.empty()) return printer_->PrintText(heading, functions, difference({}));
  for (const std::string& name : functions) {
    const std::span<const std::string> one(&name, 1);
    IROPT_RETURN_IF_ERROR(printer_->PrintText(heading, one, difference(one)));
  }
  return {};
}

}  // namespace iropt
