// The functions that passes change.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/pass/instrument.h"

namespace iropt {

struct ModuleChanges {
  std::vector<std::string> functions;  // changed, added or removed, in the order of the new module, then the old one
  bool attributes = false;             // of the module, or its global infos

  bool empty() const { return functions.empty() && !attributes; }
};

// Functions that both modules share are not looked at; others are compared by structure. O(size of those others).
ModuleChanges FindChanges(const Module& before, const Module& after);

// An instrument for the effect of each pass that is not composite and does not fail.
class ChangeInstrument : public PassInstrument {
 public:
  using PassInstrument::PassInstrument;

  Status EnterPassContext() final;
  Status RunBeforePass(const Module& module, const PassInfo& info) final;
  Status RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) final;

 protected:
  // Modules are compared only if the pass reports a change.
  virtual Status OnResult(const Module& before, const Module& after, const PassInfo& info, ModuleChanges changes) = 0;

 private:
  std::vector<Module> running_;  // the inputs of the passes that run
};

}  // namespace iropt
