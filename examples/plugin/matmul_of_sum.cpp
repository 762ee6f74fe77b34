// A plugin with a pass that applies a rewriting rule: the product with a sum becomes the sum of two products.
#include <memory>

#include "iropt/analysis/relax/use_count.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/plugin.h"

namespace {

using namespace iropt;

RuleSet MakeRules() {
  const Pattern x = Wildcard();
  const Pattern a = Wildcard();
  const Pattern b = Wildcard();
  const Pattern sum = IsCall(GetOp(op::kAdd), {a, b}).UsedOnce();
  const Pattern product = IsCall(GetOp(op::kMatmul), {x, sum});
  RuleSet rules;
  rules.Add({"matmul-of-sum", product, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               OpBuilder ops(builder);
               const auto times = [&](const Expr* factor) {
                 return ops.Make(op::kMatmul, {match[x], factor}, To<Call>(match[product])->attrs);
               };
               return op::Add(ops, times(match[a]), times(match[b]));
             }});
  return rules;
}

Result<const Function*> ApplyRules(const Function* function, const RuleSet& rules, FunctionPassContext& context) {
  Workspace& workspace = context.workspace();
  OpTypeInferrer inferrer(&context.module(), workspace.arena(), &context.diagnostics());
  RuleRewriter rewriter(rules, workspace, inferrer, UseCounts(*function, workspace.num_vars()));
  const Function* result = rewriter.Run(function);
  if (rewriter.failed()) return Failure{ErrorCode::PassFailed};
  return result;
}

Pass CreateMatmulOfSum(const PassOptions& options) {
  return CreateFunctionPass(options.info(), [rules = std::make_shared<const RuleSet>(MakeRules())](
                                                const Function* function, FunctionPassContext& context) {
    return ApplyRules(function, *rules, context);
  });
}

Status Register(PassRegistry& registry) {
  return registry.Add({.info = {.name = "MatmulOfSum", .opt_level = 1, .kind = PassKind::Function},
                       .summary = "multiply out products with sums",
                       .create = &CreateMatmulOfSum});
}

}  // namespace

IROPT_PASS_PLUGIN("matmul-of-sum", "1.0", Register)
