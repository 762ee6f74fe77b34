// Functions that are called from outside of the module, and that passes change on the understanding that whoever calls
// them adapts: these take or return something else then. What refers to one within the module would be wrong without
// anyone's knowing, so such passes refuse it.
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
                     DiagnosticEngine& diagnostics);

// The same in one function, for a function pass. What function passes leave alone does not change.
bool RefersToChanged(const Function& function, FunctionPassContext& context, FunctionRef<bool(const Function&)> changes,
                     EntryPointChange change);

}  // namespace iropt
