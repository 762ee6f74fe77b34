// ComputePrimValue: computes scalar expressions by PrimFuncs.
//
//   @R.function(pure=False)                        @R.function(pure=False)
//   def main(x: R.Tensor(["n"])):                  def main(x: R.Tensor(["n"])):
//     R.assert_op(R.prim_value(n % 16 == 0))   -->   gv = cls.compute_symbolic_expr(R.prim_value(n))
//                                                    R.assert_op(gv)
//                                                  @T.prim_func(private=True)
//                                                  def compute_symbolic_expr(n: T.int64) -> T.bool:
//                                                    T.func_attr({"tir.is_host_func": True})
//                                                    return n % 16 == 0
//
// Integer constants and single variables stay; so do dimensions of shapes, which VMShapeLower computes, and operands of
// operators that LegalizeOps replaces, whose results have the shapes that these expressions say. Structurally equal
// PrimFuncs are made once. O(nodes of the Relax functions and of the new PrimFuncs).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <vector>

#include "iropt/analysis/tir/complete_prim_func.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "relax_functions.h"

namespace iropt {

namespace {

class PrimValueComputer : public ExprMutator {
 public:
  PrimValueComputer(Workspace& workspace, TypeInferrer& inferrer, ModuleBuilder& module)
      : ExprMutator(workspace, &inferrer), module_(module) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const auto* op = As<Op>(call->op);
    return op && LegalizationOf(*op->info).legalize ? call : ExprMutator::VisitCall(call);
  }

  const Expr* VisitPrimValue(const PrimValue* old) override {
    if (Is<tir::IntImm>(old->value) || Is<tir::Var>(old->value)) return old;
    Workspace own(workspace().version());
    tir::FuncBuilder code(own);
    std::vector<const Expr*> args;
    LookupMap<const tir::Var*, const tir::Var*> params;
    tir::ForEachVar(old->value, [&](const tir::Var* var) {
      if (params.contains(var)) return;
      params.try_emplace(var, code.Param(var->name, var->dtype));
      args.push_back(workspace().New<PrimValue>(var, PrimType::Get(var)));
    });
    const PrimExpr* value = tir::Substitute(
        old->value, [&](const tir::Var* var) -> const PrimExpr* { return params.at(var); }, own);
    code.Evaluate(own.New<tir::Call>(value->dtype, GetOp(op::kTirRet), own.arena().Copy<const PrimExpr*>({value})));
    code.SetReturnType(PrimType::Get(value->dtype));
    code.SetAttr(attr::kIsHostFunc, IntAttr::Bool(true));
    const PrimFunc* function = CompletePrimFunc(code);
    const GlobalVar* name = module_.AddFunction(function, own.Finish(), "compute_symbolic_expr");
    return NewLike<Call>(workspace(), *old, name, workspace().Copy(args), nullptr, nullptr, nullptr);
  }

 private:
  ModuleBuilder& module_;
};

}  // namespace

Pass CreateComputePrimValue(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    ModuleBuilder builder(std::move(module));
    const auto compute = [&](const ModuleEntry& entry, Workspace& workspace,
                             OpTypeInferrer& inferrer) -> const Function* {
      PrimValueComputer computer(workspace, inferrer, builder);
      const auto* function = To<Function>(computer.VisitExpr(entry.func));
      return computer.failed() ? nullptr : function;
    };
    IROPT_RETURN_IF_ERROR(UpdateRelaxFunctions(builder, context.diagnostics, compute));
    return builder.Finish();
  });
}

}  // namespace iropt
