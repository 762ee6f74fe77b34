// Prints the effect of each pass on the module.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "iropt/observe/ir_printer.h"
#include "iropt/observe/module_changes.h"
#include "iropt/observe/options.h"

namespace iropt {

// After each pass that is not composite: the functions that it changed, or the difference of their texts. A pass that
// changed nothing is a line, or nothing. Comparing is by structure, so that printing is paid for changes only.
class PrintChanged : public ChangeInstrument {
 public:
  PrintChanged(ChangePrinting mode, std::shared_ptr<const IrPrinter> printer, const ModuleConsole& console)
      : ChangeInstrument("print-changed"), mode_(mode), printer_(std::move(printer)), console_(console) {}

 private:
  Status OnResult(const Module& before, const Module& after, const PassInfo& info, ModuleChanges changes) override;
  bool shows_difference() const { return mode_ == ChangePrinting::Diff || mode_ == ChangePrinting::ColourDiff; }
  Status PrintDifference(const Module& before, const Module& after, const std::string& heading,
                         std::span<const std::string> functions) const;

  const ChangePrinting mode_;
  const std::shared_ptr<const IrPrinter> printer_;
  const ModuleConsole& console_;
};

}  // namespace iropt
