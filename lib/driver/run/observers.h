// Profiles and traces of a run.
#pragma once

#include <functional>
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
  // Names the node that a variable is the value of.
  using NodeNamer = std::function<std::string(const Var&)>;

  // Each binding is printed to `trace`; may be null. With `name_node`, times are those of nodes.
  explicit RunReporter(OutputStream* trace, NodeNamer name_node = nullptr)
      : trace_(trace), name_node_(std::move(name_node)) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view callee, double seconds) override;

  // In the first call of the PrimFunc, whose end OnCall tells, so many PrimFuncs were compiled.
  void OnCompile(std::string_view prim_func, size_t compiled, double seconds);

  // A table of the times in operators, PrimFuncs and packed functions, or in nodes, in descending order, of the time
  // for compiling PrimFuncs, which theirs do not include, and of the rest of `total_seconds`.
  std::string RenderTimes(double total_seconds) const;

 private:
  struct Spent {
    size_t calls = 0;
    double seconds = 0;
  };

  OutputStream* trace_;
  NodeNamer name_node_;
  Spent since_binding_;                    // calls after the last binding
  std::map<std::string, Spent> by_nodes_;  // by their names
  std::map<std::pair<CalleeKind, std::string>, Spent, std::less<>> spent_;
  Spent compiling_;
  std::map<std::string, double, std::less<>> compiled_;  // the seconds of PrimFuncs whose first call has not ended
};

}  // namespace iropt
