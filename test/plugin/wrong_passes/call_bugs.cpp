// Wrong rewrites of calls of operators.
#include <vector>

#include "bugs.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"
#include "iropt/runtime/value.h"

namespace iropt::wrong {

namespace {

// Replaces calls by what a function makes of them; null: the call stays.
using CallRewrite = std::function<const Expr*(const Call& call, BlockBuilder& builder)>;

class CallRewriter : public ExprMutator {
 public:
  CallRewriter(const CallRewrite& rewrite, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), rewrite_(rewrite) {}

 protected:
  const Expr* VisitCall(const Call* call) override {
    const Expr* visited = ExprMutator::VisitCall(call);
    const auto* same = As<Call>(visited);
    const Expr* replacement = same ? rewrite_(*same, builder()) : nullptr;
    return replacement ? replacement : visited;
  }

 private:
  const CallRewrite& rewrite_;
};

GraphBug Replace(const char* name, const char* summary, CallRewrite rewrite) {
  return {name, summary,
          [rewrite = std::move(rewrite)](const Function* function, Workspace& workspace, TypeInferrer& inferrer) {
            return To<Function>(CallRewriter(rewrite, workspace, inferrer).VisitExpr(function));
          }};
}

bool IsCallOf(const Expr* expr, OpId id) {
  const auto* call = As<Call>(expr);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  return op && op->info->id == id;
}

// The call of the operator that a variable is bound to; null for anything else.
const Call* OperandCall(const Expr* operand, OpId id, BlockBuilder& builder) {
  const auto* var = As<Var>(operand);
  const Expr* value = var ? builder.LookupBinding(var) : operand;
  return value && IsCallOf(value, id) ? To<Call>(value) : nullptr;
}

const Expr* Astype(const Expr* value, DataType dtype, BlockBuilder& builder) {
  return builder.MakeCall(GetOp(op::kAstype), {value}, MakeOpAttrs(op::kAstype, AstypeAttrs::Values{.dtype = dtype}));
}

std::optional<Scalar> ConstantOf(const Expr* expr) {
  const auto* constant = As<Constant>(expr);
  return constant ? ScalarOf(*constant->data) : std::nullopt;
}

const Expr* SwapOperands(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kSubtract)) return nullptr;
  return builder.MakeCall(call.op, {call.args[1], call.args[0]});
}

const Expr* NarrowThroughHalf(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kMultiply)) return nullptr;
  const Expr* narrow = Astype(builder.Emit(&call), DataType::Float(16), builder);
  return Astype(builder.Emit(narrow), DataType::Float(32), builder);
}

// x * c // c -> x, which is wrong where the product overflows.
const Expr* CancelProduct(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kFloorDivide)) return nullptr;
  const Call* product = OperandCall(call.args[0], op::kMultiply, builder);
  const std::optional<Scalar> factor = product ? ConstantOf(product->args[1]) : std::nullopt;
  const std::optional<Scalar> divisor = ConstantOf(call.args[1]);
  return factor && divisor && factor->integer == divisor->integer ? product->args[0] : nullptr;
}

// x * 0 -> 0, which is wrong for infinities and NaNs.
const Expr* ZeroProduct(const Call& call, BlockBuilder& builder) {
  const std::optional<Scalar> factor = IsCallOf(&call, op::kMultiply) ? ConstantOf(call.args[1]) : std::nullopt;
  if (!factor || factor->ToDouble() != 0) return nullptr;
  return builder.MakeCall(GetOp(op::kZerosLike), {call.args[0]}, MakeOpAttrs(op::kZerosLike, InitAttrs::Values{}));
}

const Expr* SelfQuotient(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kDivide) || call.args[0] != call.args[1]) return nullptr;
  return builder.MakeCall(GetOp(op::kOnesLike), {call.args[0]}, MakeOpAttrs(op::kOnesLike, InitAttrs::Values{}));
}

const Expr* SwapExtrema(const Call& call, BlockBuilder& builder) {
  return IsCallOf(&call, op::kMaximum) ? builder.MakeCall(GetOp(op::kMinimum), {call.args[0], call.args[1]}) : nullptr;
}

// max(x, y), which is NaN if one of them is, -> y > x ? y : x.
const Expr* CompareForMaximum(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kMaximum)) return nullptr;
  const Expr* greater = builder.Emit(builder.MakeCall(GetOp(op::kGreater), {call.args[1], call.args[0]}));
  return builder.MakeCall(GetOp(op::kWhere), {greater, call.args[1], call.args[0]});
}

const Expr* WrongAxis(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kNnSoftmax) || SoftmaxAttrs(call).axis() == 0) return nullptr;
  return builder.MakeCall(call.op, {call.args[0]}, MakeOpAttrs(op::kNnSoftmax, SoftmaxAttrs::Values{.axis = 0}));
}

// x + c -> x where c is tiny.
const Expr* DropEpsilon(const Call& call, BlockBuilder&) {
  const std::optional<Scalar> term = IsCallOf(&call, op::kAdd) ? ConstantOf(call.args[1]) : std::nullopt;
  return term && term->ToDouble() < 1e-3 ? call.args[0] : nullptr;
}

// astype(astype(x, narrow), wide) -> x.
const Expr* DropRoundTrip(const Call& call, BlockBuilder& builder) {
  const Call* inner = IsCallOf(&call, op::kAstype) ? OperandCall(call.args[0], op::kAstype, builder) : nullptr;
  return inner && inner->args[0]->type == call.type ? inner->args[0] : nullptr;
}

// matmul(x, transpose(w)) -> matmul(x, w), for a square w.
const Expr* ForgetTranspose(const Call& call, BlockBuilder& builder) {
  const Call* transpose = IsCallOf(&call, op::kMatmul) ? OperandCall(call.args[1], op::kPermuteDims, builder) : nullptr;
  return transpose ? builder.MakeCall(call.op, {call.args[0], transpose->args[0]}, call.attrs) : nullptr;
}

// The element of the second slice, one earlier.
const Expr* SliceOffByOne(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kStridedSlice)) return nullptr;
  std::vector<const Expr*> args(call.args.begin(), call.args.end());
  const auto moved = [&](const Expr* bounds) -> const Expr* {
    const auto* tuple = As<Tuple>(bounds);
    const auto* value = tuple ? As<PrimValue>(tuple->fields[0]) : nullptr;
    const auto* bound = value ? As<tir::IntImm>(value->value) : nullptr;
    if (!bound || bound->value < 1) return bounds;
    const Expr* less = MakeLiteral(HostValue(Scalar::Int(bound->value - 1)), builder.workspace());
    return MakeLiteral(HostValue(TupleValue{{*LiteralValue(less)}}), builder.workspace());
  };
  args[2] = moved(args[2]);
  args[3] = moved(args[3]);
  return args[2] == call.args[2] ? nullptr : builder.MakeCall(call.op, args, call.attrs);
}

// where(x == c, a, b) -> b.
const Expr* DropRareEquality(const Call& call, BlockBuilder& builder) {
  const bool is_choice = IsCallOf(&call, op::kWhere) && OperandCall(call.args[0], op::kEqual, builder);
  return is_choice ? call.args[2] : nullptr;
}

// floor_divide(x, 2) -> trunc(x / 2), which is wrong for negative numbers.
const Expr* TruncateQuotient(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kFloorDivide)) return nullptr;
  const Expr* sign = builder.Emit(builder.MakeCall(GetOp(op::kSign), {call.args[0]}));
  const Expr* size = builder.Emit(builder.MakeCall(GetOp(op::kAbs), {call.args[0]}));
  const Expr* quotient = builder.Emit(builder.MakeCall(call.op, {size, call.args[1]}));
  return builder.MakeCall(GetOp(op::kMultiply), {sign, quotient});
}

// round(x), which takes halves to the even neighbour, -> floor(x + 0.5).
const Expr* RoundHalfUp(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kRound)) return nullptr;
  const Expr* half = MakeConstant(MakeScalarTensor(Scalar::Float(0.5, DataType::Float(32))), builder.workspace());
  const Expr* sum = builder.Emit(builder.MakeCall(GetOp(op::kAdd), {call.args[0], half}));
  return builder.MakeCall(GetOp(op::kFloor), {sum});
}

// variance(x) -> mean(x * x) - mean(x) * mean(x), which cancels out where the mean is large.
const Expr* OnePassVariance(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kVariance)) return nullptr;
  const auto emit = [&](const Op* op, std::vector<const Expr*> args, const Attr* attrs) {
    return builder.Emit(builder.MakeCall(op, args, attrs));
  };
  const Expr* square = emit(GetOp(op::kMultiply), {call.args[0], call.args[0]}, nullptr);
  const Expr* mean_of_squares = emit(GetOp(op::kMean), {square}, call.attrs);
  const Expr* mean = emit(GetOp(op::kMean), {call.args[0]}, call.attrs);
  const Expr* square_of_mean = emit(GetOp(op::kMultiply), {mean, mean}, nullptr);
  return builder.MakeCall(GetOp(op::kSubtract), {mean_of_squares, square_of_mean});
}

// Integers of 64 bits are compared as float64, which has 53.
const Expr* CompareAsFloat(const Call& call, BlockBuilder& builder) {
  if (!IsCallOf(&call, op::kEqual)) return nullptr;
  const auto* type = As<TensorType>(call.args[0]->type);
  if (!type || type->dtype != DataType::Int(64)) return nullptr;
  const Expr* a = builder.Emit(Astype(call.args[0], DataType::Float(64), builder));
  const Expr* b = builder.Emit(Astype(call.args[1], DataType::Float(64), builder));
  return builder.MakeCall(call.op, {a, b});
}

const Expr* DropEpilogue(const Call& call, BlockBuilder&) {
  return IsCallOf(&call, op::kNnRelu) ? call.args[0] : nullptr;
}

}  // namespace

std::span<const GraphBug> CallBugs() {
  static const std::vector<GraphBug> bugs = {
      Replace("SwapOperands", "swap the operands of differences", SwapOperands),
      Replace("NarrowThroughHalf", "round products to float16", NarrowThroughHalf),
      Replace("CancelProduct", "replace x * c // c by x", CancelProduct),
      Replace("ZeroProduct", "replace x * 0 by 0", ZeroProduct),
      Replace("SelfQuotient", "replace x / x by 1", SelfQuotient),
      Replace("SwapExtrema", "replace maximum by minimum", SwapExtrema),
      Replace("CompareForMaximum", "replace maximum by a comparison", CompareForMaximum),
      Replace("WrongAxis", "compute softmax over the first axis", WrongAxis),
      Replace("DropEpsilon", "drop small terms", DropEpsilon),
      Replace("DropRoundTrip", "drop conversions to another dtype and back", DropRoundTrip),
      Replace("ForgetTranspose", "multiply by matrices that are not transposed", ForgetTranspose),
      Replace("SliceOffByOne", "take slices one element earlier", SliceOffByOne),
      Replace("DropRareEquality", "drop what is chosen where numbers are equal", DropRareEquality),
      Replace("TruncateQuotient", "round quotients towards zero", TruncateQuotient),
      Replace("RoundHalfUp", "round halves up", RoundHalfUp),
      Replace("OnePassVariance", "compute variances in one pass", OnePassVariance),
      Replace("CompareAsFloat", "compare integers as floats", CompareAsFloat),
      Replace("DropEpilogue", "drop activations", DropEpilogue),
  };
  return bugs;
}

}  // namespace iropt::wrong
