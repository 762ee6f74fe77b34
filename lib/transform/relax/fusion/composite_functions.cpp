#include "composite_functions.h"

#include <fmt/format.h>

#include "iropt/ir/clone.h"
#include "iropt/ir/location.h"

namespace iropt {

std::optional<std::string_view> CompilerOf(std::string_view composite) {
  const size_t end = composite.find('.');
  if (end == std::string_view::npos) return std::nullopt;
  return composite.substr(0, end);
}

const Function* CompositeCallee(const Module& module, const Call& call) {
  const auto* callee = As<GlobalVar>(call.op);
  const ModuleEntry* entry = callee ? module.Find(callee) : nullptr;
  const auto* function = entry ? As<Function>(entry->func) : nullptr;
  return function && !function->StringAttr(attr::kComposite).empty() ? function : nullptr;
}

bool CheckCompositeNames(const Module& module, DiagnosticEngine& diagnostics) {
  bool all_valid = true;
  for (const ModuleEntry& entry : module.functions()) {
    const std::string_view name = entry.func->StringAttr(attr::kComposite);
    if (name.empty() || CompilerOf(name)) continue;
    all_valid = false;
    diagnostics.Error(Location(*entry.func), "pass-failed",
                      fmt::format("invalid attribute Composite '{}' of '{}': expected the name of a compiler and of a "
                                  "pattern, as in 'tensorrt.conv2d'",
                                  name, entry.var->name));
  }
  return all_valid;
}

const Function* CopyAsLocal(const Function& composite, Workspace& workspace) {
  const auto* copy = To<Function>(CloneFunction(&composite, workspace, {.fresh_sym_vars = true}));
  auto* local = workspace.New<Function>(*copy);
  local->attrs = copy->attrs->Without(attr::kPrimitive);
  return local;
}

const DictAttr* ExternalAttrs(const DictAttr* attrs, std::string_view compiler, std::string_view symbol) {
  return attrs->Without(attr::kPrimitive)
      ->With(attr::kCodegen, StrAttr::Get(compiler))
      ->With(attr::kGlobalSymbol, StrAttr::Get(symbol));
}

}  // namespace iropt
