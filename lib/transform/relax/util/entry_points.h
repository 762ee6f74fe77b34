// Checks for passes that change the signatures of entry points. The user adapts callers outside of the module;
// references within the module would silently break, so these passes report them as errors.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// The change of entry points for messages: "parameters", "bound".
struct EntryPointChange {
  std::string_view what;
  std::string_view done;
};

// Reports the first reference in the module to a function for which `changes` holds, by its index; returns whether
// there is one. O(nodes).
bool RefersToChanged(const Module& module, FunctionRef<bool(size_t)> changes, EntryPointChange change,
                     ModulePassContext& context);

// Reports the first reference in one function to a function for which `changes` holds; returns whether there is one.
// For function passes: the functions that they skip do not change.
bool RefersToChanged(const Function& function, FunctionPassContext& context, FunctionRef<bool(const Function&)> changes,
                     EntryPointChange change);

}  // namespace iropt
