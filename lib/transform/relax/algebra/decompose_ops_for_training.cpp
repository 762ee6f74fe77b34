// DecomposeOpsForTraining: expands normalizations into simpler operators, by the statistics of the batch.
//
//   bn = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)        lv = R.mean(x, axis=[0, 2, 3])
//                                                                  lv1 = R.variance(x, axis=[0, 2, 3])
//                                                           -->    ...
//                                                                  bn = (lv9, lv15, lv18)
//
// A batch_norm normalizes by the mean and variance of its data, and returns the moving ones after a step of `momentum`.
// A layer_norm is expanded, too; what DecomposeOpsForInference expands is expanded afterwards. `func_name` names one
// function; the default is all. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include "decompose.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/statistical.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/DecomposeOpsForTraining.h"

namespace iropt {

namespace {

class TrainingMutator : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const Expr* simpler = nullptr;
    if (IsOp(call->op, op::kNnBatchNorm)) simpler = ByStatisticsOfBatch(*call);
    if (IsOp(call->op, op::kNnLayerNorm)) simpler = DecomposeLayerNorm(*call, OpBuilder(builder()));
    return simpler ? simpler : call;
  }

 private:
  const Expr* ByStatisticsOfBatch(const Call& call) {
    const TensorType* data = DataOfNormalization(call);
    if (!data) return nullptr;
    const BatchNormAttrs attrs(call);
    const int64_t channel = attrs.axis() < 0 ? attrs.axis() + data->ndim : attrs.axis();
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < data->ndim; ++i) {
      if (i != channel) axes.push_back(i);
    }
    OpBuilder calls(builder());
    const Expr* mean = op::Mean(calls, call.args[0], {.axis = axes});
    const Expr* variance = op::Variance(calls, call.args[0], {.axis = axes});
    const Expr* momentum = calls.MakeScalar(attrs.momentum(), data->dtype);
    const Expr* rest = calls.MakeScalar(1 - attrs.momentum(), data->dtype);
    const auto step = [&](const Expr* moving, const Expr* now) {
      return op::Add(calls, op::Multiply(calls, rest, moving), op::Multiply(calls, momentum, now));
    };
    const Expr* norm =
        calls.Make(op::kNnBatchNorm, {call.args[0], call.args[1], call.args[2], mean, variance}, call.attrs);
    const Expr* const fields[] = {calls.MakeItem(norm, 0), step(call.args[3], mean), step(call.args[4], variance)};
    return calls.MakeTuple(fields);
  }
};

}  // namespace

Pass CreateDecomposeOpsForTraining(const PassOptions& options) {
  return CreateFunctionPass(
      options.info(),
      [only = *pass_options::DecomposeOpsForTraining(options).func_name](
          const Function* function, FunctionPassContext& context) -> Result<const Function*> {
        if (!only.empty() && context.var()->name != only) return function;
        OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
        TrainingMutator mutator(context.workspace(), &inferrer);
        function = To<Function>(mutator.VisitExpr(function));
        if (mutator.failed()) return Failure{ErrorCode::PassFailed};
        return DecomposeOps(function, context.module(), context.workspace(), context.diagnostics());
      });
}

}  // namespace iropt
