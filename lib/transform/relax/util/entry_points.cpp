#include "entry_points.h"

#include <fmt/format.h>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/references.h"
#include "iropt/ir/location.h"
#include "iropt/pass/skip.h"

namespace iropt {

namespace {

void Report(const Node& place, std::string_view name, const GlobalVar& found, EntryPointChange change,
            DiagnosticEngine& diagnostics) {
  diagnostics.Error(
      Location(place), "pass-failed",
      fmt::format("{} of '{}' cannot be {}, because '{}' refers to it", change.what, found.name, change.done, name));
}

bool ReportReference(const Function& function, std::string_view name, const Module& module,
                     FunctionRef<bool(size_t)> changes, EntryPointChange change, DiagnosticEngine& diagnostics) {
  const std::optional<FunctionReference> found = FindReference(function, module, changes);
  if (found) Report(*found->place, name, *found->callee, change, diagnostics);
  return found.has_value();
}

}  // namespace

bool RefersToChanged(const Module& module, FunctionRef<bool(size_t)> changes, EntryPointChange change,
                     ModulePassContext& context) {
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      if (ReportReference(*function, entry.var->name, module, changes, change, context.diagnostics)) return true;
      continue;
    }
    const auto callees = context.Analysis<CalledFunctions>(entry);
    for (const GlobalVar* var : *callees) {
      const int index = module.IndexOf(var);
      if (index < 0 || !changes(static_cast<size_t>(index))) continue;
      Report(*entry.func, entry.var->name, *var, change, context.diagnostics);
      return true;
    }
  }
  return false;
}

bool RefersToChanged(const Function& function, FunctionPassContext& context, FunctionRef<bool(const Function&)> changes,
                     EntryPointChange change) {
  const Module& module = context.module();
  const auto changes_at = [&](size_t index) {
    const auto* callee = As<Function>(module.functions()[index].func);
    return callee && SkipsOptimization(*callee).empty() && changes(*callee);
  };
  return ReportReference(function, context.var()->name, module, changes_at, change, context.diagnostics());
}

}  // namespace iropt
