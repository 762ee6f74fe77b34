// BundleModelParams: bundles the weight parameters into one tuple parameter.
//
//   def main(x, w0, w1):                            def main(x, model_params):
//       R.func_attr({"num_input": 1})                   R.func_attr({"num_input": 1})
//       y = R.matmul(x, w0)                -->          lv = model_params[0]
//       ...                                             y = R.matmul(x, lv)
//                                                       ...
//
// The attribute num_input is the number of runtime inputs; functions without it are not changed, nor are those whose
// only other parameter is a tuple already. Functions within such a function are treated likewise. A reference within
// the module to a changed function is an error. O(nodes).
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include "bundle_model_params.h"

#include <string>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/BundleModelParams.h"
#include "num_input.h"
#include "transform/relax/util/entry_points.h"

namespace iropt {

namespace {

// Uses of the bundled parameters become items of the tuple, each bound where it is used.
class ParamBundler : public ExprMutator {
 public:
  ParamBundler(std::span<const Var* const> bundled, const Var* tuple, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), tuple_(tuple) {
    for (size_t i = 0; i < bundled.size(); ++i) {
      if (bundled[i]->id >= index_.size()) index_.resize(bundled[i]->id + 1, -1);
      index_[bundled[i]->id] = static_cast<int32_t>(i);
    }
  }

 protected:
  const Expr* VisitVar(const Var* var) override {
    const int32_t index = var->id < index_.size() ? index_[var->id] : -1;
    if (index < 0) return ExprMutator::VisitVar(var);
    return builder().Emit(workspace().New<TupleGetItem>(tuple_, index, var->type), var->name());
  }

 private:
  const Var* tuple_;
  std::vector<int32_t> index_;  // by Var::id: the item of the tuple, or -1
};

bool IsBundled(const Function& function, uint32_t num_inputs) {
  return function.params.size() == num_inputs + 1 && Is<TupleType>(function.params.back()->type);
}

// Bundles the parameters of the functions within a function, the inner ones first.
class NestedBundler : public ExprMutator {
 public:
  NestedBundler(const Module& module, std::string_view name, Workspace& workspace, TypeInferrer& inferrer,
                DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), name_(name), diagnostics_(diagnostics) {}
  bool ok() const { return ok_; }

 protected:
  const Expr* VisitFunction(const Function* function) override {
    ++depth_;
    const auto* visited = To<Function>(ExprMutator::VisitFunction(function));
    if (--depth_ == 0) return visited;
    const NumInput num_input = ReadNumInput(*visited, "", diagnostics_);
    ok_ &= !num_input.is_wrong;
    if (!num_input.value || IsBundled(*visited, *num_input.value)) return visited;
    return BundleParams(*visited, *num_input.value, name_, module_, workspace(), diagnostics_);
  }

 private:
  const Module& module_;
  const std::string_view name_;
  DiagnosticEngine& diagnostics_;
  size_t depth_ = 0;
  bool ok_ = true;
};

Result<Module> BundleModelParams(Module module, std::string_view name, ModulePassContext& context) {
  DiagnosticEngine& diagnostics = context.diagnostics;
  bool ok = true;
  const Module before = module;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    const NumInput num_input = ReadNumInput(*function, entry.var->name, diagnostics);
    ok &= !num_input.is_wrong;
    if (!num_input.value || IsBundled(*function, *num_input.value)) continue;
    Workspace workspace(module, entry.storage);
    OpTypeInferrer inferrer(&before, workspace.arena(), &diagnostics);
    NestedBundler nested(before, name, workspace, inferrer, diagnostics);
    function = To<Function>(nested.VisitExpr(function));
    ok &= nested.ok();
    const Function* bundled = BundleParams(*function, *num_input.value, name, before, workspace, diagnostics);
    module.SetAt(i, bundled, workspace.Finish());
  }
  const auto is_changed = [&](size_t i) { return module.functions()[i].func != before.functions()[i].func; };
  if (!ok || RefersToChanged(before, is_changed, {"parameters", "bundled"}, context))
    return Failure{ErrorCode::PassFailed};
  return module;
}

}  // namespace

const Function* BundleParams(const Function& function, uint32_t num_inputs, std::string_view name, const Module& module,
                             Workspace& workspace, DiagnosticEngine& diagnostics) {
  const std::span<const Var* const> bundled = function.params.span().subspan(num_inputs);
  const Var* tuple = workspace.NewVar(name, TupleType::Get(workspace.arena(), TypesOf(bundled)));
  std::vector<const Var*> params(function.params.begin(), function.params.begin() + num_inputs);
  params.push_back(tuple);

  OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
  ParamBundler bundler(bundled, tuple, workspace, inferrer);
  Rebuilder rebuilder(workspace, &inferrer, Retype::kIfNeeded);
  return To<Function>(
      bundler.VisitExpr(rebuilder.RebuildSignature(function, params, function.body, function.ret_type)));
}

Pass CreateBundleModelParams(const PassOptions& options) {
  return CreateModulePass(options.info(), [name = *pass_options::BundleModelParams(options).param_tuple_name](
                                              Module module, ModulePassContext& context) {
    return BundleModelParams(std::move(module), name.empty() ? "model_params" : name, context);
  });
}

}  // namespace iropt
