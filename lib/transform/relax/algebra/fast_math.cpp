// FastMath: replaces expensive functions by arithmetic that approximates them.
//
//   y = R.tanh(x)    -->    lv = R.minimum(x, R.const(9, "float32"))
//                           lv1 = R.maximum(lv, R.const(-9, "float32"))
//                           lv2 = R.multiply(lv1, lv1)
//                           ...
//                           y = R.divide(lv16, lv22)
//
// It replaces R.exp, R.erf, R.tanh and R.nn.softmax, over an axis of known length, of float32. FastMathTransform does
// so by calls of PrimFuncs; after this pass the module has operators only, which other passes see through.
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
      case op::kNnSoftmax: {
        const int64_t axis = SoftmaxAttrs(*call).axis();
        return HasElements(*As<TensorType>(call->args[0]->type), axis)
                   ? ApproximateSoftmax(call->args[0], axis, builder())
                   : call;
      }
      default: return call;
    }
  }

 private:
  static bool IsFloat32(const Type* type) {
    const auto* tensor = As<TensorType>(type);
    return tensor && tensor->dtype == DataType::Float(32);
  }
  // Returns whether the axis is known not to be empty: no element of an empty one is the greatest.
  static bool HasElements(const TensorType& tensor, int64_t axis) {
    const int64_t index = axis < 0 ? axis + tensor.ndim : axis;
    if (!tensor.known || index < 0 || index >= tensor.ndim) return false;
    const auto* length = As<tir::IntImm>(tensor.dims[static_cast<uint32_t>(index)]);
    return length && length->value > 0;
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
