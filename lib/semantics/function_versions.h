// Versions of functions, which show those that passes have changed, directly or in functions that they call.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

class FunctionVersions {
 public:
  // Takes note of the functions of a module. O(size of those that are not the same nodes as before).
  void Update(const Module& module);
  // Returns a number that stays the same as long as the function and those that it refers to are structurally equal.
  // O(functions).
  uint64_t Fingerprint(const GlobalVar* var) const;

 private:
  struct Version {
    ModuleEntry entry;  // keeps the nodes that it is compared with
    uint64_t hash = 0;
    std::vector<const GlobalVar*> called;
  };

  LookupMap<const GlobalVar*, Version> versions_;
};

}  // namespace iropt
