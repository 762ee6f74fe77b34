// The effect of a pass on a module, in numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/observe/module_changes.h"

namespace iropt {

// Calls of one operator, before and after.
struct OperatorChange {
  uint64_t before = 0;
  uint64_t after = 0;
};

struct BindingChanges {
  size_t added = 0;
  size_t removed = 0;
  size_t changed = 0;

  bool empty() const { return added == 0 && removed == 0 && changed == 0; }
};

struct PassEffect {
  std::vector<std::string> added;  // functions, as the next two; each list in the order of the modules
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  BindingChanges bindings;
  std::map<std::string, OperatorChange> operators;  // those with another number of calls, in the changed functions
  bool attributes = false;                          // of the module, or its global infos
};

// Bindings, nested ones included, are the same if they define the same variable, or else one of the same name; such a
// binding is changed if its value has another structure or uses other variables. O(size of the changed functions).
PassEffect EffectOf(const Module& before, const Module& after, const ModuleChanges& changes);

}  // namespace iropt
