// SimplifyInference: simplifies normalization and dropout for inference.
//
//   bn = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1)        y = R.add(R.multiply(x, scale), shift)
//   y = bn[0]                                               -->
//   d = R.nn.dropout(x)                                            z = x
//   z = d[0]
//
// The scale and the shift are small expressions of the statistics, which FoldConstant computes once the weights are
// bound. A layer_norm is expanded as by DecomposeOpsForInference. DecomposeOpsForInference, which keeps the order of
// the operations on the data, is closer to the original rounding. Changed functions are cleaned up. O(nodes).
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <memory>

#include "decompose.h"
#include "iropt/transform/passes.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

namespace {

RuleSet MakeRules() {
  RuleSet rules;
  const Pattern any = Wildcard();
  const Pattern norm = IsCall(GetOp(OpId::kNnBatchNorm), {any, Wildcard(), Wildcard(), Wildcard(), Wildcard()});
  rules.Add({"batch-norm", IsTupleGetItem(norm, 0), [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               OpCalls calls(builder);
               const std::optional<ScaleAndShift> affine = ScaleAndShiftOf(*match.CallAt(norm), calls);
               return affine ? affine->Of(match[any], calls) : nullptr;
             }});
  // The moving statistics are returned as they are.
  rules.Add({"moving-mean", IsTupleGetItem(norm, 1),
             [=](const Match& match, BlockBuilder&) { return match.CallAt(norm)->args[3]; }});
  rules.Add({"moving-variance", IsTupleGetItem(norm, 2),
             [=](const Match& match, BlockBuilder&) { return match.CallAt(norm)->args[4]; }});
  const Pattern dropout = IsCall(GetOp(OpId::kNnDropout), {any});
  rules.Add({"dropout", IsTupleGetItem(dropout, 0), [=](const Match& match, BlockBuilder&) { return match[any]; }});
  const Pattern layer_norm = IsCall(GetOp(OpId::kNnLayerNorm), {Wildcard(), Wildcard(), Wildcard()});
  rules.Add({"layer-norm", layer_norm, [=](const Match& match, BlockBuilder& builder) {
               return DecomposeLayerNorm(*match.CallAt(layer_norm), OpCalls(builder));
             }});
  return rules;
}

}  // namespace

Pass CreateSimplifyInference(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeRules()));
}

}  // namespace iropt
