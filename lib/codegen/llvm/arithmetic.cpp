#include "arithmetic.h"

#include <fmt/format.h>

namespace iropt::codegen {

namespace {

// Returns whether a value is a constant, the same one in all lanes, and not NaN.
bool IsNumber(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->getValueAPF().isNaN();
}

}  // namespace

llvm::Constant* Arithmetic::Constant(llvm::Value* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

llvm::Value* Arithmetic::AnyLane(llvm::Value* condition) {
  return condition->getType()->isVectorTy() ? b().CreateOrReduce(condition) : condition;
}

void Arithmetic::FailIfAny(llvm::Value* condition, std::string_view what) {
  if (frame_.state().checks) frame_.FailIf(AnyLane(condition), what);
}

// ---- Arithmetic

llvm::Value* Arithmetic::Binary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b2, OperandFacts facts) {
  if (dtype.is_floating()) return FloatBinary(kind, dtype, a, b2, facts.in_any_order);
  const bool is_signed = dtype.is_int();
  const bool nsw = facts.fits && is_signed;
  const bool nuw = facts.fits && (!is_signed || facts.nonnegative);
  switch (kind) {
    case NodeKind::kAdd: return b().CreateAdd(a, b2, "", nuw, nsw);
    case NodeKind::kSub: return b().CreateSub(a, b2, "", false, nsw);
    case NodeKind::kMul: return b().CreateMul(a, b2, "", nuw, nsw);
    case NodeKind::kMin:
      return b().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b2);
    case NodeKind::kMax:
      return b().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b2);
    default: return Division(kind, dtype, a, b2, facts);
  }
}

llvm::Value* Arithmetic::FloatBinary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* c, bool in_any_order) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(b());
  llvm::FastMathFlags flags;
  flags.setAllowContract(dtype.bits >= 32);
  in_any_order = in_any_order && dtype.bits >= 32;
  flags.setAllowReassoc(in_any_order && kind == NodeKind::kAdd);
  flags.setNoSignedZeros(in_any_order && kind != NodeKind::kAdd);
  b().setFastMathFlags(flags);
  llvm::Value* value = nullptr;
  switch (kind) {
    case NodeKind::kAdd: value = b().CreateFAdd(a, c); break;
    case NodeKind::kSub: value = b().CreateFSub(a, c); break;
    case NodeKind::kMul: value = b().CreateFMul(a, c); break;
    case NodeKind::kDiv: value = b().CreateFDiv(a, c); break;
    case NodeKind::kMod: value = b().CreateFRem(a, c); break;
    case NodeKind::kFloorDiv: return FloorDivide(dtype, a, c);
    case NodeKind::kFloorMod: value = FloorModFloat(a, c); break;
    default: return FloatExtremum(kind, a, c, in_any_order);
  }
  return dtype.bits >= 32 ? value : frame_.types().RoundTo(value, dtype);
}

// NaN if an operand is NaN; the second operand of equal ones, but zeros of any sign in any order or of a constant.
llvm::Value* Arithmetic::FloatExtremum(NodeKind kind, llvm::Value* a, llvm::Value* c, bool in_any_order) {
  const bool is_max = kind == NodeKind::kMax;
  if (in_any_order) {
    return b().CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, c);
  }
  const auto chosen = [&](llvm::CmpInst::Predicate predicate, llvm::Value* x, llvm::Value* y) {
    return b().CreateSelect(b().CreateFCmp(predicate, x, y), x, y);
  };
  // Processors have an instruction for the choice by a strict comparison: the second operand unless the first one is
  // greater. It loses a NaN in the first operand, which a constant is not.
  const auto strict = is_max ? llvm::CmpInst::FCMP_OGT : llvm::CmpInst::FCMP_OLT;
  if (IsNumber(a)) return chosen(strict, a, c);
  if (IsNumber(c)) return chosen(strict, c, a);
  return b().CreateSelect(b().CreateFCmpUNO(a, a), a, chosen(strict, a, c));
}

// The quotient is computed in double, so that one just below an integer is not rounded up before floor.
llvm::Value* Arithmetic::FloorDivide(DataType dtype, llvm::Value* a, llvm::Value* c) {
  llvm::Type* wide = ValueTypes::LanesLike(b().getDoubleTy(), a->getType());
  llvm::Value* quotient = b().CreateFDiv(b().CreateFPCast(a, wide), b().CreateFPCast(c, wide));
  return frame_.types().RoundTo(b().CreateUnaryIntrinsic(llvm::Intrinsic::floor, quotient), dtype);
}

// The remainder has the sign of the divisor.
llvm::Value* Arithmetic::FloorModFloat(llvm::Value* a, llvm::Value* c) {
  llvm::Value* rest = b().CreateFRem(a, c);
  llvm::Constant* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* differ = b().CreateXor(b().CreateFCmpOLT(rest, zero), b().CreateFCmpOLT(c, zero));
  llvm::Value* wrong = b().CreateAnd(b().CreateFCmpUNE(rest, zero), differ);
  return b().CreateSelect(wrong, b().CreateFAdd(rest, c), rest);
}

// Division by zero fails. The least integer divided by -1 wraps around to itself.
llvm::Value* Arithmetic::Division(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* c, OperandFacts facts) {
  llvm::Constant* zero = llvm::Constant::getNullValue(c->getType());
  if (!llvm::isa<llvm::Constant>(c) || llvm::cast<llvm::Constant>(c)->isNullValue())
    FailIfAny(b().CreateICmpEQ(c, zero), "the divisor of an integer is zero");
  const bool quotient = kind == NodeKind::kDiv || kind == NodeKind::kFloorDiv;
  if (dtype.is_uint() || facts.nonnegative) return quotient ? b().CreateUDiv(a, c) : b().CreateURem(a, c);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(c);
  if (!constant || constant->isMinusOne()) {
    const auto bits = a->getType()->getScalarSizeInBits();
    llvm::Value* least = llvm::ConstantInt::get(a->getType(), llvm::APInt::getSignedMinValue(bits));
    llvm::Value* overflows = b().CreateAnd(b().CreateICmpEQ(a, least), b().CreateICmpEQ(c, Constant(c, -1)));
    c = b().CreateSelect(overflows, Constant(c, 1), c);
  }
  if (kind == NodeKind::kFloorDiv || kind == NodeKind::kFloorMod) return RoundDown(kind, a, c);
  return quotient ? b().CreateSDiv(a, c) : b().CreateSRem(a, c);
}

llvm::Value* Arithmetic::RoundDown(NodeKind kind, llvm::Value* a, llvm::Value* c) {
  llvm::Constant* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* rest = b().CreateSRem(a, c);
  llvm::Value* differ = b().CreateICmpSLT(b().CreateXor(rest, c), zero);
  llvm::Value* wrong = b().CreateAnd(b().CreateICmpNE(rest, zero), differ);
  if (kind == NodeKind::kFloorMod) return b().CreateSelect(wrong, b().CreateAdd(rest, c), rest);
  llvm::Value* quotient = b().CreateSDiv(a, c);
  return b().CreateSelect(wrong, b().CreateSub(quotient, Constant(quotient, 1)), quotient);
}

llvm::Value* Arithmetic::Compare(NodeKind kind, DataType a_dtype, llvm::Value* a, DataType b_dtype, llvm::Value* c) {
  if (a_dtype.is_handle() != b_dtype.is_handle() || a->getType() != c->getType() ||
      a_dtype.is_floating() != b_dtype.is_floating()) {
    const DataType wide = DataType::Float(64);
    if (a_dtype.is_floating() || b_dtype.is_floating()) {
      a = Cast(a, a_dtype, wide);
      c = Cast(c, b_dtype, wide);
      a_dtype = wide;
    } else if (a_dtype.is_handle() || b_dtype.is_handle()) {
      a = a_dtype.is_handle() ? b().CreatePtrToInt(a, b().getInt64Ty()) : Cast(a, a_dtype, DataType::Int(64));
      c = b_dtype.is_handle() ? b().CreatePtrToInt(c, b().getInt64Ty()) : Cast(c, b_dtype, DataType::Int(64));
      a_dtype = DataType::UInt(64);
    } else {
      a = Cast(a, a_dtype, DataType::Int(64));
      c = Cast(c, b_dtype, DataType::Int(64));
    }
  }
  using Predicate = llvm::CmpInst::Predicate;
  const auto pick = [&](Predicate real, Predicate sint, Predicate uint) {
    if (a_dtype.is_floating()) return b().CreateFCmp(real, a, c);
    return b().CreateICmp(a_dtype.is_int() ? sint : uint, a, c);
  };
  switch (kind) {
    case NodeKind::kEQ: return pick(Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ);
    case NodeKind::kNE: return pick(Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE);
    case NodeKind::kLT: return pick(Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT);
    case NodeKind::kLE: return pick(Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE);
    case NodeKind::kGT: return pick(Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT);
    default: return pick(Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE);
  }
}

// ---- Conversions

llvm::Value* Arithmetic::Cast(llvm::Value* value, DataType from, DataType to) {
  if (from.with_lanes(1) == to.with_lanes(1)) return value;
  if (from.is_handle() || to.is_handle())
    return frame_.Unsupported("cannot convert a pointer to a number", frame_.types().Register(to));
  llvm::Type* type = ValueTypes::LanesLike(frame_.types().Register(to.with_lanes(1)), value->getType());
  if (to.is_bool()) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_floating() ? b().CreateFCmpUNE(value, zero) : b().CreateICmpNE(value, zero);
  }
  if (to.is_floating()) {
    if (!from.is_floating()) return IntToFloat(value, from, to);
    // Every value of the narrower format is representable in the wider one.
    const bool exact = from.bits <= 16 && to.bits >= 32;
    return exact ? b().CreateFPCast(value, type) : frame_.types().RoundTo(value, to);
  }
  // An out-of-range value gives poison; freeze makes it an unspecified, but fixed number.
  if (from.is_floating())
    return b().CreateFreeze(to.is_int() ? b().CreateFPToSI(value, type) : b().CreateFPToUI(value, type));
  return from.is_int() ? b().CreateSExtOrTrunc(value, type) : b().CreateZExtOrTrunc(value, type);
}

llvm::Value* Arithmetic::IntToFloat(llvm::Value* value, DataType from, DataType to) {
  llvm::Type* type = ValueTypes::LanesLike(frame_.types().Register(to.with_lanes(1)), value->getType());
  const auto convert = [&](llvm::Type* real) {
    return from.is_int() ? b().CreateSIToFP(value, real) : b().CreateUIToFP(value, real);
  };
  if (to.bits >= 32) return convert(type);
  if (from.bits > 53) {
    // An integer that double cannot represent is replaced by one that rounds to the same narrow float: the discarded
    // bits are combined into the last remaining bit (a sticky bit).
    llvm::Value* cut = b().CreateAnd(value, Constant(value, 0x7ff));
    llvm::Value* gathered =
        b().CreateSelect(b().CreateICmpEQ(cut, Constant(value, 0)), Constant(value, 0), Constant(value, 0x800));
    llvm::Value* magnitude =
        from.is_int() ? b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b().getFalse()) : value;
    llvm::Value* large = b().CreateICmpUGE(magnitude, Constant(value, int64_t{1} << 53));
    value =
        b().CreateSelect(large, b().CreateOr(b().CreateAnd(value, Constant(value, ~int64_t{0x7ff})), gathered), value);
  }
  return frame_.types().RoundTo(convert(ValueTypes::LanesLike(b().getDoubleTy(), value->getType())), to);
}

llvm::Value* Arithmetic::Reinterpret(llvm::Value* value, DataType from, DataType to) {
  if (from.is_handle() || to.is_handle()) return nullptr;  // see ExprEmitter
  llvm::Value* stored = frame_.types().ToMemory(value, from);
  llvm::Type* type = ValueTypes::LanesLike(frame_.types().Memory(to.with_lanes(1)), value->getType());
  if (stored->getType()->getScalarSizeInBits() != type->getScalarSizeInBits())
    return frame_.Unsupported("cannot reinterpret a value as a dtype of another width", frame_.types().Register(to));
  return frame_.types().FromMemory(b().CreateBitCast(stored, type), to);
}

}  // namespace iropt::codegen
