// Changing the signatures of functions together with their calls, see FunctionsWithOnlyDirectCalls.
#pragma once

#include <algorithm>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/rebuild.h"
#include "rewrite_functions.h"

namespace iropt {

// Replaces the Relax functions that `changes` marks by change(index, function, rebuilder), which sees the old module,
// then every Relax function by adapt(function, workspace, inferrer), which sees the new functions. Does nothing if none
// is marked.
template <class Change, class Adapt>
void ChangeFunctions(Module& module, const std::vector<bool>& changes, int threads, Change&& change, Adapt&& adapt) {
  if (std::ranges::find(changes, true) == changes.end()) return;
  Module changed = module;
  for (size_t i = 0; i < module.size(); ++i) {
    if (!changes[i]) continue;
    const ModuleEntry& entry = module.functions()[i];
    Workspace workspace(module, entry.storage);
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    Rebuilder rebuilder(workspace, &inferrer, Retype::kIfNeeded);
    const Function* function = change(i, *To<Function>(entry.func), rebuilder);
    changed.SetAt(i, function, workspace.Finish());
  }
  module = std::move(changed);
  RewriteRelaxFunctions(module, threads, [&](const Function* function, Workspace& workspace) {
    OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
    return adapt(function, workspace, inferrer);
  });
}

}  // namespace iropt
