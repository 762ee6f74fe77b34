#include "iropt/observe/trace_printer.h"

#include <fmt/format.h>

#include "iropt/support/check.h"

namespace iropt {

TracePrinter::~TracePrinter() { LeaveAll(); }

Status TracePrinter::EnterPassContext() {
  LeaveAll();
  return {};
}

// A run that is out of memory does not end its passes. The innermost scope ends first.
void TracePrinter::LeaveAll() {
  while (!running_.empty()) running_.pop_back();
}

Status TracePrinter::RunBeforePass(const Module&, const PassInfo& info) {
  running_.push_back(
      std::make_unique<TraceScope>([this, pass = info.name](const AppliedTrace& trace) { Print(pass, trace); }));
  return {};
}

Status TracePrinter::RunAfterPass(const Module&, const PassInfo& info, PassOutcome) {
  IROPT_CHECK(!running_.empty(), "pass '{}' ends, but none has begun", info.name);
  running_.pop_back();
  return out_.Flush();
}

void TracePrinter::Print(const std::string& pass, const AppliedTrace& trace) {
  out_.Append(fmt::format("# {}{}{}\n{}", pass, trace.subject.empty() ? "" : ": ", trace.subject, trace.text));
  if (!trace.text.empty() && !trace.text.ends_with('\n')) out_.Append("\n");
}

}  // namespace iropt
