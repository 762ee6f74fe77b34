// Legalization of operators on tensors that are broadcast against each other.
#include "legalize/legalizations.h"

namespace iropt::legalize {

namespace {

using te::Value;

// A constant of rank 0 becomes a number in the PrimFunc: the second operand, or else the first one.
const Expr* LegalizeBinary(LegalizeCall& call, std::string_view name, std::string_view stage, topi::BinaryFn f) {
  TeCall te(call, name);
  const bool folds = AsScalarConstant(call.arg(1), te.make()) != nullptr;
  const te::Operand a = te.Operand(call.arg(0), !folds);
  const te::Operand b = te.Operand(call.arg(1), true);
  if (std::holds_alternative<Value>(a) && std::holds_alternative<Value>(b))
    return call.Error("none of the operands is a tensor");
  return te.Finish({topi::Broadcast(a, b, stage, f)});
}

Value FloorDivide(Value a, Value b) { return a.dtype().is_integer() ? te::FloorDiv(a, b) : topi::Floor(te::Div(a, b)); }

}  // namespace

#define IROPT_LEGALIZE_BINARY(Id, name, value)                                                                         \
  const Expr* Legalize##Id(LegalizeCall& call) {                                                                       \
    return LegalizeBinary(call, name, "T_" name, [](Value a, Value b) { return value; });                              \
  }

IROPT_LEGALIZE_BINARY(Add, "add", a + b)
IROPT_LEGALIZE_BINARY(BitwiseAnd, "bitwise_and", te::Bitwise(arith::BitOp::kAnd, a, b))
IROPT_LEGALIZE_BINARY(BitwiseOr, "bitwise_or", te::Bitwise(arith::BitOp::kOr, a, b))
IROPT_LEGALIZE_BINARY(BitwiseXor, "bitwise_xor", te::Bitwise(arith::BitOp::kXor, a, b))
IROPT_LEGALIZE_BINARY(Divide, "divide", te::Div(a, b))
IROPT_LEGALIZE_BINARY(Equal, "equal", a == b)
IROPT_LEGALIZE_BINARY(FloorDivide, "floor_divide", FloorDivide(a, b))
IROPT_LEGALIZE_BINARY(Greater, "greater", a > b)
IROPT_LEGALIZE_BINARY(GreaterEqual, "greater_equal", a >= b)
IROPT_LEGALIZE_BINARY(LeftShift, "left_shift", te::Bitwise(arith::BitOp::kShiftLeft, a, b))
IROPT_LEGALIZE_BINARY(Less, "less", a < b)
IROPT_LEGALIZE_BINARY(LessEqual, "less_equal", a <= b)
IROPT_LEGALIZE_BINARY(LogicalAnd, "logical_and", a&& b)
IROPT_LEGALIZE_BINARY(LogicalOr, "logical_or", a || b)
IROPT_LEGALIZE_BINARY(LogicalXor, "logical_xor", te::Bitwise(arith::BitOp::kXor, a, b))
IROPT_LEGALIZE_BINARY(Maximum, "maximum", te::Max(a, b))
IROPT_LEGALIZE_BINARY(Minimum, "minimum", te::Min(a, b))
IROPT_LEGALIZE_BINARY(Multiply, "multiply", a* b)
IROPT_LEGALIZE_BINARY(NotEqual, "not_equal", a != b)
IROPT_LEGALIZE_BINARY(Power, "power", topi::Pow(a, b))
IROPT_LEGALIZE_BINARY(RightShift, "right_shift", te::Bitwise(arith::BitOp::kShiftRight, a, b))
IROPT_LEGALIZE_BINARY(Subtract, "subtract", a - b)

#undef IROPT_LEGALIZE_BINARY

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
