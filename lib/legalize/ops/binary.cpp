// Legalization of operators on tensors that are broadcast against each other.
#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt::legalize {

namespace {

using te::Value;

// The value of a scalar. A variable of the graph is matched to a symbolic one.
const PrimExpr* SymbolicValue(LegalizeCall& call, const Expr* scalar) {
  if (const PrimExpr* value = To<PrimType>(scalar->type)->value) return value;
  const PrimExpr* symbol = IRContext::Current().NewSymVar("s");
  call.builder().EmitMatchCast(scalar, PrimType::Get(symbol));
  return symbol;
}

// An operation on scalars is one on symbolic variables, which have 64 bits. TVM has PrimFuncs for tensors only, and
// ends here.
const Expr* LegalizeScalars(LegalizeCall& call, te::Builder& te, topi::BinaryFn f) {
  for (size_t i = 0; i < 2; ++i) {
    const auto* scalar = As<PrimType>(call.arg(i)->type);
    if (!scalar) return call.Error("one operand is a scalar and the other a constant of rank 0: neither is a tensor");
    if (scalar->dtype != DataType::Int(64))
      return call.Error(fmt::format("an operand is a scalar of {}, and only those of int64 are symbolic variables",
                                    scalar->dtype.ToString()));
  }
  const Value a(SymbolicValue(call, call.arg(0)), te);
  const Value b(SymbolicValue(call, call.arg(1)), te);
  const PrimExpr* result = te.NodeOf(f(a, b));
  if (!IRContext::CanIntern(result)) return call.Error("its operands are scalars, for which it has no arithmetic");
  result = IRContext::Current().Intern(result);
  return call.builder().workspace().New<PrimValue>(result, PrimType::Get(result));
}

// A constant of rank 0 becomes a number in the PrimFunc: the second operand, or else the first one.
const Expr* LegalizeBinary(LegalizeCall& call, std::string_view name, std::string_view stage, topi::BinaryFn f) {
  TeCall te(call, name);
  const bool folds = AsScalarConstant(call.arg(1), te.make()) != nullptr;
  const te::Operand a = te.Operand(call.arg(0), !folds);
  const te::Operand b = te.Operand(call.arg(1), true);
  if (std::holds_alternative<Value>(a) && std::holds_alternative<Value>(b)) return LegalizeScalars(call, te, f);
  return te.Finish({topi::Broadcast(a, b, stage, f)});
}

DataType ElementType(const Type* type) {
  if (const auto* tensor = As<TensorType>(type)) return tensor->dtype;
  const auto* scalar = As<PrimType>(type);
  return scalar ? scalar->dtype : DataType::Void();
}

// Operations on the bits of integers. The type rules take all dtypes, as TVM's do, but no PrimFunc
// has such an operation on others.
const Expr* LegalizeBits(LegalizeCall& call, std::string_view name, std::string_view stage, topi::BinaryFn f) {
  for (size_t i = 0; i < call.num_args(); ++i) {
    if (const DataType dtype = ElementType(call.arg(i)->type); dtype.is_floating())
      return call.Error(fmt::format("the operands must have integer dtypes, but one has {}", dtype.ToString()));
  }
  return LegalizeBinary(call, name, stage, f);
}

const Expr* LegalizeLogical(LegalizeCall& call, std::string_view name, std::string_view stage, topi::BinaryFn f) {
  for (size_t i = 0; i < call.num_args(); ++i) {
    if (const DataType dtype = ElementType(call.arg(i)->type); !dtype.is_bool() && !dtype.is_void())
      return call.Error(fmt::format("the operands must have the dtype bool, but one has {}", dtype.ToString()));
  }
  return LegalizeBinary(call, name, stage, f);
}

Value FloorDivide(Value a, Value b) { return a.dtype().is_integer() ? te::FloorDiv(a, b) : topi::Floor(te::Div(a, b)); }

// TVM has no remainder of floats for these operators. This one is exact, also for large quotients and infinite
// divisors.
Value TruncRemainder(Value a, Value b) {
  return a.dtype().is_integer() ? te::TruncMod(a, b) : te::Call(op::kTirFmod, {a, b});
}

// Its sign is that of the divisor.
Value FloorRemainder(Value a, Value b) {
  if (a.dtype().is_integer()) return te::FloorMod(a, b);
  const Value rest = TruncRemainder(a, b);
  return te::Select(rest != 0 && (rest < 0) != (b < 0), rest + b, rest);
}

// Without exponentials of large numbers: the greater operand and log(1 + exp(less - greater)). Infinities of one sign
// have no difference, and NaN has none to any number.
Value LogAddExp(Value a, Value b) {
  const DataType dtype = a.dtype();
  te::Builder& te = *a.te();
  const Value correction = te::Call(op::kTirLog1p, {topi::Exp(te.Const(0, dtype) - topi::Abs(a - b))});
  return te::Select(a == b, a + te.Const(std::log(2.0), dtype), te::Max(a, b) + correction);
}

}  // namespace

#define IROPT_LEGALIZE_WITH(legalize, Id, name, value)                                                                 \
  const Expr* Legalize##Id(LegalizeCall& call) {                                                                       \
    return legalize(call, name, "T_" name, [](Value a, Value b) { return value; });                                    \
  }
#define IROPT_LEGALIZE_BINARY(Id, name, value) IROPT_LEGALIZE_WITH(LegalizeBinary, Id, name, value)
#define IROPT_LEGALIZE_BITS(Id, name, op)                                                                              \
  IROPT_LEGALIZE_WITH(LegalizeBits, Id, name, te::Bitwise(arith::BitOp::op, a, b))

IROPT_LEGALIZE_BINARY(Add, "add", a + b)
IROPT_LEGALIZE_BINARY(Atan2, "atan2", te::Call(op::kTirAtan2, {a, b}))
IROPT_LEGALIZE_BITS(BitwiseAnd, "bitwise_and", kAnd)
IROPT_LEGALIZE_BITS(BitwiseOr, "bitwise_or", kOr)
IROPT_LEGALIZE_BITS(BitwiseXor, "bitwise_xor", kXor)
IROPT_LEGALIZE_BINARY(Divide, "divide", te::Div(a, b))
IROPT_LEGALIZE_BINARY(Equal, "equal", a == b)
IROPT_LEGALIZE_BINARY(FloorDivide, "floor_divide", FloorDivide(a, b))
IROPT_LEGALIZE_BINARY(FloorMod, "floor_mod", FloorRemainder(a, b))
IROPT_LEGALIZE_BINARY(Greater, "greater", a > b)
IROPT_LEGALIZE_BINARY(GreaterEqual, "greater_equal", a >= b)
IROPT_LEGALIZE_BITS(LeftShift, "left_shift", kShiftLeft)
IROPT_LEGALIZE_BINARY(Less, "less", a < b)
IROPT_LEGALIZE_BINARY(LessEqual, "less_equal", a <= b)
IROPT_LEGALIZE_BINARY(LogAddExp, "log_add_exp", LogAddExp(a, b))
IROPT_LEGALIZE_WITH(LegalizeLogical, LogicalAnd, "logical_and", a&& b)
IROPT_LEGALIZE_WITH(LegalizeLogical, LogicalOr, "logical_or", a || b)
IROPT_LEGALIZE_WITH(LegalizeLogical, LogicalXor, "logical_xor", te::Bitwise(arith::BitOp::kXor, a, b))
IROPT_LEGALIZE_BINARY(Maximum, "maximum", te::Max(a, b))
IROPT_LEGALIZE_BINARY(Minimum, "minimum", te::Min(a, b))
IROPT_LEGALIZE_BINARY(Mod, "mod", TruncRemainder(a, b))
IROPT_LEGALIZE_BINARY(Multiply, "multiply", a* b)
IROPT_LEGALIZE_BINARY(NotEqual, "not_equal", a != b)
IROPT_LEGALIZE_BINARY(Power, "power", topi::Pow(a, b))
IROPT_LEGALIZE_BITS(RightShift, "right_shift", kShiftRight)
IROPT_LEGALIZE_BINARY(Subtract, "subtract", a - b)

#undef IROPT_LEGALIZE_BITS
#undef IROPT_LEGALIZE_BINARY
#undef IROPT_LEGALIZE_WITH

const Expr* LegalizeWhere(LegalizeCall& call) {
  TeCall te(call, "where");
  const std::vector<te::Tensor> inputs = te.Inputs(call.call().args.span());
  return te.Finish({topi::Where(inputs[0], inputs[1], inputs[2])});
}

const Expr* LegalizeEwiseFma(LegalizeCall& call) {
  TeCall te(call, "ewise_fma");
  const std::vector<te::Tensor> inputs = te.Inputs(call.call().args.span());
  return te.Finish({topi::Add(topi::Multiply(inputs[0], inputs[1]), inputs[2])});
}

}  // namespace iropt::legalize
