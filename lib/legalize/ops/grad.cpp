// Legalization of operators of gradients.
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/loss.h"

namespace iropt::legalize {

using te::Tensor;
using te::Value;

// Marks for Gradient, which do nothing.
const Expr* LegalizeGradNoGrad(LegalizeCall& call) { return call.arg(0); }
const Expr* LegalizeGradStartCheckpoint(LegalizeCall& call) { return call.arg(0); }
const Expr* LegalizeGradEndCheckpoint(LegalizeCall& call) { return call.arg(0); }

namespace {

Tensor NllLossGrad(const Tensor& output_grad, const Tensor& predictions, const Tensor& targets, Tensor weights,
                   std::string_view reduction, int64_t ignore_index) {
  te::Builder& te = predictions.te();
  const auto zero = [&](const Tensor& of) { return te.Const(0, of.dtype()); };
  const std::optional<int64_t> classes = weights.dim(0).AsInt();
  const bool is_class = ignore_index >= 0 && classes && ignore_index < *classes;
  if (is_class) {
    const Tensor given = weights;
    weights = te.Compute(
        "weights_new", given.shape(),
        [&](te::Values i) { return te::Select(i[0] == ignore_index, zero(given), given(i)); }, te::PythonAxes({"i"}));
  }
  // Targets that are ignored need not be classes, so that they have no weight. TVM reads one for all of them.
  const auto weight_of = [&](te::Values i) {
    const Value target = targets(i);
    if (is_class) return weights(target);
    return te::IfThenElse(te::Cast(DataType::Int(64), target) != ignore_index, weights(target), zero(weights));
  };
  const Tensor used = te.Compute("all_weights", targets.shape(), weight_of, te::PythonAxes());
  Tensor grad = output_grad;
  if (reduction != "none") grad = topi::BroadcastTo(grad, targets.shape());
  if (reduction == "mean") grad = topi::Divide(grad, used.ndim() == 0 ? used : topi::Sum(used, std::nullopt));
  const bool has_batch = predictions.ndim() > 1;
  return te.Compute(
      "pred_grad", predictions.shape(),
      [&](te::Values i) {
        std::vector<Value> at(i.begin(), i.end());
        at.erase(at.begin() + (has_batch ? 1 : 0));
        const te::Values target(at);
        const Value wanted = te::Cast(DataType::Int(64), targets(target));
        return te::Select(i[has_batch ? 1 : 0] == wanted, used(target) * -1 * grad(target), zero(predictions));
      },
      has_batch ? te::PythonAxes() : te::PythonAxes({"i"}));
}

}  // namespace

const Expr* LegalizeGradNllLossBackward(LegalizeCall& call) {
  const NLLLossAttrs attrs(call.call());
  const bool has_weights = call.num_args() == 4;
  TeCall te(call, has_weights ? "nll_loss_backward" : "te_nll_loss_backward_no_weight");
  const std::vector<Tensor> in = te.Inputs(call.call().args.span());
  const Value classes = in[1].dim(in[1].ndim() > 1 ? 1 : 0);
  const Tensor weights =
      has_weights ? in[3] : topi::Full(te, te::Values(&classes, 1), in[1].dtype(), te.Const(1, in[1].dtype()));
  return te.Finish({NllLossGrad(in[0], in[1], in[2], weights, attrs.reduction(), attrs.ignore_index())});
}

}  // namespace iropt::legalize
