// Helpers for module passes that rewrite Relax functions.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/remark.h"
#include "iropt/support/parallel.h"

namespace iropt {

// Replaces every Relax function by rewrite(function, workspace), in parallel; the same pointer means no change. All
// calls see the old module: changes are applied when all are done.
template <class Rewrite>
void RewriteRelaxFunctions(Module& module, int threads, Rewrite&& rewrite) {
  std::vector<std::pair<const Function*, FuncStorageRef>> changed(module.size());
  ParallelFor(module.size(), threads, [&](size_t i) {
    const ModuleEntry& entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) return;
    const RemarkFunction in_function(entry.var->name);
    Workspace workspace(entry.storage);
    const Function* result = rewrite(function, workspace);
    if (result != function) changed[i] = {result, workspace.Finish()};
  });
  for (size_t i = 0; i < changed.size(); ++i) {
    if (changed[i].first) module.SetAt(i, changed[i].first, std::move(changed[i].second));
  }
}

// For each function that is not kept, a remark that it is removed, if remarks are wanted. `kept` is by index.
void RemarkRemovedFunctions(const Module& module, const std::vector<bool>& kept, std::string_view reason);

// The module after CanonicalizeBindings and DeadCodeElimination, for passes that leave aliases and dead code.
Result<Module> CleanUp(Module module, ModulePassContext& context);

}  // namespace iropt
