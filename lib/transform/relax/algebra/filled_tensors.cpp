#include "filled_tensors.h"

#include <optional>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/eval/evaluator.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/roots.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// The operators of two tensors that broadcast.
constexpr OpId kBroadcastOps[] = {
    op::kAdd,         op::kBitwiseAnd, op::kBitwiseOr, op::kBitwiseXor,   op::kDivide,     op::kEqual,
    op::kFloorDivide, op::kFloorMod,   op::kGreater,   op::kGreaterEqual, op::kLeftShift,  op::kLess,
    op::kLessEqual,   op::kLogicalAnd, op::kLogicalOr, op::kLogicalXor,   op::kMaximum,    op::kMinimum,
    op::kMod,         op::kMultiply,   op::kNotEqual,  op::kPower,        op::kRightShift, op::kSubtract,
};

// The value of a call on constants; null if it has none, or would be bigger than both.
const Expr* FoldConstants(OpId op, const Expr* a, const Expr* b, BlockBuilder& builder) {
  const Call* call = OpBuilder(builder).TryMake(op, {a, b});
  if (!call || (!TypeEqual(call->type, a->type) && !TypeEqual(call->type, b->type))) return nullptr;
  const HostValue args[] = {HostValue{To<Constant>(a)->data->shared_from_this()},
                            HostValue{To<Constant>(b)->data->shared_from_this()}};
  const Result<HostValue> value = EvalOp(OpInfoOf(op), nullptr, args);
  return value.ok() && value->tensor() ? MakeLiteral(*value, builder.workspace()) : nullptr;
}

bool HasSameType(const Expr* a, const Expr* b) {
  const TensorType* tensor = TensorTypeOf(a);
  return tensor && tensor->has_shape() && !tensor->dtype.is_void() && TypeEqual(a->type, b->type);
}

// A tensor of equal elements.
class Filled {
 public:
  // The element: a constant of rank 0 and the dtype; null if the match is something else.
  const Expr* ElementOf(const Match& match, DataType dtype, OpBuilder& calls) const {
    if (const Expr* whole = match[full_] ? match[full_] : match[full_like_]) {
      const Expr* value = match[full_] ? match[full_value_] : match[like_value_];
      const TensorType* element = TensorTypeOf(value);
      const TensorType* tensor = TensorTypeOf(whole);
      return element && tensor && element->ndim == 0 && element->dtype == tensor->dtype ? value : nullptr;
    }
    const bool ones = match[ones_] != nullptr || match[ones_like_] != nullptr;
    return calls.MakeScalar(ones ? 1 : 0, dtype);
  }

  const Pattern& any() const { return any_; }
  const Pattern& ones() const { return any_ones_; }
  const Pattern& zeros() const { return any_zeros_; }

 private:
  const Pattern full_value_ = IsConstant();
  const Pattern like_value_ = IsConstant();
  const Pattern full_ = IsCall(GetOp(op::kFull), {Wildcard(), full_value_});
  const Pattern full_like_ = IsCall(GetOp(op::kFullLike), {Wildcard(), like_value_});
  const Pattern ones_ = IsCall(GetOp(op::kOnes), {Wildcard()});
  const Pattern ones_like_ = IsCall(GetOp(op::kOnesLike), {Wildcard()});
  const Pattern any_ones_ = ones_ | ones_like_;
  const Pattern any_zeros_ = IsCall(GetOp(op::kZeros), {Wildcard()}) | IsCall(GetOp(op::kZerosLike), {Wildcard()});
  const Pattern any_ = full_ | full_like_ | any_ones_ | any_zeros_;
};

// x + zeros = x and so on, if the types are equal.
void AddIdentities(RuleSet& rules, const Filled& filled) {
  const std::pair<OpId, const Pattern&> identities[] = {{op::kAdd, filled.zeros()},
                                                        {op::kSubtract, filled.zeros()},
                                                        {op::kMultiply, filled.ones()},
                                                        {op::kDivide, filled.ones()}};
  for (const auto& [op, neutral] : identities) {
    const Pattern x = Wildcard();
    Pattern call = IsCall(GetOp(op), {x, neutral});
    if (op == op::kAdd || op == op::kMultiply) call = call.Commutative();
    rules.Add({"neutral tensor", call, [=](const Match& match, BlockBuilder&) {
                 return HasSameType(match[x], match[call]) ? match[x] : nullptr;
               }});
  }
}

// x_like(t) of a static shape, and sums that have the shape of another tensor.
void AddExplicitShapes(RuleSet& rules) {
  constexpr std::pair<OpId, OpId> kLike[] = {
      {op::kFullLike, op::kFull}, {op::kOnesLike, op::kOnes}, {op::kZerosLike, op::kZeros}};
  for (const auto& [like, op] : kLike) {
    const bool is_full = like == op::kFullLike;
    const Pattern value = Wildcard();
    const Pattern x = Wildcard();
    const Pattern call = is_full ? IsCall(GetOp(like), {x, value}) : IsCall(GetOp(like), {x});
    rules.Add({"tensor like another", call, [=, op = op](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const TensorType* tensor = TensorTypeOf(match[call]);
                 if (!tensor || !tensor->known || tensor->has_sym_var() || tensor->dtype.is_void()) return nullptr;
                 OpBuilder calls(builder);
                 const Expr* shape = calls.MakeShape(tensor->dims);
                 const Attr* attrs = MakeOpAttrs(op, InitAttrs::Values{.dtype = tensor->dtype});
                 return is_full ? calls.Make(op, {shape, match[value]}, attrs) : calls.Make(op, {shape}, attrs);
               }});
  }
  const Pattern x = Wildcard();
  const Pattern collapsed = IsCall(GetOp(op::kCollapseSumLike), {x, Wildcard()});
  rules.Add({"sum like another tensor", collapsed, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const TensorType* tensor = TensorTypeOf(match[collapsed]);
               if (!tensor || !tensor->known || tensor->has_sym_var()) return nullptr;
               OpBuilder calls(builder);
               return calls.TryMake(op::kCollapseSumTo, {match[x], calls.MakeShape(tensor->dims)});
             }});
}

}  // namespace

// An operator broadcasts its operands, so that a scalar does as well as a tensor full of it.
void AddFilledTensorRules(RuleSet& rules) {
  const Filled filled;
  AddIdentities(rules, filled);
  for (const OpId op : kBroadcastOps) {
    const Pattern x = Wildcard();
    const Pattern right = IsCall(GetOp(op), {x, filled.any()});
    rules.Add({"operand of equal elements", right, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 if (!HasSameType(match[x], match[right])) return nullptr;
                 OpBuilder calls(builder);
                 const Expr* element = filled.ElementOf(match, TensorTypeOf(match[x])->dtype, calls);
                 return element ? calls.Make(op, {match[x], element}) : nullptr;
               }});
    const Pattern left = IsCall(GetOp(op), {filled.any(), x});
    rules.Add({"operand of equal elements", left, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 if (!HasSameType(match[x], match[left])) return nullptr;
                 OpBuilder calls(builder);
                 const Expr* element = filled.ElementOf(match, TensorTypeOf(match[x])->dtype, calls);
                 return element ? calls.Make(op, {element, match[x]}) : nullptr;
               }});
  }
  AddExplicitShapes(rules);
}

// Of constants c and d, whose sum or product is not bigger than they are, and operands that nothing else uses:
//   x + x = x * 2        (x + c) * d = x * d + c * d        a / sqrt(x) = a * rsqrt(x)
//   (x * c) * d = x * (c * d)        (x + c) + d = x + (c + d)
void AddNeighbourRules(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern c = IsConstant();
  const Pattern d = IsConstant();
  const auto op = [](OpId id, const Pattern& a, const Pattern& b) { return IsCall(GetOp(id), {a, b}); };
  rules.Add(
      {"sum of a tensor and itself", op(op::kAdd, x, x), [=](const Match& match, BlockBuilder& builder) -> const Expr* {
         const TensorType* tensor = TensorTypeOf(match[x]);
         if (!tensor || tensor->dtype.is_void() || tensor->dtype.is_bool() || As<Constant>(match[x])) return nullptr;
         OpBuilder calls(builder);
         return op::Multiply(calls, match[x], calls.MakeScalar(2, tensor->dtype));
       }});
  for (const OpId id : {op::kAdd, op::kMultiply}) {
    rules.Add({"two constants", op(id, op(id, x, c).Commutative().UsedOnce(), d).Commutative(),
               [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 const Expr* both = As<Constant>(match[x]) ? nullptr : FoldConstants(id, match[c], match[d], builder);
                 return both ? OpBuilder(builder).Make(id, {match[x], both}) : nullptr;
               }});
  }
  rules.Add({"product of a sum", op(op::kMultiply, op(op::kAdd, x, c).Commutative().UsedOnce(), d).Commutative(),
             [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const Expr* both =
                   As<Constant>(match[x]) ? nullptr : FoldConstants(op::kMultiply, match[c], match[d], builder);
               OpBuilder calls(builder);
               return both ? op::Add(calls, op::Multiply(calls, match[x], match[d]), both) : nullptr;
             }});
  const Pattern numerator = Wildcard();
  rules.Add({"division by a square root", op(op::kDivide, numerator, IsCall(GetOp(op::kSqrt), {x})),
             [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               OpBuilder calls(builder);
               return op::Multiply(calls, match[numerator], op::Rsqrt(calls, match[x]));
             }});
}

}  // namespace iropt
