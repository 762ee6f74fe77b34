// -print-trace: prints the traces of the schedules that passes apply.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "iropt/pass/applied_trace.h"
#include "iropt/pass/instrument.h"
#include "iropt/support/file.h"

namespace iropt {

// Each trace is a comment that names the pass and what it scheduled, and statements that tir.ApplyTrace reads.
class TracePrinter : public PassInstrument {
 public:
  // The stream must outlive it.
  explicit TracePrinter(OutputStream& out) : PassInstrument("print-trace"), out_(out) {}
  ~TracePrinter() override;

  Status EnterPassContext() override;
  Status RunBeforePass(const Module& module, const PassInfo& info) override;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) override;

 private:
  void LeaveAll();
  void Print(const std::string& pass, const AppliedTrace& trace);

  OutputStream& out_;
  std::vector<std::unique_ptr<TraceScope>> running_;  // for each pass that has not ended
};

}  // namespace iropt
