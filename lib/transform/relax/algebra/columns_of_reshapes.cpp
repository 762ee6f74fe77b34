#include "columns_of_reshapes.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/op_builder.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/runtime/value.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Returns whether a value is a product with constant weights, maybe with factors and terms of its columns.
bool IsProductWithWeights(const Expr* value, const Match& match) {
  constexpr int kMostSteps = 3;
  for (int i = 0; i <= kMostSteps; ++i) {
    const auto* call = As<Call>(DefinitionOf(value, match.definitions()));
    if (call == nullptr || call->args.size() != 2) return false;
    const auto is_constant = [&](uint32_t arg) {
      return Is<Constant>(DefinitionOf(call->args[arg], match.definitions()));
    };
    if (IsOp(call->op, op::kMatmul)) return is_constant(1);
    if ((!IsOp(call->op, op::kAdd) && !IsOp(call->op, op::kMultiply)) || is_constant(0) == is_constant(1)) return false;
    value = call->args[is_constant(0) ? 1 : 0];
  }
  return false;
}

// The numbers as a vector, if there is one for each element of the axis of the tensor; null otherwise.
Tensor VectorAlong(const NDArray& numbers, const TensorType& tensor, int64_t axis) {
  const auto rank = static_cast<int64_t>(numbers.shape().size());
  const int64_t length = *arith::AsInt(tensor.dims[static_cast<uint32_t>(axis)]);
  const int64_t own = axis - (tensor.ndim - rank);
  const bool fits = numbers.num_elements() == length && rank <= tensor.ndim && own >= 0 &&
                    numbers.shape()[static_cast<size_t>(own)] == length;
  if (!fits) return nullptr;
  const int64_t shape[] = {length};
  return NDArray::View(numbers.dtype(), shape, numbers.data(), numbers.shared_from_this());
}

}  // namespace

std::optional<int64_t> AxisOfColumns(const TensorType* before, const TensorType* after) {
  if (!before || !after || !before->known || !after->known || before->ndim < 2 || after->ndim < 1) return std::nullopt;
  const auto length = [](const TensorType& tensor, int64_t i) {
    return arith::AsInt(tensor.dims[static_cast<uint32_t>(i)]);
  };
  const int64_t* columns = length(*before, before->ndim - 1);
  int64_t axis = after->ndim - 1;
  while (axis > 0 && length(*after, axis) && *length(*after, axis) == 1) --axis;
  const int64_t* own = length(*after, axis);
  return columns && own && *columns == *own && *columns != 1 ? std::optional(axis) : std::nullopt;
}

void AddTermOfReshapeRules(RuleSet& rules) {
  const Pattern x = Wildcard().UsedOnce();
  const Pattern shape = Wildcard();
  const Pattern terms = IsConstant();
  const Pattern reshape = IsCall(GetOp(op::kReshape), {x, shape}).UsedOnce();
  const Pattern root = IsCall(GetOp(op::kAdd), {reshape, terms}).Commutative();
  rules.Add({"terms of channels before a reshape", root, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const TensorType* before = TensorTypeOf(match[x]);
               const TensorType* after = TensorTypeOf(match[reshape]);
               const std::optional<int64_t> axis = AxisOfColumns(before, after);
               if (!axis || !TypeEqual(after, match[root]->type) || !IsProductWithWeights(match[x], match))
                 return nullptr;
               const Tensor vector = VectorAlong(*To<Constant>(match[terms])->data, *after, *axis);
               if (vector == nullptr) return nullptr;
               OpBuilder calls(builder);
               const Expr* moved = calls.Make(op::kAdd, {match[x], MakeConstant(vector, builder.workspace())});
               return calls.Make(op::kReshape, {moved, match[shape]});
             }});
}

}  // namespace iropt
