#include "scalar_intrinsics.h"

#include <algorithm>
#include <bit>

#include "iropt/op/op.h"

namespace iropt {

namespace {

bool IsNan(const Scalar* args, DataType, Scalar* result) {
  return *result = Scalar::Int(args[0].dtype.is_floating() && std::isnan(args[0].real), DataType::Bool()), true;
}

bool CountLeadingZeros(const Scalar* args, DataType dtype, Scalar* result) {
  const DataType from = args[0].dtype;
  if (!from.is_integer()) return false;
  const uint64_t value = static_cast<uint64_t>(args[0].integer) << (64 - from.bits) >> (64 - from.bits);
  return *result = Scalar::Int(std::countl_zero(value) - (64 - from.bits), dtype), true;
}

bool CountOnes(const Scalar* args, DataType dtype, Scalar* result) {
  const DataType from = args[0].dtype;
  if (!from.is_integer()) return false;
  const uint64_t value = static_cast<uint64_t>(args[0].integer) << (64 - from.bits) >> (64 - from.bits);
  return *result = Scalar::Int(std::popcount(value), dtype), true;
}

bool LoadExponent(const Scalar* args, DataType dtype, Scalar* result) {
  const std::optional<int64_t> exponent = args[1].ToInt();
  if (!args[0].dtype.is_floating() || !exponent) return false;
  const int clamped = static_cast<int>(std::min<int64_t>(std::max<int64_t>(*exponent, -10000), 10000));
  return CastScalar(Scalar::Float(std::ldexp(args[0].real, clamped)), dtype, result);
}

// The neighbour in the format of the operands, hence no use of a wider one.
bool NextAfter(const Scalar* args, DataType dtype, Scalar* result) {
  if (dtype == DataType::Float(64))
    return *result = Scalar::Float(std::nextafter(args[0].real, args[1].real), dtype), true;
  if (dtype != DataType::Float(32)) return false;
  const float next = std::nextafter(static_cast<float>(args[0].real), static_cast<float>(args[1].real));
  return *result = Scalar::Float(next, dtype), true;
}

bool FusedMultiplyAdd(const Scalar* args, DataType dtype, Scalar* result) {
  if (!dtype.is_floating()) return false;
  if (dtype == DataType::Float(32)) {
    const float value =
        std::fma(static_cast<float>(args[0].real), static_cast<float>(args[1].real), static_cast<float>(args[2].real));
    return *result = Scalar::Float(value, dtype), true;
  }
  return CastScalar(Scalar::Float(std::fma(args[0].real, args[1].real, args[2].real)), dtype, result);
}

// x * y / 2^q, shifted to the left before and to the right behind, with halves rounded up. The product has 64 bits.
bool MultiplyShifted(const Scalar& x, const Scalar& y, int64_t q, int64_t left, int64_t right, Scalar* result) {
  if (left < 0 || left > 63 || right < 0 || q < 0 || right > 63 || q > 63 || q + right < 1 || q + right > 63)
    return false;
  const int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(x.integer) << left);
  const int64_t half = int64_t{1} << (q + right - 1);
  const int64_t rounded = WrapAdd(WrapMul(shifted, y.integer), half) >> (q + right);
  return *result = Scalar::Int(static_cast<int32_t>(static_cast<uint64_t>(rounded)), DataType::Int(32)), true;
}

bool IsInt32(const Scalar* args, size_t count) {
  return std::all_of(args, args + count, [](const Scalar& arg) { return arg.dtype == DataType::Int(32); });
}

// x, y, q and the shift, which is to the left where it is positive.
bool QMultiplyShift(const Scalar* args, DataType, Scalar* result) {
  const int64_t shift = args[3].integer;
  return IsInt32(args, 4) && MultiplyShifted(args[0], args[1], args[2].integer, std::max<int64_t>(shift, 0),
                                             std::max<int64_t>(-shift, 0), result);
}

// x, y, the shifts to the left and to the right, q, and whether the first (and the second) shift is to be done.
bool QMultiplyShiftPerAxis(const Scalar* args, DataType, Scalar* result) {
  if (!IsInt32(args, 5) || !args[5].dtype.is_integer()) return false;
  const int64_t left = args[5].integer != 0 ? args[2].integer : 0;
  return MultiplyShifted(args[0], args[1], args[4].integer, left, args[3].integer, result);
}

// The same bits as another type of the same width.
bool Reinterpret(const Scalar* args, DataType dtype, Scalar* result) {
  const auto is_word = [](DataType type) { return type.is_handle() || (type.is_integer() && type.bits == 64); };
  if ((args[0].dtype.is_handle() || dtype.is_handle()) && is_word(args[0].dtype) && is_word(dtype))
    return *result = Scalar::Int(args[0].integer, dtype), true;
  if (!IsElementType(args[0].dtype) || !IsElementType(dtype) || args[0].dtype.bits != dtype.bits) return false;
  std::byte place[8];
  StoreScalar(args[0], place);
  return *result = LoadScalar(dtype, place), true;
}

// Two halves of 32 bits, the lower first.
bool LargeUnsigned(const Scalar* args, DataType dtype, Scalar* result) {
  const uint64_t low = static_cast<uint64_t>(args[0].integer) & 0xffffffff;
  return *result = Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(args[1].integer) << 32 | low), dtype), true;
}

constexpr ScalarIntrinsic Unary(std::string_view name, const eval::UnaryOp& op) {
  return {name, 1, &op, nullptr, nullptr};
}
constexpr ScalarIntrinsic Binary(std::string_view name, const eval::BinaryOp& op) {
  return {name, 2, nullptr, &op, nullptr};
}
constexpr ScalarIntrinsic Special(std::string_view name, size_t arity, bool (*f)(const Scalar*, DataType, Scalar*)) {
  return {name, arity, nullptr, nullptr, f};
}

constexpr ScalarIntrinsic kIntrinsics[] = {
    Unary("tir.acos", eval::kAcos),
    Unary("tir.acosh", eval::kAcosh),
    Unary("tir.asin", eval::kAsin),
    Unary("tir.asinh", eval::kAsinh),
    Unary("tir.atan", eval::kAtan),
    Binary("tir.atan2", eval::kAtan2),
    Unary("tir.atanh", eval::kAtanh),
    Binary("tir.bitwise_and", eval::kBitwiseAnd),
    Unary("tir.bitwise_not", eval::kBitwiseNot),
    Binary("tir.bitwise_or", eval::kBitwiseOr),
    Binary("tir.bitwise_xor", eval::kBitwiseXor),
    Unary("tir.ceil", eval::kCeil),
    Special("tir.clz", 1, CountLeadingZeros),
    Binary("tir.copysign", eval::kCopysign),
    Unary("tir.cos", eval::kCos),
    Unary("tir.cosh", eval::kCosh),
    Unary("tir.erf", eval::kErf),
    Unary("tir.exp", eval::kExp),
    Unary("tir.exp10", eval::kExp10),
    Unary("tir.exp2", eval::kExp2),
    Unary("tir.fabs", eval::kAbs),
    Unary("tir.floor", eval::kFloor),
    Special("tir.fma", 3, FusedMultiplyAdd),
    Binary("tir.fmod", eval::kFmod),
    Binary("tir.hypot", eval::kHypot),
    Special("tir.isnan", 1, IsNan),
    Special("tir.large_uint_imm", 2, LargeUnsigned),
    Special("tir.ldexp", 2, LoadExponent),
    Unary("tir.log", eval::kLog),
    Unary("tir.log10", eval::kLog10),
    Unary("tir.log1p", eval::kLog1p),
    Unary("tir.log2", eval::kLog2),
    Unary("tir.nearbyint", eval::kNearbyint),
    Special("tir.nextafter", 2, NextAfter),
    Special("tir.popcount", 1, CountOnes),
    Binary("tir.pow", eval::kPower),
    Special("tir.q_multiply_shift", 4, QMultiplyShift),
    Special("tir.q_multiply_shift_per_axis", 7, QMultiplyShiftPerAxis),
    Special("tir.reinterpret", 1, Reinterpret),
    Unary("tir.round", eval::kRound),
    Unary("tir.rsqrt", eval::kRsqrt),
    Binary("tir.shift_left", eval::kLeftShift),
    Binary("tir.shift_right", eval::kRightShift),
    Unary("tir.sigmoid", eval::kSigmoid),
    Unary("tir.sin", eval::kSin),
    Unary("tir.sinh", eval::kSinh),
    Unary("tir.sqrt", eval::kSqrt),
    Unary("tir.tan", eval::kTan),
    Unary("tir.tanh", eval::kTanh),
    Unary("tir.trunc", eval::kTrunc),
};

}  // namespace

bool ScalarIntrinsic::Apply(const Scalar* args, DataType dtype, Scalar* result) const {
  if (unary) return ApplyScalar(*unary, args[0], result);
  if (binary) return ApplyScalar(*binary, args[0], args[1], result);
  return special(args, dtype, result);
}

const ScalarIntrinsic* FindScalarIntrinsic(const OpInfo& op) {
  static const std::vector<const ScalarIntrinsic*> table = RowsByOp(kIntrinsics);
  return table[op.id];
}

}  // namespace iropt
