// Private functions whose calls are all known, so that their parameters and results can change together with the calls.
#pragma once

#include <algorithm>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"
#include "rewrite_functions.h"

namespace iropt {

// By index in the module: whether it is a graph-level function without a global symbol, and nothing refers to it but
// calls with as many arguments as it has parameters that `accepts` accepts. `accepts` is given the index and the call.
// O(nodes).
std::vector<bool> ChangeableFunctions(const Module& module, FunctionRef<bool(size_t, const Call&)> accepts);

// The index of the function of the module that is called, or -1.
int CalleeIndex(const Module& module, const Call& call);

// Replaces the graph-level functions that `changes` marks by change(index, function, workspace), which sees the module
// as it was, then every graph-level function by adapt(function, workspace, inferrer), which sees it with the new ones.
// Nothing where none is marked.
template <class Change, class Adapt>
void ChangeFunctions(Module& module, const std::vector<bool>& changes, int threads, Change&& change, Adapt&& adapt) {
  if (std::ranges::find(changes, true) == changes.end()) return;
  Module changed = module;
  for (size_t i = 0; i < module.size(); ++i) {
    if (!changes[i]) continue;
    const ModuleEntry& entry = module.functions()[i];
    Workspace workspace(entry.storage);
    const Function* function = change(i, *To<Function>(entry.func), workspace);
    changed.SetAt(i, function, workspace.Finish());
  }
  module = std::move(changed);
  RewriteFunctions(module, threads, [&](const Function* function, Workspace& workspace) {
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    return adapt(function, workspace, inferrer);
  });
}

// The types of the operands, global functions included.
std::vector<const Type*> TypesOf(std::span<const Expr* const> operands, const Module& module);
std::vector<const Type*> TypesOf(std::span<const Var* const> params);

// The function with other parameters and another body, its type inferred; its result type stays unless `ret_type` says
// otherwise.
const Function* WithSignature(const Function& old, std::span<const Var* const> params, const Expr* body,
                              const Type* ret_type, const Module& module, Workspace& workspace);

}  // namespace iropt
