// FastMath: replaces expensive functions by arithmetic that approximates them.
//
//   y = R.tanh(x)    -->    lv = R.minimum(x, R.const(9, "float32"))
//                           lv1 = R.maximum(lv, R.const(-9, "float32"))
//                           lv2 = R.multiply(lv1, lv1)
//                           ...
//                           y = R.divide(lv16, lv22)
//
// It replaces R.exp, R.erf, R.tanh and R.nn.softmax of float32. FastMathTransform does so by calls of PrimFuncs; after
// this pass the module has operators only, which other passes see through.
//
// O(nodes). Source: the pass of Relay of TVM 0.18 of this name, with the formulas of its operators fast_exp, fast_erf,
// fast_tanh and nn.fast_softmax, see infer/approximate.h.
#include "iropt/infer/approximate.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

class Approximator : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const auto* op = As<Op>(call->op);
    if (!op || call->args.size() != 1 || !IsFloat32(call->args[0]->type)) return call;
    switch (op->id) {
      case op::kExp: return ApproximateExp(call->args[0], builder());
      case op::kErf: return ApproximateErf(call->args[0], builder());
      case op::kTanh: return ApproximateTanh(call->args[0], builder());
      case op::kNnSoftmax: return ApproximateSoftmax(call->args[0], SoftmaxAttrs(*call).axis(), builder());
      default: return call;
    }
  }

 private:
  static bool IsFloat32(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    return tensor && tensor->dtype == DataType::Float(32);
  }
};

}  // namespace

Pass CreateFastMath(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(), [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        Approximator approximator(context.workspace(), &inferrer);
        const auto* result = To<Function>(approximator.VisitExpr(function));
        if (approximator.failed()) return Failure{ErrorCode::PassFailed};
        return result;
      });
}

}  // namespace iropt
