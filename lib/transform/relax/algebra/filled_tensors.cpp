#include "filled_tensors.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/eval/evaluator.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/roots.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/op/ops/unary.h"
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
  if (!value.ok() || !value->tensor()) return nullptr;
  auto* result = const_cast<Expr*>(MakeLiteral(*value, builder.workspace()));
  // Of two tensors of equal size, formats have a name for the first one.
  for (const Expr* operand : {a, b}) {
    if (!result->span().known() && TypeEqual(operand->type, result->type)) result->set_span(operand->span());
  }
  return result;
}

// Constants of this size may be copied for a simpler form.
constexpr size_t kSmallConstant = 64;

size_t BytesOf(const Expr* constant) { return To<Constant>(constant)->data->num_bytes(); }

// Returns whether a constant that takes the place of others is one more in the file: a big one, where each of those
// that are as big has other uses.
bool IsOneMore(const Expr* both, std::initializer_list<const Expr*> operands, const Match& match) {
  if (BytesOf(both) <= kSmallConstant) return false;
  return std::ranges::all_of(operands, [&](const Expr* operand) {
    return BytesOf(operand) < BytesOf(both) || match.definitions().IsShared(To<Constant>(operand));
  });
}

// Returns whether a value is a convolution or a matrix product.
bool HasWeights(const Expr* value, const Definitions& definitions) {
  const auto* call = As<Call>(DefinitionOf(value, definitions));
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && IsOneOf(*op, op::kMatmul, op::kNnConv1d, op::kNnConv2d, op::kNnConv3d, op::kNnConv1dTranspose,
                       op::kNnConv2dTranspose, op::kNnConv3dTranspose);
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

// A tensor that repeats elements, which an operator that broadcasts does as well.
class Repeated {
 public:
  // The operand that is broadcast to it; null if the match is something else.
  const Expr* SourceOf(const Match& match, OpBuilder& calls) const {
    const Expr* whole = match[any_];
    const TensorType* type = TensorTypeOf(whole);
    if (type == nullptr || type->dtype.is_void()) return nullptr;
    if (match[broadcast_] != nullptr) return match[source_];
    if (match[tile_] != nullptr) return RepeatsOnes(TensorTypeOf(match[source_]), type) ? match[source_] : nullptr;
    return filled_.ElementOf(match, type->dtype, calls);
  }

  const Pattern& any() const { return any_; }

 private:
  // Returns whether a tile repeats only axes of length 1.
  static bool RepeatsOnes(const TensorType* from, const TensorType* to) {
    if (from == nullptr || !from->known || !to->known || from->ndim > to->ndim) return false;
    for (uint32_t i = 1; i <= from->dims.size(); ++i) {
      const PrimExpr* dim = from->dims[from->dims.size() - i];
      if (!arith::IsInt(dim, 1) && !DeepEqual(dim, to->dims[to->dims.size() - i])) return false;
    }
    return true;
  }

  Filled filled_;
  const Pattern source_ = Wildcard();
  const Pattern broadcast_ = IsCall(GetOp(op::kBroadcastTo), {source_, Wildcard()});
  const Pattern tile_ = IsCall(GetOp(op::kTile), {source_});
  const Pattern any_ = filled_.any() | broadcast_ | tile_;
};

// f(broadcast_to(x, shape)) = broadcast_to(f(x), shape), where f has no other operand, or numbers.
void AddRepeatedResults(RuleSet& rules) {
  const Pattern x = Wildcard();
  const Pattern shape = Wildcard();
  const Pattern repeated = IsCall(GetOp(op::kBroadcastTo), {x, shape}).UsedOnce();
  const Pattern number = IsConstant().Where([](const Expr* e) { return To<Constant>(e)->data->shape().empty(); });
  const auto add = [&](OpId op, std::vector<Pattern> operands) {
    const Pattern call = IsCall(GetOp(op), operands);
    rules.Add({"operator on a repeated tensor", call, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 OpBuilder calls(builder);
                 std::vector<const Expr*> args;
                 for (const Pattern& operand : operands)
                   args.push_back(operand == repeated ? match[x] : match[operand]);
                 const Expr* small = calls.Make(op, args, match.CallAt(call)->attrs);
                 const Call* whole = calls.TryMake(op::kBroadcastTo, {small, match[shape]});
                 return whole && TypeEqual(whole->type, match[call]->type) ? whole : nullptr;
               }});
  };
  for (const OpId op : {op::kAbs, op::kAstype, op::kExp, op::kLogicalNot, op::kNegative, op::kSqrt, op::kTanh})
    add(op, {repeated});
  add(op::kClip, {repeated, Wildcard(), Wildcard()});
  for (const OpId op : kBroadcastOps) {
    add(op, {repeated, number});
    add(op, {number, repeated});
  }
}

// Operators take the operand that is repeated, if the result is as big without that.
void AddRepeatedOperands(RuleSet& rules) {
  const Repeated repeated = {};
  const auto add = [&](OpId op, size_t arity, size_t place) {
    std::vector<Pattern> operands;
    for (size_t i = 0; i < arity; ++i) operands.push_back(i == place ? repeated.any() : Wildcard());
    const Pattern call = IsCall(GetOp(op), operands);
    rules.Add({"operand that is repeated", call, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
                 OpBuilder calls(builder);
                 const Expr* args[3] = {};
                 for (size_t i = 0; i < arity; ++i)
                   args[i] = i == place ? repeated.SourceOf(match, calls) : match[operands[i]];
                 if (args[place] == nullptr) return nullptr;
                 // Of the tensor with itself, the result is as easy to compute.
                 const auto is_same = [&](const Pattern& operand) { return match[operand] == match[operands[place]]; };
                 if (std::ranges::count_if(operands, is_same) > 1) return nullptr;
                 const Call* smaller = arity == 2 ? calls.TryMake(op, {args[0], args[1]})
                                                  : calls.TryMake(op, {args[0], args[1], args[2]});
                 const TensorType* type = TensorTypeOf(match[call]);
                 return smaller && type && type->has_shape() && TypeEqual(smaller->type, type) ? smaller : nullptr;
               }});
  };
  for (const OpId op : kBroadcastOps) {
    add(op, 2, 1);
    add(op, 2, 0);
  }
  for (size_t i = 0; i < 3; ++i) add(op::kWhere, 3, i);
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

void AddFilledTensorRules(RuleSet& rules) {
  AddIdentities(rules, Filled());
  AddRepeatedOperands(rules);
  AddRepeatedResults(rules);
  AddExplicitShapes(rules);
}

// Of constants c and d, whose sum or product is not bigger than they are, and operands that nothing else uses:
//   x + x = x * 2        (x + c) * d = x * d + c * d        a / sqrt(x) = a * rsqrt(x)
//   (x * c) * d = x * (c * d)        (x + c) + d = x + (c + d)
// A big constant that has other uses stays, so that it is there once.
// A tensor d stays outside of a sum with a smaller c: the product would be another tensor as big as d.
// A factor that makes the sum bigger stays outside, and so does one of what has weights, which c is the bias of:
// FoldScaleAxis takes such a factor into both.
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
                 if (both && IsOneMore(both, {match[c], match[d]}, match)) return nullptr;
                 return both ? OpBuilder(builder).Make(id, {match[x], both}) : nullptr;
               }});
  }
  const Pattern sum = op(op::kAdd, x, c).Commutative().UsedOnce();
  const Pattern product = op(op::kMultiply, sum, d).Commutative();
  rules.Add({"product of a sum", product, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               if (As<Constant>(match[x]) || !HasSameType(match[sum], match[product])) return nullptr;
               if (HasWeights(match[x], match.definitions())) return nullptr;
               const Expr* both = FoldConstants(op::kMultiply, match[c], match[d], builder);
               if (both && BytesOf(both) > std::max(BytesOf(match[c]), kSmallConstant)) return nullptr;
               if (both && IsOneMore(both, {match[c]}, match)) return nullptr;
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
