// A plugin with a wrong pass, which no run in one order finds: it removes the barriers of kernels.
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

class BarrierDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* evaluate) override {
    const auto* call = As<tir::Call>(evaluate->value);
    return call && IsOp(call->op, op::kTirTvmStorageSync) ? tir::NoOp(workspace()) : evaluate;
  }
};

Pass CreateDropBarriers(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              BarrierDropper dropper(context.workspace());
                              return tir::WithBody(func, dropper.VisitStmt(func->body), context.workspace());
                            });
}

Status Register(PassRegistry& registry) {
  return registry.Add({.info = {.name = "test.DropBarriers", .kind = PassKind::PrimFunc},
                       .summary = "remove the barriers of kernels",
                       .create = &CreateDropBarriers});
}

}  // namespace

IROPT_PASS_PLUGIN("drop-barriers", "1.0", Register)
