#include "dequantized_order.h"

#include "iropt/infer/op_builder.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/sorting.h"
#include "transform/relax/quantization/affine_type.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Floats tell integers of so many bits apart.
constexpr int kMostBits = 16;

bool HasOneElement(const Expr* expr) {
  const TensorType* tensor = TensorTypeOf(expr);
  return tensor && tensor->ndim == 0;
}

// The integers that have the order of the tensor; null if it is not such a dequantization.
const Expr* IntegersOf(const Expr* tensor, const Match& match, Workspace& workspace) {
  const auto quantized = MatchDequantize(tensor, match.definitions(), workspace);
  if (!quantized || quantized->type.dtype.bits > kMostBits) return nullptr;
  const bool keeps_order =
      KeepsOrder(quantized->type) && HasOneElement(quantized->type.scale) && HasOneElement(quantized->type.zero_point);
  return keeps_order ? quantized->data : nullptr;
}

}  // namespace

void AddDequantizedOrderRules(RuleSet& rules) {
  for (const OpId op : {op::kArgmax, op::kArgmin, op::kArgsort}) {
    const Pattern x = Wildcard();
    const Pattern order = IsCall(GetOp(op), {x});
    rules.Add({"order of dequantized numbers", order, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const Expr* integers = IntegersOf(match[x], match, builder.workspace());
                 return integers ? OpBuilder(builder).Make(op, {integers}, match.CallAt(order)->attrs) : nullptr;
               }});
  }
}

}  // namespace iropt
