// Profiles and traces of a run.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/support/file.h"

namespace iropt {

// Passes the events of a run on to several observers.
class ObserverList : public RunObserver {
 public:
  // The observer must outlive the run.
  void Add(RunObserver& observer) { observers_.push_back(&observer); }
  bool empty() const { return observers_.empty(); }

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

 private:
  std::vector<RunObserver*> observers_;
};

class RunReporter : public RunObserver {
 public:
  // Each binding is printed to `trace`; may be null.
  explicit RunReporter(OutputStream* trace) : trace_(trace) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

  // In the first call of the PrimFunc, whose end OnCall tells, so many PrimFuncs were compiled.
  void OnCompile(std::string_view prim_func, size_t compiled, double seconds);

  // A table of the times in operators, PrimFuncs and packed functions, in descending order, of the time for compiling
  // PrimFuncs, which theirs do not include, and of the rest of `total_seconds`.
  std::string RenderTimes(double total_seconds) const;

 private:
  struct Spent {
    size_t calls = 0;
    double seconds = 0;
  };

  OutputStream* trace_;
  std::map<std::pair<CalleeKind, std::string>, Spent, std::less<>> spent_;
  Spent compiling_;
  std::map<std::string, double, std::less<>> compiled_;  // the seconds of PrimFuncs whose first call has not ended
};

}  // namespace iropt
