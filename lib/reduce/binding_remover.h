// Removing bindings from a Relax function.
#pragma once

#include <functional>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

// Parts of a function to remove. Functions that are not set remove nothing; they may be asked several times.
struct BindingRemoval {
  // Returns whether to remove the binding. If its variable is used nevertheless, it becomes a parameter.
  std::function<bool(const Binding&)> removes = {};
  // The operand that replaces the variable of a binding, which is removed; null if it stays.
  std::function<const Expr*(const Binding&)> forwards = {};
  // Returns whether to turn the constant into a parameter.
  std::function<bool(const Constant&)> frees = {};
  // The variable to return; null: what the function returns, or, if all of that is removed, the last variable that is
  // left.
  const Var* result = nullptr;
  // The signature must stay, because the function is called: variables that are used become zeros, and constants stay.
  bool keep_signature = false;
};

// Returns the function without these parts, the same pointer if nothing changes. O(nodes).
const Function* RemoveFrom(const Function* function, const BindingRemoval& removal, const ModuleEntry& entry,
                           const Module& module, Workspace& workspace);

// Removes the parts from all Relax functions of the module; keep_signature is set for those that are called.
void RemoveFromAll(Module& module, BindingRemoval removal);

// By index in the module: whether a function refers to the function.
std::vector<bool> CalledInModule(const Module& module);

// Calls f(function, index, workspace) for each Relax function, and puts the functions that it returns into the module.
void RewriteRelaxFunctions(Module& module, FunctionRef<const Function*(const Function*, size_t, Workspace&)> f);

}  // namespace iropt
