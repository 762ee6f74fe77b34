// ExpandMatmulOfSum: expands products with a sum into a sum of products.
//
//   w = R.add(a, b)                    lv = R.matmul(x, a)
//   y = R.matmul(x, w)       -->       lv1 = R.matmul(x, b)
//                                      y = R.add(lv, lv1)
//
// So AdjustMatmulOrder can choose the order of x * (base + A * B), as in adapters of low rank. The sum may be permuted.
// It stays if it can be computed at compile time: if both operands are weights, the parameters after the first
// num_input ones, and if one operand is broadcast. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <memory>

#include "compile_time.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/apply_rules.h"

namespace iropt {

namespace {

RuleSet MakeExpandMatmulOfSumRules(const Function& function, TextVersion /*version*/) {
  const Pattern x = Wildcard();
  const Pattern a = Wildcard();
  const Pattern b = Wildcard();
  const Pattern sum = IsCall(GetOp(op::kAdd), {a, b});
  const Pattern permuted = IsCall(GetOp(op::kPermuteDims), {sum});
  const auto known = std::make_shared<const CompileTimeVars>(function);
  RuleSet rules;
  for (const Pattern& rhs : {sum, permuted}) {
    const Pattern product = IsCall(GetOp(op::kMatmul), {x, rhs});
    rules.Add({"matmul-of-sum", product, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const Expr* left = match[a];
                 const Expr* right = match[b];
                 if (known->Contains(left, match) && known->Contains(right, match)) return nullptr;
                 const Type* type = match.CallAt(sum)->type;
                 if (!TypeEqual(left->type, type) || !TypeEqual(right->type, type)) return nullptr;
                 const auto* tensor = As<TensorType>(type);
                 const Call* matmul = match.CallAt(product);
                 if (!tensor || !tensor->has_shape() || !AccumulatesInOwnDtype(*matmul)) return nullptr;
                 OpBuilder calls(builder);
                 if (const Call* permute = match.CallAt(permuted)) {
                   left = calls.Make(op::kPermuteDims, {left}, permute->attrs);
                   right = calls.Make(op::kPermuteDims, {right}, permute->attrs);
                 }
                 return op::Add(calls, op::Matmul(calls, match[x], left), op::Matmul(calls, match[x], right));
               }});
  }
  return rules;
}

}  // namespace

Pass CreateExpandMatmulOfSum(const PassOptions& options) {
  return CreateRulePass(options.info(), &MakeExpandMatmulOfSumRules);
}

}  // namespace iropt
