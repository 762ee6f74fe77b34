// Prints the module before and after passes.
#pragma once

#include <string>
#include <vector>

#include "iropt/pass/instrument.h"
#include "iropt/pass/module_printer.h"

namespace iropt {

// Prints the module around the passes with these names. An empty list stands for all passes that are not composite.
class PrintIRBefore : public PassInstrument {
 public:
  PrintIRBefore(std::vector<std::string> passes, ModulePrinter print)
      : PassInstrument("print-before"), passes_(std::move(passes)), print_(std::move(print)) {}
  Status RunBeforePass(const Module& module, const PassInfo& info) override;

 private:
  std::vector<std::string> passes_;
  ModulePrinter print_;
};

class PrintIRAfter : public PassInstrument {
 public:
  PrintIRAfter(std::vector<std::string> passes, ModulePrinter print)
      : PassInstrument("print-after"), passes_(std::move(passes)), print_(std::move(print)) {}
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  std::vector<std::string> passes_;
  ModulePrinter print_;
};

}  // namespace iropt
