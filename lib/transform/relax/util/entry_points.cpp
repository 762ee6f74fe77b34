#include "entry_points.h"

#include <fmt/format.h>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/pass/skip.h"
#include "rewrite.h"

namespace iropt {

namespace {

// Finds the first reference to a function that changes, and the value of the binding that it is in.
struct ReferenceFinder : WalkHandler {
  ReferenceFinder(const Module& m, FunctionRef<bool(size_t)> c, const Node& function)
      : module(m), changes(c), place(&function) {}

  void OnBinding(const Binding& binding) {
    if (found) return;
    // Functions have no places of their own in the text.
    const Expr* value = ValueOf(&binding);
    place = Is<GlobalVar>(value) ? static_cast<const Node*>(binding.var) : value;
  }
  void OnGlobal(const GlobalVar* var) {
    const int index = found ? -1 : module.IndexOf(var);
    if (index >= 0 && changes(static_cast<size_t>(index))) found = var;
  }

  const Module& module;
  FunctionRef<bool(size_t)> changes;
  const Node* place;
  const GlobalVar* found = nullptr;
};

void Report(const Node& place, std::string_view name, const GlobalVar& found, EntryPointChange change,
            DiagnosticEngine& diagnostics) {
  diagnostics.Error(
      Location(place), "pass-failed",
      fmt::format("{} of '{}' cannot be {}, because '{}' refers to it", change.what, found.name, change.done, name));
}

bool FindReference(const Function& function, std::string_view name, const Module& module,
                   FunctionRef<bool(size_t)> changes, EntryPointChange change, DiagnosticEngine& diagnostics) {
  ReferenceFinder finder(module, changes, function);
  Walk(function, finder);
  if (finder.found) Report(*finder.place, name, *finder.found, change, diagnostics);
  return finder.found != nullptr;
}

}  // namespace

bool RefersToChanged(const Module& module, FunctionRef<bool(size_t)> changes, EntryPointChange change,
                     DiagnosticEngine& diagnostics) {
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) {
      if (FindReference(*function, entry.var->name, module, changes, change, diagnostics)) return true;
      continue;
    }
    for (const GlobalVar* var : CalledFunctions::Compute(*entry.func, *entry.storage)) {
      const int index = module.IndexOf(var);
      if (index < 0 || !changes(static_cast<size_t>(index))) continue;
      Report(*entry.func, entry.var->name, *var, change, diagnostics);
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
  return FindReference(function, context.var()->name, module, changes_at, change, context.diagnostics());
}

}  // namespace iropt
