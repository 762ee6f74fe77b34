// Constants and dtypes in scalar arithmetic: promotion of operands to a common dtype, conversion of integers to a
// dtype, and operations on 64-bit integers. For nodes see prim_builder.h.
//
// Promotion and folding follow TVM (BinaryOpMatchTypes in src/tir/op/op.cc, src/arith/const_fold.h).
#pragma once

#include <cstdint>
#include <optional>

#include "iropt/ir/dtype.h"
#include "iropt/ir/node.h"

namespace iropt::tir {
struct FloatImm;
}

namespace iropt::arith {

// The common dtype of the operands of an operation; nothing if they do not match. Element types, in this order: float
// wins over everything, then bfloat16, then the float8 formats, then the wider integer; of two integers of one width
// the unsigned one. Two different float8 formats, and handles, match nothing but themselves. A scalar takes the lanes
// of a vector; two vectors need the same number of lanes.
std::optional<DataType> PromoteDTypes(DataType a, DataType b);

// Index arithmetic is done in these dtypes; only they are simplified as mathematical integers.
constexpr bool IsIndexType(DataType t) { return t.is_int() && t.is_scalar() && (t.bits == 32 || t.bits == 64); }

// The value wrapped to an integer dtype: two's complement of its width.
int64_t WrapInteger(int64_t value, DataType dtype);
// The number rounded to a float dtype.
double RoundFloat(double value, DataType dtype);
// The number that a literal is, 2048 for T.float16(2048.5): the node holds it as it was written.
double RoundedValue(const tir::FloatImm& literal);
// Returns whether an integer dtype holds the value.
bool FitsIn(int64_t value, DataType dtype);

// The operation on 64-bit integers (comparisons give 0 or 1); nothing if the result overflows or a divisor is 0.
std::optional<int64_t> FoldIntegers(NodeKind kind, int64_t a, int64_t b);
// Computes the operation modulo 2^64: overflow wraps around. Nothing if a divisor is 0.
std::optional<int64_t> FoldIntegersWrapping(NodeKind kind, int64_t a, int64_t b);

// Division and remainder towards negative infinity. b is not 0, and not (INT64_MIN, -1).
constexpr int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
constexpr int64_t FloorModInt(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// Exact results, or nothing if 64 bits do not hold them.
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> CheckedSub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
// A common divisor of the magnitudes that is not negative, where 0 is divisible by everything: the greatest one, or
// 2^62 instead of 2^63.
int64_t ZeroAwareGcd(int64_t a, int64_t b);

}  // namespace iropt::arith
