// Operators of two tensors that broadcast.
#include "iropt/infer/ops/binary.h"

#include "iropt/infer/ops/arithmetic.h"
#include "iropt/infer/ops/unary.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

template <auto kOp>
const Expr* BuildSameBinary(OpCall& call) {
  return kOp(call, call.arg(0), call.arg(1));
}

// The remainder of the truncated quotient.
const Expr* BuildTruncMod(OpCall& call) { return op::Mod(call, call.arg(0), call.arg(1)); }

const Expr* BuildTruncDivide(OpCall& call) {
  const Expr* quotient = op::Divide(call, call.arg(0), call.arg(1));
  // The quotient of integers is truncated.
  return quotient && DTypeOf(quotient).is_floating() ? op::Trunc(call, quotient) : quotient;
}

constexpr OperatorRow kBinary[] = {
    {"add", "lhs, rhs", "", BuildSameBinary<op::Add>},
    {"bitwise_and", "lhs, rhs", "", BuildSameBinary<op::BitwiseAnd>},
    {"bitwise_or", "lhs, rhs", "", BuildSameBinary<op::BitwiseOr>},
    {"bitwise_xor", "lhs, rhs", "", BuildSameBinary<op::BitwiseXor>},
    {"divide", "lhs, rhs", "", BuildSameBinary<op::Divide>},
    {"equal", "lhs, rhs", "", BuildSameBinary<op::Equal>},
    {"floor_divide", "lhs, rhs", "", BuildSameBinary<op::FloorDivide>},
    {"floor_mod", "lhs, rhs", "", BuildSameBinary<op::FloorMod>},
    {"greater", "lhs, rhs", "", BuildSameBinary<op::Greater>},
    {"greater_equal", "lhs, rhs", "", BuildSameBinary<op::GreaterEqual>},
    {"left_shift", "lhs, rhs", "", BuildSameBinary<op::LeftShift>},
    {"less", "lhs, rhs", "", BuildSameBinary<op::Less>},
    {"less_equal", "lhs, rhs", "", BuildSameBinary<op::LessEqual>},
    {"logical_and", "lhs, rhs", "", BuildSameBinary<op::LogicalAnd>},
    {"logical_or", "lhs, rhs", "", BuildSameBinary<op::LogicalOr>},
    {"logical_xor", "lhs, rhs", "", BuildSameBinary<op::LogicalXor>},
    {"maximum", "lhs, rhs", "", BuildSameBinary<op::Maximum>},
    {"minimum", "lhs, rhs", "", BuildSameBinary<op::Minimum>},
    {"mod", "lhs, rhs", "", BuildTruncMod},
    {"multiply", "lhs, rhs", "", BuildSameBinary<op::Multiply>},
    {"not_equal", "lhs, rhs", "", BuildSameBinary<op::NotEqual>},
    {"power", "lhs, rhs", "", BuildSameBinary<op::Power>},
    {"right_shift", "lhs, rhs", "", BuildSameBinary<op::RightShift>},
    {"subtract", "lhs, rhs", "", BuildSameBinary<op::Subtract>},
    {"trunc_divide", "lhs, rhs", "", BuildTruncDivide},
    {"trunc_mod", "lhs, rhs", "", BuildTruncMod},
};

}  // namespace

std::span<const OperatorRow> BinaryOperators() { return kBinary; }

}  // namespace iropt::relay
