// The traces of the schedules that passes apply, for ir-opt -print-trace and for programs.
//
// Without a TraceScope nobody wants traces, and the question costs a read of a thread-local variable.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace iropt {

struct AppliedTrace {
  std::string subject;  // the function and the rule, in words; may be empty
  std::string text;     // statements of Python, which tir.ApplyTrace reads
};

// During its lifetime, the traces of this thread and of the threads of its parallel loops go to the listener, one at a
// time.
class TraceScope {
 public:
  using Listener = std::function<void(const AppliedTrace&)>;

  explicit TraceScope(Listener listener);
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  ~TraceScope();

  void Report(const AppliedTrace& trace);

 private:
  Listener listener_;
  std::mutex mutex_;
  TraceScope* outer_;
};

bool WantsTraces();
// For passes, after a schedule was applied.
void ReportTrace(std::string_view subject, std::string text);

}  // namespace iropt
