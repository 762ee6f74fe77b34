// LiftTransformParams: lifts computations on weights into a separate function, which runs once.
//
//   def main(x, w):                          def main(x, w_t):
//       R.func_attr({"num_input": 1})            R.func_attr({"num_input": 1})
//       with R.dataflow():               -->     with R.dataflow():
//           w_t = R.permute_dims(w)                  y = R.matmul(x, w_t)
//           y = R.matmul(x, w_t)                     ...
//           ...                              def main_transform_params(model_params):
//                                                R.func_attr({"num_input": 0})
//                                                with R.dataflow():
//                                                    w = model_params[0]
//                                                    w_t = R.permute_dims(w)
//                                                    output_tuple = (w_t,)
//                                                    ...
//
// The parameters after the first num_input ones are weights. Bindings of dataflow blocks are lifted if all of their
// operands are weights or lifted, too; R.builtin.stop_lift_params prevents it. Instead of the weights, the function
// then takes a shape of those symbolic variables that they do not define, followed by the weights and lifted values
// that it uses. Values that do not depend on weights (R.zeros) are computed again rather than stored. (lift_plan.h,
// param_lifter.h)
//
// With `shared_transform`, functions share one transform function, transform_params, which computes the values that all
// of them compute: those that are listed, or with `true` all that have weights. An existing function with the name of
// the transform function runs before it. With the configuration option relax.lift_transform_params.consume_params
// transform functions free each weight after taking it. Local functions are lifted, as by LambdaLift.
//
// A reference within the module to a function whose parameters change is an error.
//
// O(nodes), and as many comparisons for a shared transform. Source: the rules are those of TVM 0.18's pass of this
// name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "configs/relax.lift_transform_params.consume_params.h"
#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/LiftTransformParams.h"
#include "iropt/transform/relax/ipo/lambda_lift.h"
#include "num_input.h"
#include "param_lifter.h"
#include "transform/relax/util/entry_points.h"
#include "transform/relax/util/missing_function.h"
#include "transform_params.h"

namespace iropt {

namespace {

constexpr std::string_view kSuffix = "transform_params";

struct SharedTransform {
  bool enabled = false;
  std::vector<std::string> functions;  // empty: all that have weights
  SourceSpan span;                     // of the option
};

SharedTransform ReadOption(const PassOptions& options) {
  const pass_options::LiftTransformParams given(options);
  const OptionValue& option = *given.shared_transform;
  if (const bool* enabled = option.as_bool()) return SharedTransform{*enabled, {}, option.span()};
  const OptionValue::List* list = option.as_list();
  SharedTransform shared{true, {}, option.span()};
  for (const OptionValue& item : list ? *list : OptionValue::List{}) {
    if (const std::string* name = item.as_string()) shared.functions.push_back(*name);
  }
  if (!list || shared.functions.size() != list->size()) {
    options.Refuse(given.shared_transform, "must be a boolean or a list of strings");
  }
  return shared;
}

class ModuleLifter {
 public:
  ModuleLifter(Module module, SharedTransform shared, ModulePassContext& context)
      : module_(std::move(module)), shared_(std::move(shared)), context_(context), diagnostics_(context.diagnostics) {}

  Result<Module> Run() {
    std::vector<LiftTarget> targets;
    if (!(shared_.functions.empty() ? FindTargets(targets) : FindNamedTargets(targets)))
      return Failure{ErrorCode::PassFailed};
    const Module before = module_;
    bool ok = true;
    if (shared_.enabled) {
      ok = targets.empty() || Lift(before, targets, std::string(kSuffix));
    } else {
      for (const LiftTarget& target : targets)
        ok &= Lift(before, {target}, fmt::format("{}_{}", before.functions()[target.index].var->name, kSuffix));
    }
    // Callers would still pass the original weights.
    if (!ok || RefersToChanged(
                   before, [&](size_t i) { return TakesOthers(i, before); }, {"weights", "lifted"}, context_)) {
      return Failure{ErrorCode::PassFailed};
    }
    return std::move(module_);
  }

 private:
  // All functions with weights, in the order of their names, except for transform functions.
  bool FindTargets(std::vector<LiftTarget>& targets) {
    bool ok = true;
    for (size_t i = 0; i < module_.size(); ++i) {
      const ModuleEntry& entry = module_.functions()[i];
      if (entry.var->name.ends_with(kSuffix) || !Is<Function>(entry.func)) continue;
      const NumInput num_input = ReadNumInput(*To<Function>(entry.func), entry.var->name, diagnostics_);
      ok &= !num_input.is_wrong;
      if (num_input.value) targets.push_back({i, *num_input.value});
    }
    std::ranges::sort(targets, {},
                      [&](const LiftTarget& target) { return module_.functions()[target.index].var->name; });
    return ok;
  }

  bool FindNamedTargets(std::vector<LiftTarget>& targets) {
    bool ok = true;
    const auto fail = [&](SourceSpan span, std::string message) {
      diagnostics_.Error(span, "pass-failed", std::move(message));
      ok = false;
    };
    for (const std::string& name : shared_.functions) {
      const ModuleEntry* entry = module_.Find(name);
      const auto* function = entry ? As<Function>(entry->func) : nullptr;
      if (!function) {
        fail(shared_.span, DescribeMissingFunction(module_, name));
        continue;
      }
      const NumInput num_input = ReadNumInput(*function, name, diagnostics_);
      ok &= !num_input.is_wrong;
      if (num_input.value) {
        targets.push_back({static_cast<size_t>(module_.IndexOf(entry->var)), *num_input.value});
      } else if (!num_input.is_wrong) {
        fail(Location(*function), fmt::format("function '{}' lacks the attribute num_input", name));
      }
    }
    return ok;
  }

  // Returns whether the parameters of the function changed.
  bool TakesOthers(size_t index, const Module& before) const {
    const auto* old = As<Function>(before.functions()[index].func);
    return old && !std::ranges::equal(old->params, To<Function>(module_.functions()[index].func)->params);
  }

  // `before` is the original module, which the lifter refers to.
  bool Lift(const Module& before, std::vector<LiftTarget> targets, const std::string& name) {
    ParamLifter lifter(before, targets, diagnostics_);
    if (!lifter.Plan(shared_.enabled)) return false;
    const Function* transform = lifter.MakeTransform();
    if (!transform) return false;
    for (size_t i = 0; i < targets.size(); ++i) {
      Workspace workspace(before, before.functions()[targets[i].index].storage);
      const Function* runtime = lifter.MakeRuntime(i, workspace);
      if (!runtime) return false;
      if (runtime != before.functions()[targets[i].index].func)
        module_.SetAt(targets[i].index, runtime, workspace.Finish());
    }
    return SetTransform(GlobalVar::Get(name), transform, lifter.FinishTransform());
  }

  static bool GivesBackParam(const Function& function) {
    const auto& body = *To<SeqExpr>(function.body);
    return body.blocks.empty() && body.body == function.params[0];
  }

  // Runs after the function that has the name already.
  bool SetTransform(const GlobalVar* var, const Function* transform, FuncStorageRef storage) {
    const ModuleEntry* old = module_.Find(var);
    if (!old) {
      module_.Set(var, transform, std::move(storage));
      return true;
    }
    const auto* first = As<Function>(old->func);
    if (!first) {
      diagnostics_.Error(
          Location(*old->func), "pass-failed",
          fmt::format("'{}' is the name of the transform function, but the module has another function of this name",
                      var->name));
      return false;
    }
    if (GivesBackParam(*transform) && TypeEqual(first->ret_type, transform->params[0]->type)) return true;
    Workspace workspace(module_);
    const Function* composed = ComposeTransforms(*first, *transform, module_, workspace, diagnostics_);
    if (!composed) return false;
    if (!StructuralEqual(first, composed)) module_.Set(var, composed, workspace.Finish());
    return true;
  }

  Module module_;
  SharedTransform shared_;
  ModulePassContext& context_;
  DiagnosticEngine& diagnostics_;
};

// Makes the transform functions public, and lets them free the weights that they have taken.
Result<Module> Expose(Module module, bool consume, DiagnosticEngine& diagnostics) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function || !entry.var->name.ends_with(kSuffix)) continue;
    Workspace workspace(module, entry.storage);
    if (function->StringAttr(attr::kGlobalSymbol) != entry.var->name) {
      auto* exposed = workspace.New<Function>(*function);
      exposed->attrs = function->attrs->With(attr::kGlobalSymbol, StrAttr::Get(entry.var->name));
      function = exposed;
    }
    const NumInput num_input = ReadNumInput(*function, entry.var->name, diagnostics);
    if (num_input.is_wrong) return Failure{ErrorCode::PassFailed};
    if (consume && num_input.value && *num_input.value + 1 == function->params.size() &&
        Is<TupleType>(function->params.back()->type)) {
      function = ConsumeParams(*function, module, workspace, diagnostics);
      if (!function) return Failure{ErrorCode::PassFailed};
    }
    if (function != entry.func) module.SetAt(i, function, workspace.Finish());
  }
  return module;
}

}  // namespace

Pass CreateLiftTransformParams(const PassOptions& options) {
  return CreateModulePass(
      options.info(), [shared = ReadOption(options)](Module module, ModulePassContext& context) -> Result<Module> {
        DiagnosticEngine& diagnostics = context.diagnostics;
        IROPT_ASSIGN_OR_RETURN(module, ModuleLifter(std::move(module), shared, context).Run());
        IROPT_ASSIGN_OR_RETURN(module, LambdaLift(std::move(module), diagnostics));
        return Expose(std::move(module), context.context.Config(config::relax::lift_transform_params::consume_params),
                      diagnostics);
      });
}

}  // namespace iropt
