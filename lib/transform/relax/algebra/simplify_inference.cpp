// SimplifyInference: simplifies normalization and dropout for inference.
//
//   bn = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)        y = R.add(R.multiply(x, scale), shift)
//   y = bn[0]                                               -->
//   d = R.nn.dropout(x)                                            z = x
//   z = d[0]
//
// The scale and the shift are small expressions of the statistics, which FoldConstant computes once the weights are
// bound. DecomposeOpsForInference, which keeps the order of the operations on the data, is closer to the original
// rounding. A layer_norm, a group_norm and an rms_norm compute their statistics at run time: they are expanded into
// means, variances and elementwise operators, if they normalize the last axes or a known number of channels. With
// constant_params_only, only what is that of inference by the configuration option relax.mode is simplified: batch
// norms whose parameters are constants, so that the scale and the shift will be constants, unless the mode is training;
// dropouts if it is inference. Changed functions are cleaned up. O(nodes).
//
// Source: the pass of this name of Relay, TVM's former graph-level IR, which does not know rms_norm.
#include <memory>
#include <string>
#include <utility>

#include "decompose.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/infer/ops/unary.h"
#include "iropt/op/ops/dropout.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/SimplifyInference.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/missed_remarks.h"
#include "transform/relax/util/network_mode.h"

namespace iropt {

namespace {

void AddExpansion(RuleSet& rules, std::string name, const Pattern& norm,
                  const Expr* (*expand)(const Call&, OpBuilder)) {
  rules.Add({std::move(name), norm, [=](const Match& match, BlockBuilder& builder) {
               return expand(*match.CallAt(norm), OpBuilder(builder));
             }});
}

// As Relay computes them: scale = 1 / sqrt(var + epsilon) * gamma, shift = -mean * scale + beta.
std::optional<ScaleAndShift> AffineOf(const Call& call, OpBuilder calls) {
  const TensorType* data = DataOfNormalization(call);
  if (!data) return std::nullopt;
  const BatchNormAttrs attrs(call);
  const DataType dtype = data->dtype;
  const Expr* deviation = op::Sqrt(calls, op::Add(calls, call.args[4], calls.MakeScalar(attrs.epsilon(), dtype)));
  const Expr* scale = op::Divide(calls, calls.MakeScalar(1, dtype), deviation);
  if (attrs.scale()) scale = op::Multiply(calls, scale, call.args[1]);
  const Expr* shift = op::Multiply(calls, op::Negative(calls, call.args[3]), scale);
  if (attrs.center()) shift = op::Add(calls, shift, call.args[2]);
  return ScaleAndShift{scale, shift, data->ndim, attrs.axis()};
}

// As for group_norm, scale and center must not be switched off.
const Expr* ExpandLayerNorm(const Call& call, OpBuilder calls) {
  const LayerNormAttrs attrs(call);
  return attrs.scale() && attrs.center() ? DecomposeLayerNorm(call, calls) : nullptr;
}

void AddBatchNorm(RuleSet& rules, bool constant_params_only) {
  const Pattern any = Wildcard();
  const auto param = [=] { return constant_params_only ? IsConstant() : Wildcard(); };
  const Pattern norm = IsCall(GetOp(op::kNnBatchNorm), {any, param(), param(), param(), param()});
  rules.Add({"batch-norm", IsTupleGetItem(norm, 0), [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               OpBuilder calls(builder);
               const std::optional<ScaleAndShift> affine = AffineOf(*match.CallAt(norm), calls);
               return affine ? affine->Of(match[any], calls) : nullptr;
             }});
  // The moving statistics are returned as they are.
  rules.Add({"moving-mean", IsTupleGetItem(norm, 1),
             [=](const Match& match, BlockBuilder&) { return match.CallAt(norm)->args[3]; }});
  rules.Add({"moving-variance", IsTupleGetItem(norm, 2),
             [=](const Match& match, BlockBuilder&) { return match.CallAt(norm)->args[4]; }});
}

void AddDropout(RuleSet& rules) {
  const Pattern any = Wildcard();
  const Pattern dropout = IsCall(GetOp(op::kNnDropout), {any});
  rules.Add({"dropout", IsTupleGetItem(dropout, 0), [=](const Match& match, BlockBuilder&) { return match[any]; }});
}

void AddOtherNorms(RuleSet& rules) {
  const Pattern data[] = {Wildcard(), Wildcard(), Wildcard()};
  AddExpansion(rules, "layer-norm", IsCall(GetOp(op::kNnLayerNorm), data), &ExpandLayerNorm);
  AddExpansion(rules, "group-norm", IsCall(GetOp(op::kNnGroupNorm), data), &DecomposeGroupNorm);
  AddExpansion(rules, "rms-norm", IsCall(GetOp(op::kNnRmsNorm), {data[0], data[1]}), &DecomposeRmsNorm);
}

}  // namespace

Pass CreateSimplifyInference(const PassOptions& options) {
  const auto all = std::make_shared<RuleSet>();
  AddBatchNorm(*all, /*constant_params_only=*/false);
  AddDropout(*all);
  AddOtherNorms(*all);
  if (!*pass_options::SimplifyInference(options).constant_params_only)
    return CreateOrderedRulePass(options.info(), all);
  const auto of_constants = std::make_shared<RuleSet>();
  AddBatchNorm(*of_constants, /*constant_params_only=*/true);
  const auto of_inference = std::make_shared<RuleSet>(*of_constants);
  AddDropout(*of_inference);
  PassInfo info = options.info();
  std::erase(info.changes, PassChange::Inference);  // what is simplified is that of inference before, too
  return CreateFunctionPass(info,
                            [=](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              const NetworkMode mode = NetworkModeOf(context.context());
                              if (mode == NetworkMode::Training) return function;
                              const RuleSet& rules = mode == NetworkMode::Inference ? *of_inference : *of_constants;
                              IROPT_ASSIGN_OR_RETURN(function, ApplyRules(function, rules, context));
                              RemarkUnboundBatchNorms(*function, context.diagnostics());
                              return function;
                            });
}

}  // namespace iropt
