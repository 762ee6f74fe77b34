// Helpers for module passes that rewrite Relax functions.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/remark.h"
#include "iropt/support/parallel.h"
#include "iropt/support/result.h"

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
    Workspace workspace(module, entry.storage);
    const Function* result = rewrite(function, workspace);
    if (result != function) changed[i] = {result, workspace.Finish()};
  });
  for (size_t i = 0; i < changed.size(); ++i) {
    if (changed[i].first) module.SetAt(i, changed[i].first, std::move(changed[i].second));
  }
}

// Replaces every Relax function by rewrite(entry, workspace, diagnostics), which may fail, in parallel. Diagnostics
// come in the order of the functions.
template <class Rewrite>
Status TryRewriteRelaxFunctions(Module& module, const ModulePassContext& context, Rewrite&& rewrite) {
  struct Slot {
    DiagnosticBuffer diagnostics = {};
    std::optional<Error> error = {};
    const Function* result = nullptr;
    FuncStorageRef storage = {};
  };
  std::vector<Slot> slots(module.size());
  ParallelFor(module.size(), context.context.threads, [&](size_t i) {
    const ModuleEntry& entry = module.functions()[i];
    if (!Is<Function>(entry.func)) return;
    const RemarkFunction in_function(entry.var->name);
    Workspace workspace(module, entry.storage);
    DiagnosticEngine diagnostics(&slots[i].diagnostics);
    Result<const Function*> result = rewrite(entry, workspace, diagnostics);
    if (!result.ok()) {
      slots[i].error = result.TakeError();
    } else if (*result != entry.func) {
      slots[i].result = *result;
      slots[i].storage = workspace.Finish();
    }
  });
  for (Slot& slot : slots) slot.diagnostics.ReplayInto(context.diagnostics);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].error) return *std::move(slots[i].error);
    if (slots[i].result) module.SetAt(i, slots[i].result, std::move(slots[i].storage));
  }
  return {};
}

// For each function that is not kept, a remark that it is removed, if remarks are wanted. `kept` is by index.
void RemarkRemovedFunctions(const Module& module, const std::vector<bool>& kept, std::string_view reason);

// The module after CanonicalizeBindings and DeadCodeElimination, for passes that leave aliases and dead code.
Result<Module> CleanUp(Module module, ModulePassContext& context);

}  // namespace iropt
