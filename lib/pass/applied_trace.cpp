#include "iropt/pass/applied_trace.h"

#include <utility>

#include "iropt/support/inherited.h"

namespace iropt {

namespace {

using CurrentTraceScope = Inherited<TraceScope>;

}  // namespace

TraceScope::TraceScope(Listener listener) : listener_(std::move(listener)), outer_(CurrentTraceScope::Exchange(this)) {}

TraceScope::~TraceScope() { CurrentTraceScope::Restore(outer_); }

void TraceScope::Report(const AppliedTrace& trace) {
  const std::scoped_lock lock(mutex_);
  listener_(trace);
}

bool WantsTraces() { return CurrentTraceScope::Current() != nullptr; }

void ReportTrace(std::string_view subject, std::string text) {
  if (TraceScope* scope = CurrentTraceScope::Current()) scope->Report({std::string(subject), std::move(text)});
}

}  // namespace iropt
