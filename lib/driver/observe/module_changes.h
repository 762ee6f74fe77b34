// The functions in which two modules differ.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

struct ModuleChanges {
  std::vector<std::string> functions;  // changed, added or removed, in the order of the new module, then the old one
  bool attributes = false;             // of the module, or its global infos

  bool empty() const { return functions.empty() && !attributes; }
};

// Functions that both modules share are not looked at; others are compared by structure. O(size of those others).
ModuleChanges FindChanges(const Module& before, const Module& after);

}  // namespace iropt
