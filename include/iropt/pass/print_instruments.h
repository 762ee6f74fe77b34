// Prints the module before and after passes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "iropt/pass/instrument.h"
#include "iropt/pass/module_printer.h"

namespace iropt {

// Returns whether the module is printed around the run of a pass that is about to begin, or has just ended.
using PassFilter = std::function<bool(const PassInfo&)>;

// Selects the passes with these names. An empty list stands for all passes that are not composite.
PassFilter PassesNamed(std::vector<std::string> passes);

// Prints the module around the runs of passes that the filter selects.
class PrintIRBefore : public PassInstrument {
 public:
  PrintIRBefore(std::vector<std::string> passes, ModulePrinter print)
      : PrintIRBefore(PassesNamed(std::move(passes)), std::move(print)) {}
  PrintIRBefore(PassFilter filter, ModulePrinter print)
      : PassInstrument("print-before"), filter_(std::move(filter)), print_(std::move(print)) {}
  Status RunBeforePass(const Module& module, const PassInfo& info) override;

 private:
  PassFilter filter_;
  ModulePrinter print_;
};

class PrintIRAfter : public PassInstrument {
 public:
  PrintIRAfter(std::vector<std::string> passes, ModulePrinter print)
      : PrintIRAfter(PassesNamed(std::move(passes)), std::move(print)) {}
  PrintIRAfter(PassFilter filter, ModulePrinter print)
      : PassInstrument("print-after"), filter_(std::move(filter)), print_(std::move(print)) {}
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  PassFilter filter_;
  ModulePrinter print_;
};

}  // namespace iropt
