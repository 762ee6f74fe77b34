#include "quantized_moves.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "iropt/infer/op_builder.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/structural.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/slice.h"
#include "transform/relax/quantization/affine_type.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

Pattern IsPacked(std::string_view name, std::initializer_list<Pattern> operands) {
  std::vector<Pattern> args = {Wildcard().Where([name](const Expr* callee) {
    const auto* function = As<ExternFunc>(callee);
    return function != nullptr && function->global_symbol == name;
  })};
  args.insert(args.end(), operands.begin(), operands.end());
  return IsCall(GetOp(op::kCallPurePacked), args).AnyMoreArgs();
}

bool IsSameOperand(const Expr* a, const Expr* b, const Definitions& definitions) {
  const Expr* x = DefinitionOf(a, definitions);
  const Expr* y = DefinitionOf(b, definitions);
  if (a == b || x == y) return true;
  const auto* of_x = As<Constant>(x);
  const auto* of_y = As<Constant>(y);
  if (of_x && of_y) return *of_x->data == *of_y->data;
  const bool is_literal = Is<StringImm>(x) || Is<PrimValue>(x) || Is<ShapeExpr>(x);
  return is_literal && StructuralEqual(x, y);
}

// Returns whether rounding undoes the products of these scales with integers of so many bits, and the quotients.
bool AreSafeScales(const Expr* scale, int bits) {
  const auto* constant = As<Constant>(scale);
  const auto numbers = constant ? NumbersOf(constant) : std::nullopt;
  if (!numbers) return false;
  const DataType dtype = constant->data->dtype();
  const bool is_half = dtype == DataType::Float(16);
  if (bits > 16 || (!is_half && dtype != DataType::Float(32)) || (is_half && bits > 8)) return false;
  // Their products are neither too large nor below the least normal number.
  const double least = is_half ? std::ldexp(1.0, -14) : std::ldexp(1.0, -100);
  const double most = is_half ? std::ldexp(1.0, 6) : std::ldexp(1.0, 100);
  return std::ranges::all_of(*numbers, [&](double number) { return number >= least && number <= most; });
}

// quantize(dequantize(x)) = x for calls of ONNX's operators.
void AddPackedPairs(RuleSet& rules) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"onnx.QuantizeLinear", "onnx.DequantizeLinear"},
      {"onnx.com.microsoft.QuantizeLinear", "onnx.com.microsoft.DequantizeLinear"}};
  for (const auto& [quantize, dequantize] : kPairs) {
    const Pattern x = Wildcard();
    const Pattern real = IsPacked(dequantize, {x});
    const Pattern again = IsPacked(quantize, {real});
    rules.Add({"quantize of dequantize", again, [=](const Match& match, BlockBuilder&) -> const Expr* {
                 const Call& inner = *match.CallAt(real);
                 const Call& outer = *match.CallAt(again);
                 const TensorType* type = TensorTypeOf(match[x]);
                 // The function, the tensor, the scale and the zero point, and then attributes.
                 if (inner.args.size() != outer.args.size() || inner.args.size() < 4) return nullptr;
                 if (type == nullptr || !type->dtype.is_integer() || !TypeEqual(type, match[again]->type))
                   return nullptr;
                 for (uint32_t i = 2; i < inner.args.size(); ++i) {
                   if (!IsSameOperand(inner.args[i], outer.args[i], match.definitions())) return nullptr;
                 }
                 const Expr* scale = DefinitionOf(inner.args[2], match.definitions());
                 return AreSafeScales(scale, type->dtype.bits) ? match[x] : nullptr;
               }});
  }
}

bool IsSafe(const Quantization& quantized) { return AreSafeScales(quantized.type.scale, quantized.type.dtype.bits); }

bool HasOneScale(const AffineType& type) {
  return TensorTypeOf(type.scale)->ndim == 0 && TensorTypeOf(type.zero_point)->ndim == 0;
}

// quantize(dequantize(x)) = x
const Expr* UndoPair(const Call& quantize, const Definitions& definitions, Workspace& workspace) {
  const auto outer = MatchQuantize(&quantize, definitions, workspace);
  const auto inner = outer ? MatchDequantize(outer->data, definitions, workspace) : std::nullopt;
  if (!inner || !AreEqual(inner->type, outer->type) || !IsSafe(*inner)) return nullptr;
  return TypeEqual(inner->data->type, quantize.type) ? inner->data : nullptr;
}

// Operators that move or choose elements of their first operand, whatever these are. Not pooling, which runtimes
// compute faster on floats.
bool MovesElements(const Call& call) {
  constexpr OpId kMoves[] = {op::kBroadcastTo, op::kConcat,       op::kExpandDims,  op::kFlatten, op::kFlip,
                             op::kMax,         op::kMin,          op::kPermuteDims, op::kRepeat,  op::kReshape,
                             op::kSqueeze,     op::kStridedSlice, op::kTake,        op::kTile};
  const auto* op = As<Op>(call.op);
  return op && !call.args.empty() && std::ranges::find(kMoves, op->info->id) != std::end(kMoves);
}

// The integers of a tensor, or of the tensors of a tuple, that are all quantized as `type` says. Null for others.
const Expr* IntegersOf(const Expr* reals, const AffineType& type, const Definitions& definitions, OpBuilder& calls,
                       Workspace& workspace) {
  const auto* tuple = As<Tuple>(DefinitionOf(reals, definitions));
  if (!tuple) {
    const auto inner = MatchDequantize(reals, definitions, workspace);
    return inner && AreEqual(inner->type, type) ? inner->data : nullptr;
  }
  std::vector<const Expr*> fields;
  for (const Expr* field : tuple->fields) {
    const auto inner = MatchDequantize(field, definitions, workspace);
    if (!inner || !AreEqual(inner->type, type)) return nullptr;
    fields.push_back(inner->data);
  }
  return fields.empty() ? nullptr : calls.MakeTuple(fields);
}

// The call on other data.
const Call* CallOn(const Expr* data, const Call& call, OpBuilder& calls) {
  std::vector<const Expr*> args(call.args.begin(), call.args.end());
  args[0] = data;
  return calls.Make(To<Op>(call.op)->info->id, args, call.attrs, call.type_args);
}

// quantize(move(dequantize(x))) = move(x), if all have one scale and one zero point
const Expr* MoveIntegers(const Call& quantize, const Call* move, const Definitions& definitions,
                         BlockBuilder& builder) {
  if (!move || !MovesElements(*move)) return nullptr;
  const auto outer = MatchQuantize(&quantize, definitions, builder.workspace());
  if (!outer || !HasOneScale(outer->type) || !IsSafe(*outer)) return nullptr;
  OpBuilder calls(builder);
  const Expr* integers = IntegersOf(move->args[0], outer->type, definitions, calls, builder.workspace());
  return integers ? CallOn(integers, *move, calls) : nullptr;
}

// The axis of the scales of a dequantization after its result was moved; nothing if there is none.
std::optional<int64_t> AxisAfter(const Call& move, const AffineType& type) {
  if (HasOneScale(type)) return -1;
  if (!IsOp(move.op, op::kPermuteDims)) return std::nullopt;
  const std::vector<int64_t> axes = PermutationOf(move);
  const auto found = std::ranges::find(axes, type.axis);
  return found == axes.end() ? std::nullopt : std::optional<int64_t>(found - axes.begin());
}

// move(dequantize(constant)) = dequantize(move(constant)): the constant is moved once for all runs.
const Expr* MoveConstant(const Call& move, const Call* dequantize, const Definitions& definitions,
                         BlockBuilder& builder) {
  const auto inner = dequantize ? MatchDequantize(dequantize, definitions, builder.workspace()) : std::nullopt;
  if (!inner || !Is<Constant>(DefinitionOf(inner->data, definitions))) return nullptr;
  // The bias of a convolution, which other formats have as a vector.
  if (IsOp(move.op, op::kExpandDims) && TensorTypeOf(inner->data)->ndim == 1) return nullptr;
  const std::optional<int64_t> axis = AxisAfter(move, inner->type);
  if (!axis) return nullptr;
  OpBuilder calls(builder);
  const Expr* moved = CallOn(dequantize->args[0], move, calls);
  const DataType dtype = QuantizeAttrs(*dequantize).out_dtype();
  return calls.Make(op::kDequantize, {moved, dequantize->args[1], dequantize->args[2]},
                    MakeOpAttrs(op::kDequantize, QuantizeAttrs::Values{.out_dtype = dtype, .axis = *axis}));
}

}  // namespace

void AddQuantizedMoveRules(RuleSet& rules) {
  AddPackedPairs(rules);
  const Pattern real = Wildcard();
  const Pattern pair = IsCall(GetOp(op::kQuantize), {real, Wildcard(), Wildcard()});
  rules.Add({"quantize of dequantize", pair, [=](const Match& match, BlockBuilder& builder) {
               return UndoPair(*match.CallAt(pair), match.definitions(), builder.workspace());
             }});
  const Pattern moved = Wildcard().UsedOnce();
  const Pattern again = IsCall(GetOp(op::kQuantize), {moved, Wildcard(), Wildcard()});
  rules.Add({"quantize of moved integers", again, [=](const Match& match, BlockBuilder& builder) {
               return MoveIntegers(*match.CallAt(again), match.CallAt(moved), match.definitions(), builder);
             }});
  for (const OpId op : {op::kPermuteDims, op::kReshape, op::kExpandDims, op::kSqueeze}) {
    const Pattern weight = IsCall(GetOp(op::kDequantize), {IsConstant(), Wildcard(), Wildcard()}).UsedOnce();
    const Pattern move = IsCall(GetOp(op), {weight}).AnyMoreArgs();
    rules.Add({"move of a dequantized constant", move, [=](const Match& match, BlockBuilder& builder) {
                 return MoveConstant(*match.CallAt(move), match.CallAt(weight), match.definitions(), builder);
               }});
  }
}

}  // namespace iropt
