// Losses.

#include "iropt/op/ops/loss.h"

#include "exchange/onnx/ops/common.h"
#include "iropt/op/ops/softmax.h"

namespace iropt::onnx {

namespace {

// No class has this number.
constexpr int64_t kIgnoreNothing = -100;

const Expr* NllLoss(OpImport& op, const Expr* log_probabilities) {
  std::vector<const Expr*> args = {log_probabilities, op.In(1)};
  if (op.Has(2)) args.push_back(op.In(2));
  return op.Call(op::kNnNllLoss, args,
                 op.Attrs<NLLLossAttrs>(op::kNnNllLoss, {.reduction = op.String("reduction", "mean"),
                                                         .ignore_index = op.Int("ignore_index", kIgnoreNothing)}));
}

Value ImportNegativeLogLikelihoodLoss(OpImport& op) { return op.Rank(0) < 1 ? Value() : NllLoss(op, op.In(0)); }

Value ImportSoftmaxCrossEntropyLoss(OpImport& op) {
  if (op.Rank(0) < 2) return {};
  const Expr* log =
      op.Call(op::kNnLogSoftmax, {op.In(0)}, op.Attrs<SoftmaxAttrs>(op::kNnLogSoftmax, {.axis = int64_t{1}}));
  const Expr* loss = NllLoss(op, log);
  if (!op.HasOutput(1)) return loss;
  const Expr* fields[] = {loss, log};
  return op.Tuple(fields);
}

constexpr OpRow kLossRows[] = {
    {"NegativeLogLikelihoodLoss", 12, 2, 3, ImportNegativeLogLikelihoodLoss, "R.nn.nll_loss"},
    {"SoftmaxCrossEntropyLoss", 12, 2, 3, ImportSoftmaxCrossEntropyLoss, "R.nn.log_softmax, R.nn.nll_loss"},
};

}  // namespace

std::span<const OpRow> LossRows() { return kLossRows; }

}  // namespace iropt::onnx
