// Elementwise TIR intrinsics.
#include <fmt/format.h>

#include <array>

#include "arithmetic.h"
#include "float_functions.h"
#include "iropt/op/intrinsic_ids.h"

namespace iropt::codegen {

namespace {

enum class Group : uint8_t {
  kNone,
  kLlvm,     // an LLVM intrinsic for float and double, scalars and vectors
  kLibrary,  // a function of the C library for float and double
  kFormula,  // computed from other operations
};

struct Row {
  OpId id;
  uint8_t arity;
  Group group;
  llvm::Intrinsic::ID intrinsic = llvm::Intrinsic::not_intrinsic;
  const char* name = nullptr;
};

constexpr Row Llvm(OpId id, uint8_t arity, llvm::Intrinsic::ID intrinsic) {
  return {id, arity, Group::kLlvm, intrinsic, nullptr};
}
constexpr Row Library(OpId id, uint8_t arity, const char* name) {
  return {id, arity, Group::kLibrary, llvm::Intrinsic::not_intrinsic, name};
}
constexpr Row Formula(OpId id, uint8_t arity) {
  return {id, arity, Group::kFormula, llvm::Intrinsic::not_intrinsic, nullptr};
}

constexpr Row kRows[] = {
    Library(op::kTirAcos, 1, "acos"),
    Library(op::kTirAcosh, 1, "acosh"),
    Library(op::kTirAsin, 1, "asin"),
    Library(op::kTirAsinh, 1, "asinh"),
    Library(op::kTirAtan, 1, "atan"),
    Library(op::kTirAtan2, 2, "atan2"),
    Library(op::kTirAtanh, 1, "atanh"),
    Formula(op::kTirBitwiseAnd, 2),
    Formula(op::kTirBitwiseNot, 1),
    Formula(op::kTirBitwiseOr, 2),
    Formula(op::kTirBitwiseXor, 2),
    Llvm(op::kTirCeil, 1, llvm::Intrinsic::ceil),
    Formula(op::kTirClz, 1),
    Llvm(op::kTirCopysign, 2, llvm::Intrinsic::copysign),
    Llvm(op::kTirCos, 1, llvm::Intrinsic::cos),
    Library(op::kTirCosh, 1, "cosh"),
    Library(op::kTirErf, 1, "erf"),
    Llvm(op::kTirExp, 1, llvm::Intrinsic::exp),
    Library(op::kTirExp10, 1, "exp10"),
    Llvm(op::kTirExp2, 1, llvm::Intrinsic::exp2),
    Llvm(op::kTirFabs, 1, llvm::Intrinsic::fabs),
    Llvm(op::kTirFloor, 1, llvm::Intrinsic::floor),
    Llvm(op::kTirFma, 3, llvm::Intrinsic::fma),
    Formula(op::kTirFmod, 2),
    Library(op::kTirHypot, 2, "hypot"),
    Formula(op::kTirIsNan, 1),
    Formula(op::kTirLargeUintImm, 2),
    Formula(op::kTirLdexp, 2),
    Llvm(op::kTirLog, 1, llvm::Intrinsic::log),
    Llvm(op::kTirLog10, 1, llvm::Intrinsic::log10),
    Library(op::kTirLog1p, 1, "log1p"),
    Llvm(op::kTirLog2, 1, llvm::Intrinsic::log2),
    Llvm(op::kTirNearbyint, 1, llvm::Intrinsic::nearbyint),
    Library(op::kTirNextafter, 2, "nextafter"),
    Formula(op::kTirPopcount, 1),
    Formula(op::kTirPow, 2),
    Formula(op::kTirQMultiplyShift, 4),
    Formula(op::kTirQMultiplyShiftPerAxis, 7),
    Formula(op::kTirReinterpret, 1),
    Llvm(op::kTirRound, 1, llvm::Intrinsic::nearbyint),
    Formula(op::kTirRsqrt, 1),
    Formula(op::kTirShiftLeft, 2),
    Formula(op::kTirShiftRight, 2),
    Formula(op::kTirSigmoid, 1),
    Llvm(op::kTirSin, 1, llvm::Intrinsic::sin),
    Library(op::kTirSinh, 1, "sinh"),
    Llvm(op::kTirSqrt, 1, llvm::Intrinsic::sqrt),
    Library(op::kTirTan, 1, "tan"),
    Library(op::kTirTanh, 1, "tanh"),
    Llvm(op::kTirTrunc, 1, llvm::Intrinsic::trunc),
};

const Row* FindRow(OpId id) {
  static constexpr auto kTable = [] {
    std::array<const Row*, kNumIntrinsics> table{};
    for (const Row& row : kRows) table[IntrinsicRowOf(row.id)] = &row;
    return table;
  }();
  const size_t row = IntrinsicRowOf(id);
  return row < kNumIntrinsics ? kTable[row] : nullptr;
}

// Rounding an integer is the identity.
bool KeepsIntegers(OpId id) {
  return id == op::kTirCeil || id == op::kTirFloor || id == op::kTirNearbyint || id == op::kTirRound ||
         id == op::kTirTrunc;
}

}  // namespace

bool Arithmetic::IsIntrinsic(OpId id, size_t arity) {
  const Row* row = FindRow(id);
  return row && row->arity == arity;
}

llvm::Value* Arithmetic::Intrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                                   llvm::ArrayRef<DataType> arg_dtypes) {
  if (llvm::Value* value = AnyIntrinsic(id, dtype, args, arg_dtypes)) return value;
  const DataType operand = arg_dtypes[0];
  llvm::Value* value = operand.is_floating() ? FloatIntrinsic(id, operand, args) : IntIntrinsic(id, operand, args);
  if (value) return value;
  if (args[0]->getType()->isVectorTy()) return nullptr;
  return frame_.Unsupported(fmt::format("an intrinsic does not support dtype {}", operand.ToString()),
                            frame_.types().Register(dtype));
}

// Intrinsics for integer and float operands alike.
llvm::Value* Arithmetic::AnyIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                                      llvm::ArrayRef<DataType> arg_dtypes) {
  switch (id) {
    case op::kTirIsNan:
      return arg_dtypes[0].is_floating()
                 ? b().CreateFCmpUNO(args[0], args[0])
                 : llvm::Constant::getNullValue(ValueTypes::LanesLike(b().getInt1Ty(), args[0]->getType()));
    case op::kTirReinterpret: return Reinterpret(args[0], arg_dtypes[0], dtype);
    case op::kTirPow: return Power(arg_dtypes[0], args[0], args[1]);
    case op::kTirLargeUintImm: {
      llvm::Value* low = b().CreateZExtOrTrunc(b().CreateZExtOrTrunc(args[0], b().getInt32Ty()), b().getInt64Ty());
      llvm::Value* high = b().CreateZExtOrTrunc(args[1], b().getInt64Ty());
      return Cast(b().CreateOr(b().CreateShl(high, 32), low), DataType::UInt(64), dtype);
    }
    case op::kTirClz:
    case op::kTirPopcount: {
      if (!arg_dtypes[0].is_integer()) return nullptr;
      llvm::Value* count = id == op::kTirClz ? b().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, args[0], b().getFalse())
                                             : b().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, args[0]);
      return Cast(count, DataType::UInt(arg_dtypes[0].bits), dtype);
    }
    default: return nullptr;
  }
}

// The functions that are computed by vectors. Null for other ones, and for other types than float32.
llvm::Value* Arithmetic::FloatFunction(OpId id, llvm::Value* x) {
  if (!x->getType()->getScalarType()->isFloatTy()) return nullptr;
  switch (id) {
    case op::kTirErf: return EmitErf(b(), x);
    case op::kTirExp: return EmitExp(b(), x);
    case op::kTirExp2: return EmitExp2(b(), x);
    case op::kTirTanh: return EmitTanh(b(), x);
    default: return nullptr;
  }
}

llvm::Value* Arithmetic::FloatIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args) {
  const Row& row = *FindRow(id);
  llvm::Type* type = args[0]->getType();
  const auto one = [&] { return llvm::ConstantFP::get(type, 1.0); };
  llvm::Value* value = FloatFunction(id, args[0]);
  if (value) return dtype.bits >= 32 ? value : frame_.types().RoundTo(value, dtype);
  if (row.group == Group::kLlvm) {
    value = b().CreateIntrinsic(row.intrinsic, {type}, args);
  } else if (row.group == Group::kLibrary) {
    if (type->isVectorTy()) return nullptr;
    if (id == op::kTirNextafter && dtype.bits < 32) return NextOfTwoBytes(dtype, args[0], args[1]);
    value = CallMath(row.name, args);
  } else if (id == op::kTirRsqrt) {
    value = b().CreateFDiv(one(), b().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]));
  } else if (id == op::kTirSigmoid) {
    llvm::Value* negative = b().CreateFNeg(args[0]);
    llvm::Value* power = FloatFunction(op::kTirExp, negative);
    if (!power) power = b().CreateUnaryIntrinsic(llvm::Intrinsic::exp, negative);
    value = b().CreateFDiv(one(), b().CreateFAdd(one(), power));
  } else if (id == op::kTirFmod) {
    value = b().CreateFRem(args[0], args[1]);
  } else if (id == op::kTirLdexp && !type->isVectorTy() && args[1]->getType()->isIntegerTy()) {
    // Larger exponents give zero or infinity for every number.
    llvm::Value* exponent =
        b().CreateBinaryIntrinsic(llvm::Intrinsic::smin, frame_.ToInt64(args[1]), frame_.Int64(10000));
    exponent = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, exponent, frame_.Int64(-10000));
    value = CallMath("ldexp", {args[0], b().CreateTrunc(exponent, b().getInt32Ty())});
  } else {
    return nullptr;
  }
  return dtype.bits >= 32 ? value : frame_.types().RoundTo(value, dtype);
}

// The next value of a narrow format, which differs from the next float. Numbers of a sign are in the order of their
// bits. Null for formats of one byte.
llvm::Value* Arithmetic::NextOfTwoBytes(DataType dtype, llvm::Value* x, llvm::Value* y) {
  if (dtype.bits != 16) return nullptr;
  const DataType bits_type = DataType::UInt(16);
  llvm::Value* zero = llvm::ConstantFP::get(x->getType(), 0.0);
  llvm::Value* bits = Reinterpret(x, dtype, bits_type);
  llvm::Value* grows = b().CreateICmpEQ(b().CreateFCmpOLT(x, y), b().CreateFCmpOGT(x, zero));
  llvm::Value* step = b().CreateSelect(grows, llvm::ConstantInt::get(bits->getType(), 1),
                                       llvm::Constant::getAllOnesValue(bits->getType()));
  llvm::Value* sign = b().CreateAnd(Reinterpret(y, dtype, bits_type), llvm::ConstantInt::get(bits->getType(), 0x8000));
  llvm::Value* after_zero = b().CreateOr(sign, llvm::ConstantInt::get(bits->getType(), 1));
  llvm::Value* next = b().CreateSelect(b().CreateFCmpOEQ(x, zero), after_zero, b().CreateAdd(bits, step));
  llvm::Value* value = Reinterpret(next, bits_type, dtype);
  value = b().CreateSelect(b().CreateFCmpOEQ(x, y), y, value);
  return b().CreateSelect(b().CreateFCmpUNO(x, y), b().CreateFAdd(x, y), value);
}

llvm::Value* Arithmetic::IntIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args) {
  if (KeepsIntegers(id)) return args[0];
  llvm::Value* zero = llvm::Constant::getNullValue(args[0]->getType());
  switch (id) {
    case op::kTirBitwiseAnd: return b().CreateAnd(args[0], args[1]);
    case op::kTirBitwiseOr: return b().CreateOr(args[0], args[1]);
    case op::kTirBitwiseXor: return b().CreateXor(args[0], args[1]);
    case op::kTirBitwiseNot: return b().CreateNot(args[0]);
    case op::kTirFabs:
      return dtype.is_int() ? b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], b().getFalse()) : args[0];
    case op::kTirShiftLeft:
    case op::kTirShiftRight: return Shift(id, dtype, args[0], args[1]);
    case op::kTirQMultiplyShift: {
      // Operands: x, y, q, and the shift, which is to the left if positive.
      llvm::Value* left = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, args[3], zero);
      llvm::Value* right = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, b().CreateNeg(args[3]), zero);
      return MultiplyShift(args[0], args[1], args[2], left, right);
    }
    case op::kTirQMultiplyShiftPerAxis: {
      // Operands: x, y, left shift, right shift, q, and whether to apply the left shift.
      llvm::Value* wanted = b().CreateICmpNE(args[5], llvm::Constant::getNullValue(args[5]->getType()));
      return MultiplyShift(args[0], args[1], args[4], b().CreateSelect(wanted, args[2], zero), args[3]);
    }
    default: return nullptr;
  }
}

// Shifts by a negative number, or by the width of the dtype or more, are undefined.
llvm::Value* Arithmetic::Shift(OpId id, DataType dtype, llvm::Value* a, llvm::Value* by) {
  llvm::Value* bits = Constant(by, dtype.bits);
  FailIfAny(b().CreateICmpUGE(by, bits), "an integer is shifted by more bits than it has");
  if (id == op::kTirShiftLeft) return b().CreateShl(a, by);
  return dtype.is_int() ? b().CreateAShr(a, by) : b().CreateLShr(a, by);
}

llvm::Value* Arithmetic::Power(DataType dtype, llvm::Value* base, llvm::Value* exponent) {
  if (dtype.is_floating()) {
    llvm::Value* value = b().CreateBinaryIntrinsic(llvm::Intrinsic::pow, base, exponent);
    return dtype.bits >= 32 ? value : frame_.types().RoundTo(value, dtype);
  }
  if (base->getType()->isVectorTy()) return nullptr;
  if (dtype.is_int())
    FailIfAny(b().CreateICmpSLT(exponent, Constant(exponent, 0)), "an integer is raised to a negative power");
  llvm::Value* wide =
      frame_.CallRuntime("iropt_power", b().getInt64Ty(),
                         {frame_.ToInt64(base, dtype.is_int()), frame_.ToInt64(exponent, dtype.is_int())});
  llvm::cast<llvm::CallInst>(wide)->setDoesNotAccessMemory();
  return b().CreateTrunc(wide, base->getType());
}

llvm::Value* Arithmetic::MultiplyShift(llvm::Value* x, llvm::Value* y, llvm::Value* q, llvm::Value* left,
                                       llvm::Value* right) {
  x = frame_.ToInt64(x);
  llvm::Value* total = frame_.ToInt64(b().CreateAdd(q, right));
  left = frame_.ToInt64(left);
  llvm::Value* bad = b().CreateOr(b().CreateICmpUGT(left, Constant(left, 63)),
                                  b().CreateICmpUGT(b().CreateSub(total, Constant(total, 1)), Constant(total, 62)));
  FailIfAny(bad, "a fixed-point product is shifted by more bits than it has");
  llvm::Value* half = b().CreateShl(Constant(total, 1), b().CreateSub(total, Constant(total, 1)));
  llvm::Value* product = b().CreateMul(b().CreateShl(x, left), frame_.ToInt64(y));
  return b().CreateTrunc(b().CreateAShr(b().CreateAdd(product, half), total), y->getType());
}

// Math functions of the C library such as expf. They are declared without side effects, because nothing reads errno.
llvm::Value* Arithmetic::CallMath(const char* name, llvm::ArrayRef<llvm::Value*> args) {
  llvm::Type* type = args[0]->getType();
  llvm::SmallVector<llvm::Type*, 2> types;
  for (llvm::Value* arg : args) types.push_back(arg->getType());
  const std::string symbol = fmt::format("{}{}", name, type->isFloatTy() ? "f" : "");
  llvm::FunctionCallee callee =
      frame_.state().module.getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  return b().CreateCall(callee, args);
}

}  // namespace iropt::codegen
