// RewriteDataflowReshape: replaces calls of PrimFuncs that only copy elements to a tensor of another shape by
// R.reshape, which later passes lower to a new view of the same memory.
//
//   lv = R.call_tir(cls.reshape, (x,),                     lv = R.reshape(x, R.shape([6]))
//                   out_sinfo=R.Tensor((6,), ...))   -->
//
// Only in dataflow blocks, and not for their outputs. The operand must have the dtype and the number of elements of the
// result. O(nodes), plus the simplification of indices.
//
// Source: the rules are those of TVM 0.18's pass of this name.
#include <algorithm>

#include "iropt/analysis/tir/reshape_pattern.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

const PrimExpr* NumElements(const TensorType& type) {
  const arith::PrimBuilder make;
  const PrimExpr* count = make.Int(1);
  for (const PrimExpr* dim : type.dims) count = make.Mul(count, dim);
  return count;
}

class ReshapeRewriter : private ExprRewriter<ReshapeRewriter> {
 public:
  ReshapeRewriter(const Module& module, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), module_(module) {}

  const Function* Run(const Function* function) { return To<Function>(VisitFunction(function)); }

 private:
  friend class ExprRewriter<ReshapeRewriter>;

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    return block->is_dataflow() ? ExprRewriter::VisitBlock(block) : block;
  }

  const Binding* VisitBinding(const Binding* binding) {
    return binding->var->is_dataflow() ? ExprRewriter::VisitBinding(binding) : binding;
  }

  const Expr* VisitCall(const Call* call) {
    const Expr* operand = ReshapedOperand(*call);
    if (!operand) return call;
    const auto& type = *To<TensorType>(call->type);
    const Expr* shape = NewLike<ShapeExpr>(workspace(), *call, type.dims, ShapeType::Get(type.dims.span()));
    const List<const Expr*> args = workspace().arena().Copy<const Expr*>({operand, shape});
    return NewLike<Call>(workspace(), *call, GetOp(op::kReshape), args, nullptr, nullptr, call->type);
  }

  // The tensor that the call reshapes, or null.
  const Expr* ReshapedOperand(const Call& call) const {
    if (!IsOp(call.op, op::kCallTir)) return nullptr;
    const auto* callee = As<GlobalVar>(call.args[0]);
    const auto* operands = As<Tuple>(call.args[1]);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* function = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!function || !operands) return nullptr;
    const Expr* operand = OnlyUsedOperand(*function, *operands);
    return operand && SameElements(As<TensorType>(operand->type), As<TensorType>(call.type)) &&
                   HasReshapePattern(*function)
               ? operand
               : nullptr;
  }

  // FuseTIR may have made a function of several operands of which it uses one.
  static const Expr* OnlyUsedOperand(const PrimFunc& function, const Tuple& operands) {
    const std::vector<bool> used = UsedBufferParams(function);
    const Expr* only = nullptr;
    for (uint32_t i = 0; i < operands.fields.size() && i < used.size(); ++i) {
      if (!used[i]) continue;
      if (only) return nullptr;
      only = operands.fields[i];
    }
    return only;
  }

  static bool SameElements(const TensorType* from, const TensorType* to) {
    return from && to && from->known && to->known && !from->dtype.is_void() && from->dtype == to->dtype &&
           arith::ProveEqual(NumElements(*from), NumElements(*to));
  }

  const Module& module_;
};

}  // namespace

Pass CreateRewriteDataflowReshape(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [](const Function* function, FunctionPassContext& context) {
    return Result<const Function*>(ReshapeRewriter(context.module(), context.workspace()).Run(function));
  });
}

}  // namespace iropt
