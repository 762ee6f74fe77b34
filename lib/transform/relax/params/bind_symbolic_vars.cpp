// BindSymbolicVars: binds symbolic variables to values.
//
//   def main(x: R.Tensor(("n", "m"))):          def main(x: R.Tensor((16, "m"))):
//       y: R.Tensor((n * 2, m)) = ...    -->        y: R.Tensor((32, m)) = ...
//
// `binding_map` maps names to integers; `func_name` names the function, the default is all Relax functions. A name that
// the function does not define, or that several of its variables have, is an error; without `func_name` a name must
// occur in at least one function. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/free_vars.h"
#include "iropt/infer/substitute.h"
#include "iropt/ir/context.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/edit_distance.h"
#include "iropt/transform/options/BindSymbolicVars.h"
#include "transform/relax/util/missing_function.h"

namespace iropt {

namespace {

struct NamedValue {
  std::string name;
  int64_t value;
  SourceSpan span;  // of the name in the option
  bool used = false;
};

class ModuleBinder {
 public:
  ModuleBinder(std::vector<NamedValue> values, std::string function, SourceSpan function_span,
               DiagnosticEngine& diagnostics)
      : values_(std::move(values)),
        function_(std::move(function)),
        function_span_(function_span),
        diagnostics_(diagnostics) {}

  Result<Module> Run(Module module) {
    if (values_.empty()) return module;
    if (!function_.empty() && !Named(module)) return Failure{ErrorCode::PassFailed};
    bool ok = true;
    for (size_t i = 0; i < module.size(); ++i) {
      const ModuleEntry entry = module.functions()[i];
      const auto* function = As<Function>(entry.func);
      if (!function || (!function_.empty() && entry.var->name != function_)) continue;
      Workspace workspace(module, entry.storage);
      const Function* bound = Bind(*function, module, workspace);
      ok &= bound != nullptr;
      if (bound && bound != function) module.SetAt(i, bound, workspace.Finish());
    }
    return ok && CheckAllUsed() ? Result<Module>(std::move(module)) : Failure{ErrorCode::PassFailed};
  }

 private:
  bool Named(const Module& module) {
    const ModuleEntry* entry = module.Find(function_);
    if (entry && Is<Function>(entry->func)) return true;
    diagnostics_.Error(function_span_, "pass-failed", DescribeMissingFunction(module, function_));
    return false;
  }

  const Function* Bind(const Function& function, const Module& module, Workspace& workspace) {
    const std::vector<const tir::Var*> defined_vars = BoundSymVars(&function);
    SymVarMap values;
    for (const tir::Var* defined : defined_vars) known_.insert(defined->name);
    for (NamedValue& named : values_) {
      const tir::Var* var = nullptr;
      for (const tir::Var* defined : defined_vars) {
        if (defined->name != named.name) continue;
        if (var) return Fail(function, fmt::format("several symbolic variables are called '{}'", named.name));
        var = defined;
      }
      if (!var) continue;
      named.used = true;
      values.Set(var, IRContext::Current().Int(named.value, var->dtype));
    }
    if (values.empty()) return &function;
    const Function* bound = Substitute(&function, values, {}, &module, workspace, diagnostics_);
    return bound ? bound : Fail(function, "the values do not fit its types");
  }

  const Function* Fail(const Function& function, std::string message) {
    diagnostics_.Error(Location(function), "pass-failed", std::move(message));
    return nullptr;
  }

  bool CheckAllUsed() {
    bool all = true;
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    const std::string who =
        function_.empty() ? "no Relax function defines a" : fmt::format("function '{}' defines no", function_);
    const std::string_view lead = function_.empty() ? "; they define " : "; it defines ";
    for (const NamedValue& named : values_) {
      if (named.used) continue;
      all = false;
      diagnostics_.Error(
          named.span, "pass-failed",
          fmt::format("{} symbolic variable '{}'{}", who, named.name, DidYouMeanOr(lead, named.name, known)));
    }
    return all;
  }

  std::vector<NamedValue> values_;
  std::set<std::string_view> known_;  // variables of the functions
  std::string function_;
  SourceSpan function_span_;
  DiagnosticEngine& diagnostics_;
};

std::vector<NamedValue> ReadValues(const PassOptions& options) {
  const pass_options::BindSymbolicVars given(options);
  const OptionValue& option = *given.binding_map;
  std::vector<NamedValue> values;
  if (!option.is_dict() && !option.is_null()) options.Refuse(given.binding_map, "must be an object of integers");
  for (const OptionValue::Entry& entry : option.entries()) {
    const int64_t* value = entry.value.as_int();
    if (value && *value < 0) {
      options.Refuse(given.binding_map, entry.value.span(),
                     fmt::format("must not have a negative integer for '{}', found {}", entry.key, *value));
    }
    if (value) values.push_back({entry.key, *value, entry.key_span});
    if (!value) {
      options.Refuse(given.binding_map, entry.value.span(),
                     fmt::format("must have an integer for '{}', not {}", entry.key, entry.value.KindName()));
    }
  }
  return values;
}

}  // namespace

Pass CreateBindSymbolicVars(const PassOptions& options) {
  const pass_options::BindSymbolicVars given(options);
  return CreateModulePass(options.info(), [values = ReadValues(options), function = *given.func_name,
                                           span = given.func_name.span()](Module module, ModulePassContext& context) {
    return ModuleBinder(values, function, span, context.diagnostics).Run(std::move(module));
  });
}

}  // namespace iropt
