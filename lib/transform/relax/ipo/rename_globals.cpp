#include "iropt/transform/relax/rename_globals.h"

#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt {

namespace {

const Expr* NewName(const Expr* callee, const GlobalRenames& renames) {
  const auto* var = As<GlobalVar>(callee);
  const auto renamed = var ? renames.find(var) : renames.end();
  return renamed == renames.end() ? callee : renamed->second;
}

class GraphRenamer : public ExprMutator {
 public:
  GraphRenamer(Workspace& workspace, const GlobalRenames& renames) : ExprMutator(workspace), renames_(renames) {}

 protected:
  const Expr* VisitGlobalVar(const GlobalVar* var) override { return NewName(var, renames_); }

 private:
  const GlobalRenames& renames_;
};

class LoopRenamer : public tir::StmtExprMutator {
 public:
  LoopRenamer(Workspace& workspace, const GlobalRenames& renames)
      : tir::StmtExprMutator(workspace), renames_(renames) {}

 protected:
  const PrimExpr* VisitCall(const tir::Call* old) override {
    const auto* call = static_cast<const tir::Call*>(tir::StmtExprMutator::VisitCall(old));
    const Expr* callee = NewName(call->op, renames_);
    if (callee == call->op) return call;
    auto* renamed = workspace().New<tir::Call>(call->dtype, callee, call->args);
    renamed->set_span(old->span());
    return renamed;
  }

 private:
  const GlobalRenames& renames_;
};

const BaseFunc* Renamed(const BaseFunc* function, Workspace& workspace, const GlobalRenames& renames) {
  if (Is<Function>(function)) {
    return static_cast<const BaseFunc*>(GraphRenamer(workspace, renames).VisitExpr(function));
  }
  if (const auto* loops = As<PrimFunc>(function)) return LoopRenamer(workspace, renames).VisitPrimFunc(loops);
  return function;
}

}  // namespace

Module RenameGlobals(const Module& module, const GlobalRenames& renames) {
  Module result;
  result.set_attrs(module.attrs());
  result.set_name(module.name());
  if (module.text_version()) result.set_text_version(*module.text_version());
  result.mutable_global_infos() = module.global_infos();
  for (const ModuleEntry& entry : module.functions()) {
    const auto renamed = renames.find(entry.var);
    const GlobalVar* var = renamed == renames.end() ? entry.var : renamed->second;
    Workspace workspace(module, entry.storage);
    const BaseFunc* function = Renamed(entry.func, workspace, renames);
    result.Set(var, function, function == entry.func ? entry.storage : workspace.Finish());
  }
  return result;
}

}  // namespace iropt
