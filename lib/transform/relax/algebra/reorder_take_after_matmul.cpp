// ReorderTakeAfterMatmul: takes rows or columns of a product rather than of a factor.
//
//   w = R.take(table, indices, axis=1)            lv = R.matmul(x, table)
//   y = R.matmul(x, w)                    -->     y = R.take(lv, indices, axis=1)
//
// Adapters of low rank look their weights up in a table; here the product with the whole table takes the place of a
// gathered copy of the weights. A table of matrices, one of which is taken for each item of the batch, becomes one wide
// matrix, whose product is indexed by the item. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <array>
#include <memory>

#include "compile_time.h"
#include "iropt/arith/analyzer.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/linear_algebra.h"
#include "iropt/infer/ops/matmul.h"
#include "iropt/infer/ops/reshape.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/slice.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// The operands: of the product, the table, and the indices; and what indices out of range take.
struct TakeOperands {
  const Expr* x;
  const Expr* table;
  const Expr* indices;
  std::string_view mode;
};

// x of [batch, m, in], a table of [size, in, out] and one index for each item of the batch.
const Expr* TakeOfBatch(const TakeOperands& operands, OpBuilder calls) {
  const TensorType* x = TensorTypeOf(operands.x);
  const TensorType* table = TensorTypeOf(operands.table);
  const TensorType* indices = TensorTypeOf(operands.indices);
  if (!x->known || !table->known || !indices->known || !arith::ProveEqual(x->dims[0], indices->dims[0])) return nullptr;
  const arith::PrimBuilder make;
  constexpr int64_t kInputFirst[] = {1, 0, 2};
  const Expr* by_input = op::PermuteDims(calls, operands.table, {.axes = kInputFirst});
  const std::array<const PrimExpr*, 2> wide{table->dims[1], make.Mul(table->dims[0], table->dims[2])};
  const Expr* product = op::Matmul(calls, operands.x, op::Reshape(calls, by_input, calls.MakeShape(wide)));
  const std::array<const PrimExpr*, 4> by_entry{x->dims[0], x->dims[1], table->dims[0], table->dims[2]};
  const Expr* taken = op::Take(calls, op::Reshape(calls, product, calls.MakeShape(by_entry)), operands.indices,
                               {.axis = 2, .mode = operands.mode});
  // The entry of each item for each item; those for itself are the result.
  return op::Einsum(calls, calls.MakeTuple(std::span(&taken, 1)), {.subscripts = "ijik->ijk"});
}

const Expr* TakeOfProduct(const TakeOperands& operands, const Call& take, const Call& matmul, OpBuilder calls) {
  const std::optional<int64_t> axis = TakeAttrs(take).axis();
  const TensorType* x = TensorTypeOf(operands.x);
  const TensorType* table = TensorTypeOf(operands.table);
  const TensorType* indices = TensorTypeOf(operands.indices);
  const TensorType* result = TensorTypeOf(&matmul);
  if (!axis || !x || !table || !indices || !result || !AccumulatesInOwnDtype(matmul)) return nullptr;
  if (x->ndim < 1 || table->ndim < 2 || indices->ndim != 1 || result->ndim < 1) return nullptr;
  const int64_t taken_axis = *axis < 0 ? *axis + table->ndim : *axis;
  if (taken_axis + 1 == table->ndim) {
    return op::Take(calls, op::Matmul(calls, operands.x, operands.table), operands.indices,
                    {.axis = result->ndim - 1, .mode = operands.mode});
  }
  return taken_axis == 0 && x->ndim == 3 && table->ndim == 3 ? TakeOfBatch(operands, calls) : nullptr;
}

RuleSet MakeReorderTakeAfterMatmulRules() {
  const Pattern x = Wildcard();
  const Pattern table = Wildcard();
  const Pattern indices = Wildcard();
  const Pattern take = IsCall(GetOp(op::kTake), {table, indices});
  const Pattern matmul = IsCall(GetOp(op::kMatmul), {x, take});
  RuleSet rules;
  rules.Add({"matmul-of-take", matmul, [=](const Match& match, BlockBuilder& builder) {
               const Call& taken = *match.CallAt(take);
               return TakeOfProduct({match[x], match[table], match[indices], TakeAttrs(taken).mode()}, taken,
                                    *match.CallAt(matmul), OpBuilder(builder));
             }});
  return rules;
}

}  // namespace

Pass CreateReorderTakeAfterMatmul(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeReorderTakeAfterMatmulRules()));
}

}  // namespace iropt
