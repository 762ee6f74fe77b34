// NormalizeGlobalVar: renames public functions to their global symbols.
//
//   @R.function(private=True)             @R.function(private=True)
//   def f(): ...                          def f1(): ...
//   @R.function                     -->   @R.function
//   def f1():                             def f():
//       R.func_attr({"global_symbol": "f"})
//
// The global symbol of a function becomes its name. A private function with the same name gets a number appended. Two
// functions with one symbol are an error. O(functions), and O(nodes) if a name changes.
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/relax/rename_globals.h"

namespace iropt {

namespace {

// The symbol under which the function is visible; empty for a private one.
std::string_view OwnSymbolOf(const ModuleEntry& entry) { return entry.func->StringAttr(attr::kGlobalSymbol); }

bool IsNormal(const Module& module) {
  for (const ModuleEntry& entry : module.functions()) {
    if (const std::string_view symbol = OwnSymbolOf(entry); !symbol.empty() && symbol != entry.var->name) return false;
  }
  return true;
}

Result<Module> NormalizeGlobalVar(Module module, ModulePassContext& context) {
  if (IsNormal(module)) return module;
  GlobalRenames renames;
  NameTable names;
  LookupMap<std::string_view, const GlobalVar*> owners;  // of symbols
  for (const ModuleEntry& entry : module.functions()) {
    const std::string_view symbol = OwnSymbolOf(entry);
    if (symbol.empty()) continue;
    const auto [owner, is_first] = owners.try_emplace(symbol, entry.var);
    if (!is_first) {
      context.diagnostics.Error(Location(*entry.func), "pass-failed",
                                fmt::format("functions '{}' and '{}' have the same global symbol '{}'", owner->name,
                                            entry.var->name, symbol));
      return Failure{ErrorCode::PassFailed};
    }
    names.Unique(symbol);
    renames.emplace(entry.var, GlobalVar::Get(symbol));
  }
  for (const ModuleEntry& entry : module.functions()) {
    if (OwnSymbolOf(entry).empty()) renames.emplace(entry.var, GlobalVar::Get(names.Unique(entry.var->name)));
  }
  return RenameGlobals(module, renames);
}

}  // namespace

Pass CreateNormalizeGlobalVar(const PassOptions& options) {
  return CreateModulePass(options.info(), NormalizeGlobalVar);
}

}  // namespace iropt
