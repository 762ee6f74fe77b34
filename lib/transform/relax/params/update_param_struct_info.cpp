// UpdateParamStructInfo: updates the types of parameters, and of the expressions that depend on them.
//
//   def main(x: R.Tensor((16,)), w: R.Tensor((32, 16))):        def main(x: R.Tensor((16,)), w: R.Tensor((64, 16))):
//       y: R.Tensor((32,)) = R.matmul(w, x)              -->        y: R.Tensor((64,)) = R.matmul(w, x)
//       return y                                                    return y
//
// `updates` gives types, as they are written in a module, by the names of functions and of their parameters: {"main":
// {"w": "R.Tensor((64, 16), 'float32')"}}. Names in shapes are the symbolic variables of the function, or new ones.
// Types are inferred again in these functions, and in those that call them. It is an error if types no longer fit, or
// if a symbolic variable is no longer defined. O(nodes).
//
// Source: TVM 0.18's pass of this name, which takes a callback.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/call_graph.h"
#include "iropt/analysis/relax/called_functions.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/UpdateParamStructInfo.h"
#include "iropt/transform/relax/structure/infer_types.h"
#include "transform/relax/util/missing_function.h"

namespace iropt {

namespace {

class ParamUpdater {
 public:
  ParamUpdater(const OptionValue& updates, ModulePassContext& context) : updates_(updates), context_(context) {}

  Result<Module> Run(Module module) {
    const TextReader* reader = context_.context.reader.get();
    if (!reader) return Error{ErrorCode::PassFailed, "the context has no reader"};
    if (!CheckFunctions(module)) return Failure{ErrorCode::PassFailed};
    bool ok = true;
    for (const size_t i : MakeCallGraph(module, context_.AnalysisSource<CalledFunctions>()).post_order) {
      const ModuleEntry entry = module.functions()[i];
      if (!Is<Function>(entry.func)) continue;
      const OptionValue* types = updates_.Find(entry.var->name);
      if (!types && !CallsChanged(entry)) continue;
      Workspace workspace(module, entry.storage);
      const auto* function = To<Function>(entry.func);
      if (types && !ReadTypes(*function, *types, *reader, {module, workspace, context_.diagnostics, types->span()})) {
        ok = false;
        continue;
      }
      const auto type_of = [this](const Var* param) { return types_.Lookup(param); };
      const Result<const Function*> typed = InferTypes(function, type_of, module, workspace, context_.diagnostics);
      ok &= typed.ok() && CheckSymVars(**typed);
      if (!typed.ok() || *typed == function) continue;
      if (!TypeEqual((*typed)->type, function->type)) changed_.insert(entry.var);
      module.SetAt(i, *typed, workspace.Finish());
    }
    return ok ? Result<Module>(std::move(module)) : Failure{ErrorCode::PassFailed};
  }

 private:
  bool Fail(SourceSpan span, DiagId kind, std::string message) {
    context_.diagnostics.Error(span, kind, std::move(message));
    return false;
  }

  bool CheckFunctions(const Module& module) {
    bool ok = true;
    for (const OptionValue::Entry& entry : *updates_.as_dict()) {
      const ModuleEntry* found = module.Find(entry.key);
      if (found && Is<Function>(found->func)) continue;
      ok = Fail(entry.key_span, "pass-failed", DescribeMissingFunction(module, entry.key));
    }
    return ok;
  }

  bool CallsChanged(const ModuleEntry& entry) const {
    return !changed_.empty() &&
           std::ranges::any_of(*context_.Analysis<CalledFunctions>(entry),
                               [this](const GlobalVar* callee) { return changed_.contains(callee); });
  }

  bool ReadTypes(const Function& function, const OptionValue& types, const TextReader& reader,
                 TextReader::Place place) {
    std::vector<const tir::Var*> variables;
    for (const Var* param : function.params) Define(param->type, variables);
    bool ok = true;
    for (const OptionValue::Entry& entry : *types.as_dict()) {
      const auto param = std::ranges::find(function.params, entry.key, &Var::name);
      if (param == function.params.end()) {
        std::vector<std::string_view> names;
        for (const Var* known : function.params) names.push_back(known->name());
        ok = Fail(entry.key_span, "pass-failed",
                  fmt::format("the function has no parameter '{}'{}", entry.key,
                              DidYouMeanOr("; it has ", entry.key, names)));
        continue;
      }
      const TextReader::Place here{place.module, place.workspace, place.diagnostics, entry.value.span()};
      const Type* type = reader.ReadType(*entry.value.as_string(), variables, here);
      ok &= type != nullptr;
      if (!type) continue;
      Define(type, variables);
      types_[*param] = type;
    }
    return ok;
  }

  static void Define(const Type* type, std::vector<const tir::Var*>& variables) {
    for (const tir::Var* var : DefinedSymVars(type)) variables.push_back(var);
  }

  bool CheckSymVars(const Function& function) {
    std::vector<std::string> names;
    for (const tir::Var* var : FreeSymVars(&function)) names.push_back(fmt::format("'{}'", var->name));
    if (names.empty()) return true;
    return Fail(Location(function), "pass-failed",
                fmt::format("with the new types no parameter defines {}", fmt::join(names, ", ")));
  }

  const OptionValue& updates_;
  ModulePassContext& context_;
  LookupMap<const Var*, const Type*> types_;
  LookupSet<const GlobalVar*> changed_;  // functions whose type has changed
};

// Returns whether the option is a dictionary of texts by functions and parameters; their contents depend on the module.
void CheckForm(const PassOptions& options) {
  const pass_options::UpdateParamStructInfo given(options);
  const auto is_text = [](const OptionValue::Entry& entry) { return entry.value.as_string() != nullptr; };
  const auto has_texts = [&](const OptionValue::Entry& entry) {
    return entry.value.is_dict() && std::ranges::all_of(entry.value.entries(), is_text);
  };
  if (given.updates->is_dict() && std::ranges::all_of(given.updates->entries(), has_texts)) return;
  options.Refuse(given.updates,
                 "must be an object of functions, each an object that has types in strings by the names of parameters");
}

}  // namespace

Pass CreateUpdateParamStructInfo(const PassOptions& options) {
  const pass_options::UpdateParamStructInfo given(options);
  CheckForm(options);
  return CreateModulePass(options.info(), [updates = *given.updates](Module module, ModulePassContext& context) {
    return ParamUpdater(updates, context).Run(std::move(module));
  });
}

}  // namespace iropt
