// What is shown of a run: a table of times, and the values of bindings.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/support/file.h"

namespace iropt {

class RunReporter : public RunObserver {
 public:
  // Bindings are written to `trace` as they come; null: nowhere.
  explicit RunReporter(OutputStream* trace) : trace_(trace) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

  // The time in operators, PrimFuncs and packed functions, most first, and of all of `total_seconds` what is left.
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
