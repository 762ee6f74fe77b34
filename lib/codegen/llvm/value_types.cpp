#include "value_types.h"

#include "iropt/ir/narrow_element.h"

namespace iropt::codegen {

bool ValueTypes::IsSupported(DataType dtype) {
  if (dtype.lanes < 1) return false;
  if (dtype.is_handle()) return dtype.lanes == 1;
  return dtype.is_integer() ? dtype.bits >= 1 && dtype.bits <= 64 : IsElementType(dtype.with_lanes(1));
}

bool ValueTypes::IsElement(DataType dtype) { return dtype.lanes >= 1 && IsElementType(dtype.with_lanes(1)); }

bool ValueTypes::IsStored(DataType dtype) { return dtype.lanes >= 1 && IsStoredType(dtype.with_lanes(1)); }

llvm::Type* ValueTypes::LanesLike(llvm::Type* scalar, llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

llvm::Type* ValueTypes::Register(DataType dtype) {
  llvm::Type* scalar = nullptr;
  if (dtype.is_handle()) {
    scalar = b_.getPtrTy();
  } else if (dtype.is_integer()) {
    scalar = b_.getIntNTy(dtype.bits);
  } else if (IsCode(dtype)) {
    scalar = b_.getInt8Ty();  // the code of a number that is only moved
  } else {
    scalar = dtype.bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
  }
  return dtype.lanes > 1 ? llvm::FixedVectorType::get(scalar, static_cast<unsigned>(dtype.lanes)) : scalar;
}

bool ValueTypes::IsByte(DataType dtype) { return dtype.is_integer() && dtype.bits < 8 && IsStored(dtype); }

bool ValueTypes::IsCode(DataType dtype) { return dtype.is_floating() && IsStored(dtype) && !IsElement(dtype); }

llvm::Type* ValueTypes::Memory(DataType dtype) {
  llvm::Type* scalar = nullptr;
  if (IsByte(dtype)) {
    scalar = b_.getInt8Ty();
  } else if (dtype.is_floating() && dtype.bits < 32 && !IsCode(dtype)) {
    scalar = UsesHalf(dtype) ? b_.getHalfTy() : b_.getIntNTy(dtype.bits);
  } else {
    return Register(dtype);
  }
  return dtype.lanes > 1 ? llvm::FixedVectorType::get(scalar, static_cast<unsigned>(dtype.lanes)) : scalar;
}

llvm::Value* ValueTypes::FromMemory(llvm::Value* stored, DataType dtype) {
  if (dtype.is_bool()) return b_.CreateICmpNE(stored, llvm::Constant::getNullValue(stored->getType()));
  if (IsByte(dtype)) return b_.CreateTrunc(stored, LanesLike(b_.getIntNTy(dtype.bits), stored->getType()));
  if (!dtype.is_floating() || dtype.bits >= 32 || IsCode(dtype)) return stored;
  if (UsesHalf(dtype)) return b_.CreateFPExt(stored, LanesLike(b_.getFloatTy(), stored->getType()));
  return Decode(stored, FormatOf(dtype));
}

llvm::Value* ValueTypes::ToMemory(llvm::Value* value, DataType dtype) {
  llvm::Type* type = LanesLike(Memory(dtype.with_lanes(1)), value->getType());
  if (IsByte(dtype)) return b_.CreateIntCast(value, type, dtype.is_int());
  if (!dtype.is_floating() || dtype.bits >= 32 || IsCode(dtype)) return value;
  return UsesHalf(dtype) ? b_.CreateFPTrunc(value, type) : Encode(value, FormatOf(dtype), type);
}

llvm::Value* ValueTypes::RoundTo(llvm::Value* value, DataType dtype) {
  llvm::Type* real = LanesLike(Register(dtype.with_lanes(1)), value->getType());
  if (dtype.bits >= 32) return b_.CreateFPCast(value, real);
  if (value->getType()->getScalarType()->isDoubleTy()) value = RoundToOdd(value);
  return FromMemory(ToMemory(value, dtype), dtype);
}

// Converts double to float with rounding to odd: inexact results have the lowest bit set, so that a second rounding to
// fewer bits gives the correctly rounded result. Source: Boldo and Melquiond, "When double rounding is odd".
llvm::Value* ValueTypes::RoundToOdd(llvm::Value* wide) {
  llvm::Type* narrow_type = LanesLike(b_.getFloatTy(), wide->getType());
  llvm::Type* word = LanesLike(b_.getInt32Ty(), wide->getType());
  const auto constant = [&](uint64_t v) { return llvm::ConstantInt::get(word, v); };
  llvm::Value* narrow = b_.CreateFPTrunc(wide, narrow_type);
  llvm::Value* back = b_.CreateFPExt(narrow, wide->getType());
  llvm::Value* bits = b_.CreateBitCast(narrow, word);
  // If the nearest float is even, the odd neighbour on the other side of the value is the result.
  llvm::Value* inexact = b_.CreateFCmpONE(back, wide);
  llvm::Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, constant(1)), constant(0));
  llvm::Value* too_large = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                            b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide));
  llvm::Value* other = b_.CreateSelect(too_large, b_.CreateSub(bits, constant(1)), b_.CreateAdd(bits, constant(1)));
  bits = b_.CreateSelect(b_.CreateAnd(inexact, even), other, bits);
  return b_.CreateBitCast(bits, narrow_type);
}

ValueTypes::Format ValueTypes::FormatOf(DataType dtype) {
  switch (dtype.code) {
    case TypeCode::kBFloat: return {8, 7, false};
    case TypeCode::kFloat8E4M3: return {4, 3, true};
    case TypeCode::kFloat8E5M2: return {5, 2, false};
    default: return {5, 10, false};
  }
}

uint32_t ValueTypes::Format::nan() const {
  const uint32_t top = ((1u << exponent) - 1) << mantissa;
  return top | (nan_only ? (1u << mantissa) - 1 : 1u << (mantissa - 1));
}

uint32_t ValueTypes::Format::first_special() const { return nan_only ? nan() : ((1u << exponent) - 1) << mantissa; }

// Rounds to nearest, ties to even, as NarrowFloat does (iropt/ir/narrow_float.h), without branches.
llvm::Value* ValueTypes::Encode(llvm::Value* value, Format format, llvm::Type* code_type) {
  llvm::Type* word = LanesLike(b_.getInt32Ty(), value->getType());
  const auto constant = [&](uint32_t v) { return llvm::ConstantInt::get(word, v); };
  const auto shift = static_cast<uint32_t>(23 - format.mantissa);
  const auto rebias = static_cast<uint32_t>(127 - format.bias());
  llvm::Value* bits = b_.CreateBitCast(value, word);
  llvm::Value* sign =
      b_.CreateShl(b_.CreateLShr(bits, 31), constant(static_cast<uint32_t>(format.exponent + format.mantissa)));
  llvm::Value* magnitude = b_.CreateAnd(bits, constant(0x7fffffff));
  // Normal numbers: the discarded bits and the last remaining bit determine the carry.
  llvm::Value* last = b_.CreateAnd(b_.CreateLShr(magnitude, shift), constant(1));
  llvm::Value* carry = b_.CreateAdd(last, constant((1u << (shift - 1)) - 1));
  llvm::Value* normal = b_.CreateLShr(b_.CreateAdd(b_.CreateSub(magnitude, constant(rebias << 23)), carry), shift);
  llvm::Value* code = normal;
  if (rebias != 0) {
    // Subnormal numbers: adding a power of two whose unit in the last place is that of the format makes the CPU round.
    const uint32_t magic = (127 + 1 - static_cast<uint32_t>(format.bias()) + shift) << 23;
    llvm::Value* shifted = b_.CreateFAdd(b_.CreateBitCast(magnitude, value->getType()),
                                         b_.CreateBitCast(constant(magic), value->getType()));
    llvm::Value* subnormal = b_.CreateSub(b_.CreateBitCast(shifted, word), constant(magic));
    code = b_.CreateSelect(b_.CreateICmpULT(magnitude, constant((rebias + 1) << 23)), subnormal, normal);
  }
  code = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, code, constant(format.first_special()));
  code = b_.CreateSelect(b_.CreateICmpUGT(magnitude, constant(0x7f800000)), constant(format.nan()), code);
  return b_.CreateTrunc(b_.CreateOr(sign, code), code_type);
}

llvm::Value* ValueTypes::Decode(llvm::Value* code, Format format) {
  llvm::Type* word = LanesLike(b_.getInt32Ty(), code->getType());
  llvm::Type* real = LanesLike(b_.getFloatTy(), code->getType());
  const auto constant = [&](uint32_t v) { return llvm::ConstantInt::get(word, v); };
  const auto sign_bit = static_cast<uint32_t>(format.exponent + format.mantissa);
  llvm::Value* wide = b_.CreateZExt(code, word);
  llvm::Value* sign = b_.CreateShl(b_.CreateLShr(wide, sign_bit), 31);
  llvm::Value* magnitude = b_.CreateAnd(wide, constant((1u << sign_bit) - 1));
  llvm::Value* bits = b_.CreateShl(magnitude, static_cast<uint64_t>(23 - format.mantissa));
  if (format.bias() == 127) return b_.CreateBitCast(b_.CreateOr(bits, sign), real);  // the upper half of a float
  // The exponent is corrected by a multiplication, which is exact for subnormal numbers, too.
  const auto scale = static_cast<uint32_t>(127 + 127 - format.bias()) << 23;
  bits = b_.CreateBitCast(b_.CreateFMul(b_.CreateBitCast(bits, real), b_.CreateBitCast(constant(scale), real)), word);
  if (!format.nan_only) {
    llvm::Value* infinite = b_.CreateICmpEQ(magnitude, constant(format.first_special()));
    bits = b_.CreateSelect(infinite, constant(0x7f800000), bits);
  }
  const uint32_t last_number = format.nan_only ? format.nan() - 1 : format.first_special();
  bits = b_.CreateSelect(b_.CreateICmpUGT(magnitude, constant(last_number)), constant(0x7fc00000), bits);
  return b_.CreateBitCast(b_.CreateOr(bits, sign), real);
}

}  // namespace iropt::codegen
