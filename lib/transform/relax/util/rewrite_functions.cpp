#include "rewrite_functions.h"

#include "iropt/transform/relax/simplify/canonicalize_bindings.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"

namespace iropt {

Result<Module> CleanUp(Module module, ModulePassContext& context) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    Workspace workspace(entry.storage);
    const Result<const Function*> canonical = CanonicalizeBindings(function, &module, workspace, context.diagnostics);
    if (!canonical.ok()) return canonical.error();
    if (*canonical != function) module.SetAt(i, *canonical, workspace.Finish());
  }
  return DeadCodeElimination(std::move(module), {}, context.context.threads, context.diagnostics,
                             context.context.analyses());
}

}  // namespace iropt
