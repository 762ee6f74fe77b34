// Operators of two tensors that broadcast.
#include "op_table.h"

namespace iropt::relay {

namespace {

const Expr* BuildSameBinary(OpCall& call) { return call.Make(call.row().name, {call.arg(0), call.arg(1)}); }

// The remainder of the truncated quotient.
const Expr* BuildTruncMod(OpCall& call) { return call.Make("mod", {call.arg(0), call.arg(1)}); }

const Expr* BuildTruncDivide(OpCall& call) {
  const Expr* quotient = call.Make("divide", {call.arg(0), call.arg(1)});
  // The quotient of integers is truncated.
  return quotient && call.DType(quotient).is_floating() ? call.Make("trunc", {quotient}) : quotient;
}

constexpr OperatorRow kBinary[] = {
    {"add", "lhs, rhs", "", BuildSameBinary},
    {"bitwise_and", "lhs, rhs", "", BuildSameBinary},
    {"bitwise_or", "lhs, rhs", "", BuildSameBinary},
    {"bitwise_xor", "lhs, rhs", "", BuildSameBinary},
    {"divide", "lhs, rhs", "", BuildSameBinary},
    {"equal", "lhs, rhs", "", BuildSameBinary},
    {"floor_divide", "lhs, rhs", "", BuildSameBinary},
    {"floor_mod", "lhs, rhs", "", BuildSameBinary},
    {"greater", "lhs, rhs", "", BuildSameBinary},
    {"greater_equal", "lhs, rhs", "", BuildSameBinary},
    {"left_shift", "lhs, rhs", "", BuildSameBinary},
    {"less", "lhs, rhs", "", BuildSameBinary},
    {"less_equal", "lhs, rhs", "", BuildSameBinary},
    {"logical_and", "lhs, rhs", "", BuildSameBinary},
    {"logical_or", "lhs, rhs", "", BuildSameBinary},
    {"logical_xor", "lhs, rhs", "", BuildSameBinary},
    {"maximum", "lhs, rhs", "", BuildSameBinary},
    {"minimum", "lhs, rhs", "", BuildSameBinary},
    {"mod", "lhs, rhs", "", BuildTruncMod},
    {"multiply", "lhs, rhs", "", BuildSameBinary},
    {"not_equal", "lhs, rhs", "", BuildSameBinary},
    {"power", "lhs, rhs", "", BuildSameBinary},
    {"right_shift", "lhs, rhs", "", BuildSameBinary},
    {"subtract", "lhs, rhs", "", BuildSameBinary},
    {"trunc_divide", "lhs, rhs", "", BuildTruncDivide},
    {"trunc_mod", "lhs, rhs", "", BuildTruncMod},
};

}  // namespace

std::span<const OperatorRow> BinaryOperators() { return kBinary; }

}  // namespace iropt::relay
