#include "scalar_intrinsics.h"

#include <algorithm>
#include <bit>

#include "iropt/op/intrinsic_ids.h"
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

// Numbers of a sign are in the order of their bits.
Scalar NextOfTwoBytes(const Scalar* args, DataType dtype) {
  const double x = args[0].real, y = args[1].real;
  if (std::isnan(x) || std::isnan(y) || x == y) return Scalar::Float(std::isnan(x) ? x : y, dtype);
  uint16_t bits = std::signbit(y) ? 0x8001 : 1;  // next to zero
  if (x != 0) {
    StoreScalar(args[0], reinterpret_cast<std::byte*>(&bits));
    bits = static_cast<uint16_t>((x < y) == (x > 0) ? bits + 1 : bits - 1);
  }
  return LoadScalar(dtype, reinterpret_cast<const std::byte*>(&bits));
}

// The neighbour in the format of the operands, hence no use of a wider one.
bool NextAfter(const Scalar* args, DataType dtype, Scalar* result) {
  if (dtype == DataType::Float(64))
    return *result = Scalar::Float(std::nextafter(args[0].real, args[1].real), dtype), true;
  if (dtype == DataType::Float(16) || dtype == DataType::BFloat(16)) return *result = NextOfTwoBytes(args, dtype), true;
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

// x * y / 2^q, shifted to the left before and to the right after, with halves rounded up. The product has 64 bits.
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

// x, y, q and the shift, which is to the left if it is positive.
bool QMultiplyShift(const Scalar* args, DataType, Scalar* result) {
  const int64_t shift = args[3].integer;
  return IsInt32(args, 4) && MultiplyShifted(args[0], args[1], args[2].integer, std::max<int64_t>(shift, 0),
                                             std::max<int64_t>(-shift, 0), result);
}

// x, y, the shifts to the left and to the right, q, and flags for the first and the second shift.
bool QMultiplyShiftPerAxis(const Scalar* args, DataType, Scalar* result) {
  if (!IsInt32(args, 5) || !args[5].dtype.is_integer()) return false;
  const int64_t left = args[5].integer != 0 ? args[2].integer : 0;
  return MultiplyShifted(args[0], args[1], args[4].integer, left, args[3].integer, result);
}

// Reinterprets the bits as another type of the same width.
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

constexpr ScalarIntrinsic Unary(OpId id, const eval::UnaryOp& op) { return {id, 1, &op, nullptr, nullptr}; }
constexpr ScalarIntrinsic Binary(OpId id, const eval::BinaryOp& op) { return {id, 2, nullptr, &op, nullptr}; }
constexpr ScalarIntrinsic Special(OpId id, size_t arity, bool (*f)(const Scalar*, DataType, Scalar*)) {
  return {id, arity, nullptr, nullptr, f};
}

constexpr ScalarIntrinsic kIntrinsics[] = {
    Unary(op::kTirAcos, eval::kAcos),
    Unary(op::kTirAcosh, eval::kAcosh),
    Unary(op::kTirAsin, eval::kAsin),
    Unary(op::kTirAsinh, eval::kAsinh),
    Unary(op::kTirAtan, eval::kAtan),
    Binary(op::kTirAtan2, eval::kAtan2),
    Unary(op::kTirAtanh, eval::kAtanh),
    Binary(op::kTirBitwiseAnd, eval::kBitwiseAnd),
    Unary(op::kTirBitwiseNot, eval::kBitwiseNot),
    Binary(op::kTirBitwiseOr, eval::kBitwiseOr),
    Binary(op::kTirBitwiseXor, eval::kBitwiseXor),
    Unary(op::kTirCeil, eval::kCeil),
    Special(op::kTirClz, 1, CountLeadingZeros),
    Binary(op::kTirCopysign, eval::kCopysign),
    Unary(op::kTirCos, eval::kCos),
    Unary(op::kTirCosh, eval::kCosh),
    Unary(op::kTirErf, eval::kErf),
    Unary(op::kTirExp, eval::kExp),
    Unary(op::kTirExp10, eval::kExp10),
    Unary(op::kTirExp2, eval::kExp2),
    Unary(op::kTirFabs, eval::kAbs),
    Unary(op::kTirFloor, eval::kFloor),
    Special(op::kTirFma, 3, FusedMultiplyAdd),
    Binary(op::kTirFmod, eval::kFmod),
    Binary(op::kTirHypot, eval::kHypot),
    Special(op::kTirIsNan, 1, IsNan),
    Special(op::kTirLargeUintImm, 2, LargeUnsigned),
    Special(op::kTirLdexp, 2, LoadExponent),
    Unary(op::kTirLog, eval::kLog),
    Unary(op::kTirLog10, eval::kLog10),
    Unary(op::kTirLog1p, eval::kLog1p),
    Unary(op::kTirLog2, eval::kLog2),
    Unary(op::kTirNearbyint, eval::kNearbyint),
    Special(op::kTirNextafter, 2, NextAfter),
    Special(op::kTirPopcount, 1, CountOnes),
    Binary(op::kTirPow, eval::kPower),
    Special(op::kTirQMultiplyShift, 4, QMultiplyShift),
    Special(op::kTirQMultiplyShiftPerAxis, 7, QMultiplyShiftPerAxis),
    Special(op::kTirReinterpret, 1, Reinterpret),
    Unary(op::kTirRound, eval::kRound),
    Unary(op::kTirRsqrt, eval::kRsqrt),
    Binary(op::kTirShiftLeft, eval::kLeftShift),
    Binary(op::kTirShiftRight, eval::kRightShift),
    Unary(op::kTirSigmoid, eval::kSigmoid),
    Unary(op::kTirSin, eval::kSin),
    Unary(op::kTirSinh, eval::kSinh),
    Unary(op::kTirSqrt, eval::kSqrt),
    Unary(op::kTirTan, eval::kTan),
    Unary(op::kTirTanh, eval::kTanh),
    Unary(op::kTirTrunc, eval::kTrunc),
};

}  // namespace

bool ScalarIntrinsic::Apply(const Scalar* args, DataType dtype, Scalar* result) const {
  if (unary) return ApplyScalar(*unary, args[0], result);
  if (binary) return ApplyScalar(*binary, args[0], args[1], result);
  return special(args, dtype, result);
}

const ScalarIntrinsic* FindScalarIntrinsic(const OpInfo& op) {
  static constexpr auto kTable = RowsById(kIntrinsics);
  return RowOf(kTable, op);
}

}  // namespace iropt
