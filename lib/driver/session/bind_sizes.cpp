#include "driver/session/bind_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/execution/entry.h"
#include "iropt/ir/location.h"
#include "iropt/pass/pass.h"
#include "iropt/support/edit_distance.h"
#include "iropt/transform/pass_calls.h"

namespace iropt {

namespace {

using SizesBySymbol = std::map<std::string, int64_t, std::less<>>;

// False if the name has another size already.
bool Add(SizesBySymbol& symbols, std::string_view name, int64_t size) {
  return symbols.emplace(name, size).first->second == size;
}

// The symbolic variables that the sizes of parameters decide. Nothing if a size does not fit, which is reported.
std::optional<SizesBySymbol> SymbolsOf(const Function& function, const StatedSizes& sizes,
                                       DiagnosticEngine& diagnostics) {
  SizesBySymbol symbols;
  const auto fail = [&](const std::string& message) {
    diagnostics.Error(Location(function), "bad-input", message);
    return std::nullopt;
  };
  for (const auto& [name, dims] : sizes.shapes) {
    const auto param = std::ranges::find(function.params, name, [](const Var* var) { return var->name(); });
    if (param == function.params.end()) {
      std::vector<std::string_view> names;
      for (const Var* known : function.params) names.push_back(known->name());
      return fail(fmt::format("the function has no parameter '{}'{}", name, DidYouMeanOr("; it has ", name, names)));
    }
    const auto* type = As<TensorType>((*param)->type);
    if (!type || !type->known || type->dims.size() != dims.size())
      return fail(fmt::format("parameter '{}' is not a tensor of {} dimensions", name, dims.size()));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i]) continue;
      const PrimExpr* dim = type->dims[static_cast<uint32_t>(i)];
      if (const auto* var = As<tir::Var>(dim)) {
        if (!Add(symbols, var->name, *dims[i])) return fail(fmt::format("'{}' has two sizes", var->name));
      } else if (!arith::IsInt(dim, *dims[i])) {
        return fail(fmt::format("dimension {} of parameter '{}' is not {}", i, name, *dims[i]));
      }
    }
  }
  return symbols;
}

}  // namespace

// The pass BindSymbolicVars, on the function `main` or the only one.
Result<Module> BindSizes(Module module, const StatedSizes& sizes, CompilerInstance& compiler) {
  const ModuleEntry* main = module.Find("main");
  for (const ModuleEntry& entry : module.functions()) {
    if (main == nullptr && Is<Function>(entry.func)) main = &entry;
  }
  const auto* function = main ? As<Function>(main->func) : nullptr;
  if (function == nullptr) return Error{ErrorCode::Usage, "-input-shape and -sym need a Relax function"};
  std::optional<SizesBySymbol> found = SymbolsOf(*function, sizes, compiler.diagnostics());
  if (!found) return Failure{ErrorCode::Usage};
  const std::vector<std::pair<std::string_view, const tir::Var*>> stated = StatedDims(*function);
  for (const auto& [name, size] : sizes.symbols) {
    // The model's name may be no identifier.
    const auto own = std::ranges::find(stated, name, [](const auto& dim) { return dim.first; });
    if (!Add(*found, own == stated.end() ? std::string_view(name) : own->second->name, size))
      return Error{ErrorCode::Usage, fmt::format("'{}' has two sizes (-sym)", name)};
  }
  std::vector<OptionValue::Entry> bindings;
  for (const auto& [name, size] : *found) bindings.push_back({name, OptionValue(size), {}});
  PassContext context = compiler.MakeContext(kMaxOptLevel);
  const Pass pass = transform::BindSymbolicVars(
      {.binding_map = OptionValue(std::move(bindings)), .func_name = std::string(main->var->name)});
  IROPT_ASSIGN_OR_RETURN(PassResult result, pass(std::move(module), context));
  return std::move(result.module);
}

}  // namespace iropt
