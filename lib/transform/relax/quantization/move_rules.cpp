// Operators that move elements, or choose from them, keep the parameters of the quantization.
#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/sorting.h"
#include "rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// Returns whether the dimensions up to the axis, which channels are along, are the same before and after.
bool KeepsLeadingAxes(const Expr* before, const Expr* after, int64_t axis) {
  for (int64_t i = 0; i <= axis; ++i) {
    const auto size = SizeOf(before, static_cast<size_t>(i));
    if (!size || size != SizeOf(after, static_cast<size_t>(i))) return false;
  }
  return true;
}

bool IsReduction(const Call& call) {
  return IsOp(call.op, op::kMax) || IsOp(call.op, op::kMin) || IsOp(call.op, op::kMean);
}

// Returns the axis of the result that an axis of the operand of a reduction becomes; nothing if it is reduced.
std::optional<int64_t> AxisAfterReduction(const Call& call, int rank, int64_t axis) {
  const StatisticalAttrs attrs(call);
  if (!attrs.axis()) return std::nullopt;
  int64_t before = 0;  // reduced axes before it
  for (const int64_t reduced : attrs.axis()->vector()) {
    const int64_t other = reduced < 0 ? reduced + rank : reduced;
    if (other == axis) return std::nullopt;
    before += other < axis;
  }
  return attrs.keepdims() ? axis : axis - before;
}

// Returns whether the operator moves elements along this axis of its operand.
bool MovesAlong(const Call& call, int64_t axis) {
  const TensorType* tensor = TensorTypeOf(call.args[0]);
  const auto is_axis = [&](int64_t other) { return (other < 0 ? other + tensor->ndim : other) == axis; };
  if (IsOp(call.op, op::kSplit)) return is_axis(SplitAttrs(call).axis());
  if (IsOp(call.op, op::kTopk)) return is_axis(TopKAttrs(call).axis());
  if (IsOp(call.op, op::kTake)) return !TakeAttrs(call).axis() || is_axis(*TakeAttrs(call).axis());
  if (!IsOp(call.op, op::kStridedSlice)) return false;
  const auto* axes = As<TupleType>(call.args[1]->type);
  return !axes || std::ranges::any_of(axes->fields, [&](const Type* type) {
    const auto* scalar = As<PrimType>(type);
    const int64_t* value = scalar && scalar->value ? arith::AsInt(scalar->value) : nullptr;
    return !value || is_axis(*value);
  });
}

// The axis that the channels along an axis of the operand are along in the result; nothing if there is none.
std::optional<int64_t> MovedAxis(const Call& call, int64_t axis) {
  const TensorType* before = TensorTypeOf(call.args[0]);
  if (!before || axis < 0 || axis >= before->ndim || MovesAlong(call, axis)) return std::nullopt;
  if (IsReduction(call)) return AxisAfterReduction(call, before->ndim, axis);
  if (IsOp(call.op, op::kPermuteDims)) {
    const std::vector<int64_t> axes = PermutationOf(call);
    const auto found = std::ranges::find(axes, axis);
    return found == axes.end() ? std::nullopt : std::optional<int64_t>(found - axes.begin());
  }
  const auto* parts = As<TupleType>(call.type);
  const auto* after = As<TensorType>(parts && !parts->fields.empty() ? parts->fields[0] : call.type);
  if (!after) return std::nullopt;
  const bool reorders = IsOp(call.op, op::kReshape) || IsOp(call.op, op::kBroadcastTo);
  const bool same_rank = after->ndim == before->ndim && !reorders;
  const int64_t* size =
      after->known && axis < after->ndim ? arith::AsInt(after->dims[static_cast<size_t>(axis)]) : nullptr;
  if (same_rank && size && *size == SizeOf(call.args[0], static_cast<size_t>(axis))) return axis;
  return !parts && KeepsLeadingAxes(call.args[0], &call, axis) ? std::optional(axis) : std::nullopt;
}

}  // namespace

std::optional<AffineType> MovedType(RuleCall& in) {
  const AffineType* type = in.type(0);
  if (!type) return std::nullopt;
  AffineType moved = *type;
  if (IsPerTensor(*type)) return moved;
  const auto axis = MovedAxis(in.call(), type->axis);
  if (!axis) return in.Fail("its result does not have the channels along an axis");
  moved.axis = *axis;
  return moved;
}

Applied ApplyIdentity(RuleCall& in) {
  const std::optional<AffineType> type = MovedType(in);
  return type ? Applied(IntegerValue{in.With({in.expr(0)}), {*type}}) : std::nullopt;
}

// Of the least or the greatest elements.
Applied ApplyChoice(RuleCall& in) { return TypeInOrder(in, 0) ? ApplyIdentity(in) : std::nullopt; }

Applied ApplySplit(RuleCall& in) {
  const std::optional<AffineType> type = MovedType(in);
  if (!type) return std::nullopt;
  const auto* parts = As<TupleType>(in.call().type);
  return IntegerValue{in.With({in.expr(0)}), std::vector(parts ? parts->fields.size() : 0, *type)};
}

Applied ApplyTopk(RuleCall& in) {
  if (TopKAttrs(in.call()).ret_type() != "values") return in.Fail("topk is computed on integers for its values only");
  return ApplyChoice(in);
}

Applied ApplyConcat(RuleCall& in) {
  const IntegerValue& tuple = in.operand(0);
  const AffineType* out = in.out_type();
  if (!out) return std::nullopt;
  if (!tuple.is_quantized()) return in.Fail("the operand of concat is not quantized");
  std::vector<const Expr*> scales, zero_points;
  for (const AffineType& type : tuple.types) {
    if (type.dtype != tuple.types.front().dtype) return in.Fail("tensors of several dtypes are concatenated");
    if (!IsPerTensor(type)) return in.Fail("an operand has a scale for each channel");
    scales.push_back(type.scale);
    zero_points.push_back(type.zero_point);
  }
  const int64_t axis = ConcatAttrs(in.call()).axis().value_or(0);
  const Expr* joined =
      in.Relay("qnn.concatenate", {tuple.expr, in.Tuple(scales), in.Tuple(zero_points), out->scale, out->zero_point},
               {RuleCall::Attribute("axis", PyValue::Int(axis, {}))});
  return ValueOfType(joined, *out, tuple.types.front().dtype);
}

// The value around the tensor is quantized as the tensor is.
Applied ApplyPad(RuleCall& in) {
  const std::optional<AffineType> type = MovedType(in);
  if (!type) return std::nullopt;
  const IntegerValue& around = in.operand(1);
  const Expr* value = around.expr;
  if (!around.is_quantized()) {
    value = in.Quantize(value, *type);
  } else if (!AreEqual(*type, around.types.front())) {
    value = in.Requantize(value, around.types.front(), *type);
  }
  return IntegerValue{in.With({in.expr(0), value}), {*type}};
}

}  // namespace iropt
