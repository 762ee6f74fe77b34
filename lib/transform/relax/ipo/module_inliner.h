// Replacing calls by the bodies of the functions, for the passes that inline.
#pragma once

#include <functional>

#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"
#include "iropt/support/result.h"

namespace iropt {

struct InlineChoice {
  // Returns whether calls of a function of the module are inlined. Those of recursive ones never are.
  std::function<bool(const Function& function)> inlines;
  // True if calls of primitive functions that are bound to variables are inlined, too.
  bool local_primitives = false;
  // True if the bindings of functions with inlined calls get the order of SortByOperands.
  bool orders = false;
};

// The module with these calls inlined, without the private functions that no call refers to any more. Arguments replace
// parameters, and the types of arguments give the values of symbolic variables; a match_cast defines the variables that
// they do not determine. A dataflow block around the call of a function without dataflow blocks is split. Functions
// with uses other than direct calls stay; calls in pure functions are not replaced by the bodies of functions that are
// only declared to be pure (relax.force_pure). If there is a function to inline, all remaining functions are
// canonicalized and lose their dead bindings, also those without a call of it.
//
// O(nodes of the result). A function that would make its caller too big is not inlined, with a remark.
Result<Module> InlineFunctions(Module module, ModulePassContext& context, const InlineChoice& choice);

}  // namespace iropt
