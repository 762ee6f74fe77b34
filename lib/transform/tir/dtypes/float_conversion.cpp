#include "transform/tir/dtypes/float_conversion.h"

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/check.h"

namespace iropt {

namespace {

using arith::BitOp;

// The fields of a format, below the sign.
struct FloatFormat {
  int exponent;  // bits
  int mantissa;  // bits
  int bias() const { return (1 << (exponent - 1)) - 1; }

  static FloatFormat Of(DataType dtype) {
    switch (dtype.code) {
      case TypeCode::kBFloat: return {8, 7};
      case TypeCode::kFloat8E4M3:
      case TypeCode::kFloat8E4M3Ieee:
      case TypeCode::kFloat8E4M3B11Fnuz:
      case TypeCode::kFloat8E4M3Fnuz: return {4, 3};
      case TypeCode::kFloat8E5M2:
      case TypeCode::kFloat8E5M2Fnuz: return {5, 2};
      case TypeCode::kFloat8E3M4: return {3, 4};
      case TypeCode::kFloat8E8M0: return {8, 0};
      default: break;
    }
    IROPT_CHECK(dtype.code == TypeCode::kFloat, "a conversion of '{}'", dtype.ToString());
    return dtype.bits == 16 ? FloatFormat{5, 10} : dtype.bits == 32 ? FloatFormat{8, 23} : FloatFormat{11, 52};
  }
};

// Builds one conversion. All integers are unsigned.
class BitConversion {
 public:
  BitConversion(DataType from, DataType to, const arith::PrimBuilder& make)
      : make_(make), from_(FloatFormat::Of(from)), to_(FloatFormat::Of(to)), to_bits_(BitsDType(to)) {}

  const PrimExpr* Convert(const PrimExpr* bits) const {
    if (dropped() > 0) bits = Round(bits);
    return from_.exponent == to_.exponent ? Move(bits) : Recompose(bits);
  }

 private:
  // The number of bits that the mantissa loses.
  int dropped() const { return from_.mantissa - to_.mantissa; }

  const PrimExpr* Shift(BitOp op, const PrimExpr* value, int bits) const {
    return make_.Bitwise(op, value, make_.Const(bits, value->dtype));
  }
  const PrimExpr* And(const PrimExpr* value, int64_t mask) const {
    return make_.Bitwise(BitOp::kAnd, value, make_.Const(mask, value->dtype));
  }

  // Adds what carries into the bits that stay if the value has to be rounded up.
  const PrimExpr* Round(const PrimExpr* bits) const {
    const PrimExpr* odd = And(Shift(BitOp::kShiftRight, bits, dropped()), 1);
    const PrimExpr* half = make_.Const((int64_t{1} << (dropped() - 1)) - 1, bits->dtype);
    return make_.Add(bits, make_.Add(odd, half));
  }

  // The bits where the new format has them.
  const PrimExpr* Move(const PrimExpr* bits) const {
    return dropped() > 0 ? make_.Cast(to_bits_, Shift(BitOp::kShiftRight, bits, dropped()))
                         : Shift(BitOp::kShiftLeft, make_.Cast(to_bits_, bits), -dropped());
  }

  const PrimExpr* Recompose(const PrimExpr* bits) const {
    const int bias = to_.bias() - from_.bias();
    const PrimExpr* mantissa = And(Move(bits), (int64_t{1} << to_.mantissa) - 1);
    const PrimExpr* exponent = Shift(BitOp::kShiftRight, Shift(BitOp::kShiftLeft, bits, 1), from_.mantissa + 1);
    const PrimExpr* sign = make_.Cast(to_bits_, Shift(BitOp::kShiftRight, bits, from_.mantissa + from_.exponent));
    sign = Shift(BitOp::kShiftLeft, sign, to_.mantissa + to_.exponent);
    const PrimExpr* delta = make_.Const(bias < 0 ? -bias : bias, exponent->dtype);
    const PrimExpr* shifted = bias < 0 ? make_.Sub(exponent, delta) : make_.Add(exponent, delta);
    shifted = Shift(BitOp::kShiftLeft, make_.Cast(to_bits_, shifted), to_.mantissa);
    const PrimExpr* all = make_.Bitwise(BitOp::kOr, make_.Bitwise(BitOp::kOr, mantissa, shifted), sign);
    return bias < 0 ? ZeroIf(make_.Binary(NodeKind::kLT, exponent, delta), all) : all;
  }

  // A value that is too small for the new format is zero.
  const PrimExpr* ZeroIf(const PrimExpr* condition, const PrimExpr* bits) const {
    const PrimExpr* zero = make_.Const(0, to_bits_);
    if (!to_bits_.is_scalar()) return make_.Select(condition, zero, bits);
    const PrimExpr* args[] = {condition, zero, bits};
    return make_.Keep(tir::Call(to_bits_, GetOp(op::kTirIfThenElse), make_.Operands(args)));
  }

  const arith::PrimBuilder& make_;
  const FloatFormat from_;
  const FloatFormat to_;
  const DataType to_bits_;
};

}  // namespace

const PrimExpr* Reinterpret(DataType dtype, const PrimExpr* value, const arith::PrimBuilder& make) {
  if (value->dtype == dtype) return value;
  const PrimExpr* args[] = {value};
  return make.Keep(tir::Call(dtype, GetOp(op::kTirReinterpret), make.Operands(args)));
}

const PrimExpr* ConvertFloatBits(const PrimExpr* bits, DataType from, DataType to, const arith::PrimBuilder& make) {
  return Reinterpret(to, BitConversion(from, to, make).Convert(bits), make);
}

}  // namespace iropt
