// AttachGlobalSymbol: every function of the module, private ones included, gets the attribute global_symbol, the name
// by which compiled code knows it.
//
//   @T.prim_func(private=True)            @T.prim_func
//   def add(a: T.handle, ...): ...   -->  def add(a: T.handle, ...): ...
//
// If the module has the attribute system_lib_prefix, PrimFuncs without this prefix are renamed to begin with it.
// O(functions), with a prefix O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string>

#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/relax/rename_globals.h"

namespace iropt {

namespace {

std::string PrefixedSymbolOf(const ModuleEntry& entry, std::string_view prefix) {
  const bool has_it =
      entry.var->name.starts_with(prefix) && entry.func->StringAttr(attr::kGlobalSymbol) == entry.var->name;
  if (!Is<PrimFunc>(entry.func) || has_it) return std::string(entry.var->name);
  return fmt::format("{}{}", prefix, entry.var->name);
}

const BaseFunc* WithAttrs(const BaseFunc* function, const DictAttr* attrs, Workspace& workspace) {
  BaseFunc* copy = nullptr;
  if (const auto* graph = As<Function>(function)) {
    copy = workspace.New<Function>(*graph);
  } else {
    copy = workspace.New<PrimFunc>(*To<PrimFunc>(function));
  }
  copy->attrs = attrs;
  return copy;
}

Result<Module> AttachGlobalSymbol(Module module, ModulePassContext& context) {
  const auto* prefix_attr = module.attrs()->Find(attr::kSystemLibPrefix);
  const auto* prefix = prefix_attr ? As<StrAttr>(prefix_attr) : nullptr;
  GlobalRenames renames;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    if (Is<ExternFunc>(entry.func)) continue;
    const std::string symbol = PrefixedSymbolOf(entry, prefix ? prefix->value : std::string_view());
    if (entry.func->StringAttr(attr::kGlobalSymbol) == symbol) continue;
    if (symbol != entry.var->name) {
      if (module.Find(symbol)) {
        context.diagnostics.Error({}, "pass-failed",
                                  fmt::format("function '{}' cannot be renamed to '{}': another function has this name",
                                              entry.var->name, symbol));
        return Failure{ErrorCode::PassFailed};
      }
      renames.emplace(entry.var, GlobalVar::Get(symbol));
    }
    Workspace workspace(module, entry.storage);
    const BaseFunc* named =
        WithAttrs(entry.func, entry.func->attrs->With(attr::kGlobalSymbol, StrAttr::Get(symbol)), workspace);
    module.SetAt(i, named, workspace.Finish());
  }
  return renames.empty() ? module : RenameGlobals(module, renames);
}

}  // namespace

Pass CreateAttachGlobalSymbol(const PassOptions& options) {
  return CreateModulePass(options.info(), AttachGlobalSymbol);
}

}  // namespace iropt
