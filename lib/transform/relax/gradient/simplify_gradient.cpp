#include "simplify_gradient.h"

#include <vector>

#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// The rank of a tensor; kUnknownDim for other values.
int RankOf(const Expr* expr) {
  const auto* type = As<TensorType>(expr->type);
  return type ? type->ndim : kUnknownDim;
}

// The axes that exchange the last two of `rank`.
// Returns whether the call exchanges the last two axes of a tensor and keeps the others.
bool IsTranspose(const Call& call) {
  if (!IsOp(call.op, op::kPermuteDims)) return false;
  const int rank = RankOf(call.args[0]);
  return rank >= 2 && PermutationOf(call) == ExchangeLastTwo(rank);
}

class Simplifier : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const Expr* value = VisitExpr(binding->value);
    const auto* call = As<Call>(value);
    const Call* operand = call && IsTranspose(*call) ? ValueOfVar(call->args[0]) : nullptr;
    if (operand && IsTranspose(*operand) && Is<Var>(operand->args[0])) {
      if (binding->var->is_dataflow()) return Remap(binding->var, operand->args[0]);
      value = operand->args[0];
    } else if (operand && IsOp(operand->op, op::kMatmul) && RankOf(operand->args[0]) > 1 &&
               RankOf(operand->args[1]) > 1) {
      const std::vector<const Expr*> args = {Transpose(operand->args[1]), Transpose(operand->args[0])};
      value = builder().Normalize(
          NewLike<Call>(workspace(), *call, operand->op, workspace().Copy(args), operand->attrs, nullptr, nullptr));
    }
    ReEmitBinding(binding, value);
  }

 private:
  // The call that the variable is bound to, or null.
  const Call* ValueOfVar(const Expr* expr) {
    const auto* var = As<Var>(expr);
    const Expr* value = var ? builder().LookupBinding(var) : nullptr;
    return value ? As<Call>(value) : nullptr;
  }

  const Expr* Transpose(const Expr* x) {
    const Call* call = ValueOfVar(x);
    if (call && IsTranspose(*call)) return call->args[0];
    const std::vector<int64_t> axes = ExchangeLastTwo(RankOf(x));
    const PermuteDimsAttrs::Values values{.axes = std::span<const int64_t>(axes)};
    return workspace().New<Call>(GetOp(op::kPermuteDims), workspace().Copy(std::span<const Expr* const>(&x, 1)),
                                 MakeOpAttrs(op::kPermuteDims, values), nullptr, nullptr);
  }
};

}  // namespace

const Function* SimplifyTransposedProducts(const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
  return To<Function>(Simplifier(workspace, &inferrer).VisitExpr(function));
}

}  // namespace iropt
