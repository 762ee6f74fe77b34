// tir.AnnotateEntryFunc: marks the function that a program starts with.
//
//   @T.prim_func                                 @T.prim_func
//   def main(A: T.handle): ...         -->       def main(A: T.handle):
//                                                    T.func_attr({"tir.is_entry_func": T.bool(True)})
//                                                    ...
//
// That is the only function of the module or, if there are several, the only one with a global symbol. Otherwise, and
// if the module is for the executor "aot", nothing changes. O(functions).
//
// Source: TVM 0.18's pass of this name.
#include <optional>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

bool IsForAot(const Module& module) {
  const auto* executor = As<ObjectAttr>(module.attrs()->Find(attr::kExecutor));
  const auto* name = executor ? As<StrAttr>(executor->Find("name")) : nullptr;
  return name && name->value == "aot";
}

// The position of the entry, if it is a PrimFunc.
std::optional<size_t> FindEntry(const Module& module) {
  const std::vector<ModuleEntry>& functions = module.functions();
  std::optional<size_t> found;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions.size() > 1 && !functions[i].func->attrs->Find(attr::kGlobalSymbol)) continue;
    if (found || !Is<PrimFunc>(functions[i].func)) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

Pass CreateAnnotateEntryFunc(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> {
    if (IsForAot(module)) return module;
    const std::optional<size_t> entry = FindEntry(module);
    if (!entry) return module;
    const ModuleEntry old = module.functions()[*entry];
    const auto* marked = As<IntAttr>(old.func->attrs->Find(attr::kIsEntryFunc));
    if (marked && marked->value != 0) return module;
    Workspace workspace(module, old.storage);
    auto* func = workspace.New<PrimFunc>(*To<PrimFunc>(old.func));
    func->attrs = func->attrs->With(attr::kIsEntryFunc, IntAttr::Bool(true));
    module.SetAt(*entry, func, workspace.Finish());
    return module;
  });
}

}  // namespace iropt
