// Passes that change what entry points take or return. Callers outside of the module are adapted by the user; a
// reference within the module would be wrong without notice, so these passes report it as an error.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// What a pass does to entry points: "parameters", "bound".
struct EntryPointChange {
  std::string_view what;
  std::string_view done;
};

// Reports the first place in the module that refers to a function that `changes`, by its index; returns whether there
// is one. O(nodes).
bool RefersToChanged(const Module& module, FunctionRef<bool(size_t)> changes, EntryPointChange change,
                     ModulePassContext& context);

// The same in one function, for a function pass. What function passes leave alone does not change.
bool RefersToChanged(const Function& function, FunctionPassContext& context, FunctionRef<bool(const Function&)> changes,
                     EntryPointChange change);

}  // namespace iropt
