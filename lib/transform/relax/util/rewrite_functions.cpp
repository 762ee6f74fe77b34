#include "rewrite_functions.h"

#include <fmt/format.h>

#include "iropt/ir/location.h"
#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

void RemarkRemovedFunctions(const Module& module, const std::vector<bool>& kept, std::string_view reason) {
  if (!WantsRemarks()) return;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) continue;
    const ModuleEntry& entry = module.functions()[i];
    const RemarkFunction in_function(entry.var->name);
    RemarkPassed("removed-function", Location(*entry.func),
                 fmt::format("function '{}' is removed: {}", entry.var->name, reason));
  }
}

Result<Module> CleanUp(Module module, ModulePassContext& context) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    Workspace workspace(module, entry.storage);
    const Result<const Function*> canonical = CanonicalizeBindings(function, &module, workspace, context.diagnostics);
    if (!canonical.ok()) return canonical.error();
    if (*canonical != function) module.SetAt(i, *canonical, workspace.Finish());
  }
  return DeadCodeElimination(std::move(module), {}, context.context.threads, context.diagnostics,
                             context.context.analyses());
}

}  // namespace iropt
