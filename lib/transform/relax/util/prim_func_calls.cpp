#include "prim_func_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "name_hints.h"

namespace iropt {

namespace {

class CallReplacer : public ExprMutator {
 public:
  CallReplacer(const ReplaceCall& replace, ModuleBuilder& module, Workspace& workspace, TypeInferrer& inferrer,
               DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), replace_(replace), module_(module), diagnostics_(diagnostics) {}

  bool has_errors() const { return has_errors_ || failed(); }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (has_errors()) return call;
    if (!call->type) call = To<Call>(builder().Normalize(call));
    const auto hint_of = [this](const Var& var) { return hints_.Of(var); };
    LegalizeCall context(*call, builder(), module_, &diagnostics_, hint_of);
    const Expr* replacement = replace_(context);
    has_errors_ |= replacement == nullptr;
    return replacement ? replacement : call;
  }

  const Var* VisitVarDef(const Var* var) override {
    hints_.Add(*var);
    return ExprMutator::VisitVarDef(var);
  }

 private:
  const ReplaceCall& replace_;
  ModuleBuilder& module_;
  DiagnosticEngine& diagnostics_;
  NameHints hints_;
  bool has_errors_ = false;
};

}  // namespace

Result<Module> ReplaceByPrimFuncs(Module module, const ReplaceCall& replace, DiagnosticEngine& diagnostics) {
  std::vector<const GlobalVar*> names;
  for (const ModuleEntry& entry : module.functions()) {
    if (Is<Function>(entry.func)) names.push_back(entry.var);
  }
  std::ranges::sort(names, {}, [](const GlobalVar* name) { return name->name; });
  ModuleBuilder builder(std::move(module));
  for (const GlobalVar* name : names) {
    const ModuleEntry entry = *builder.module().Find(name);
    Workspace workspace(builder.module(), entry.storage);
    OpTypeInferrer inferrer(&builder.module(), workspace.arena(), &diagnostics);
    CallReplacer replacer(replace, builder, workspace, inferrer, diagnostics);
    const auto* function = To<Function>(replacer.VisitExpr(entry.func));
    if (replacer.has_errors()) return Failure{ErrorCode::PassFailed};
    if (function != entry.func) builder.UpdateFunction(name, function, workspace.Finish());
  }
  return builder.Finish();
}

bool HasTensorsOfKnownShape(const Call& call) {
  return std::ranges::all_of(call.args, [](const Expr* arg) {
    const auto* tensor = As<TensorType>(arg->type);
    return tensor && tensor->known && !tensor->dtype.is_void();
  });
}

}  // namespace iropt
