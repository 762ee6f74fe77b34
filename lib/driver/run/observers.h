// Profiles and traces of a run.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/support/file.h"

namespace iropt {

class RunReporter : public RunObserver {
 public:
  // Each binding is printed to `trace`; may be null.
  explicit RunReporter(OutputStream* trace) : trace_(trace) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

  // A table of the times in operators, PrimFuncs and packed functions, in descending order, and of the rest of
  // `total_seconds`.
  std::string RenderTimes(double total_seconds) const;

 private:
  struct Spent {
    size_t calls = 0;
    double seconds = 0;
  };

  OutputStream* trace_;
  std::map<std::pair<CalleeKind, std::string>, Spent, std::less<>> spent_;
};

}  // namespace iropt
