// The functions that a lowering pass works on.
#pragma once

#include <algorithm>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/module_builder.h"
#include "iropt/support/result.h"

namespace iropt {

// The names of the module's Relax functions in alphabetical order, which decides the names of functions that a pass
// adds.
inline std::vector<const GlobalVar*> RelaxFunctions(const Module& module) {
  std::vector<const GlobalVar*> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<Function>(entry.func)) names.push_back(entry.var);
  }
  std::ranges::sort(names, {}, [](const GlobalVar* name) { return name->name; });
  return names;
}

// Replaces the Relax functions, in that order, by rewrite(entry, workspace, inferrer): the same pointer keeps one, null
// means that an error was reported. Returns whether one has changed.
template <class Rewrite>
Result<bool> UpdateRelaxFunctions(ModuleBuilder& builder, DiagnosticEngine& diagnostics, Rewrite&& rewrite) {
  bool changed = false;
  for (const GlobalVar* name : RelaxFunctions(builder.module())) {
    const ModuleEntry entry = *builder.module().Find(name);
    Workspace workspace(builder.module(), entry.storage);
    OpTypeInferrer inferrer(&builder.module(), workspace.arena(), &diagnostics);
    const Function* function = rewrite(entry, workspace, inferrer);
    if (!function) return Failure{ErrorCode::PassFailed};
    if (function == entry.func) continue;
    builder.UpdateFunction(name, function, workspace.Finish());
    changed = true;
  }
  return changed;
}

}  // namespace iropt
