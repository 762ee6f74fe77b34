// Elementwise TIR intrinsics.
#include <fmt/format.h>

#include <array>

#include "arithmetic.h"

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
    Library(OpId::kTirAcos, 1, "acos"),
    Library(OpId::kTirAcosh, 1, "acosh"),
    Library(OpId::kTirAsin, 1, "asin"),
    Library(OpId::kTirAsinh, 1, "asinh"),
    Library(OpId::kTirAtan, 1, "atan"),
    Library(OpId::kTirAtan2, 2, "atan2"),
    Library(OpId::kTirAtanh, 1, "atanh"),
    Formula(OpId::kTirBitwiseAnd, 2),
    Formula(OpId::kTirBitwiseNot, 1),
    Formula(OpId::kTirBitwiseOr, 2),
    Formula(OpId::kTirBitwiseXor, 2),
    Llvm(OpId::kTirCeil, 1, llvm::Intrinsic::ceil),
    Formula(OpId::kTirClz, 1),
    Llvm(OpId::kTirCopysign, 2, llvm::Intrinsic::copysign),
    Llvm(OpId::kTirCos, 1, llvm::Intrinsic::cos),
    Library(OpId::kTirCosh, 1, "cosh"),
    Library(OpId::kTirErf, 1, "erf"),
    Llvm(OpId::kTirExp, 1, llvm::Intrinsic::exp),
    Library(OpId::kTirExp10, 1, "exp10"),
    Llvm(OpId::kTirExp2, 1, llvm::Intrinsic::exp2),
    Llvm(OpId::kTirFabs, 1, llvm::Intrinsic::fabs),
    Llvm(OpId::kTirFloor, 1, llvm::Intrinsic::floor),
    Llvm(OpId::kTirFma, 3, llvm::Intrinsic::fma),
    Formula(OpId::kTirFmod, 2),
    Library(OpId::kTirHypot, 2, "hypot"),
    Formula(OpId::kTirIsNan, 1),
    Formula(OpId::kTirLargeUintImm, 2),
    Formula(OpId::kTirLdexp, 2),
    Llvm(OpId::kTirLog, 1, llvm::Intrinsic::log),
    Llvm(OpId::kTirLog10, 1, llvm::Intrinsic::log10),
    Library(OpId::kTirLog1p, 1, "log1p"),
    Llvm(OpId::kTirLog2, 1, llvm::Intrinsic::log2),
    Llvm(OpId::kTirNearbyint, 1, llvm::Intrinsic::nearbyint),
    Library(OpId::kTirNextafter, 2, "nextafter"),
    Formula(OpId::kTirPopcount, 1),
    Formula(OpId::kTirPow, 2),
    Formula(OpId::kTirQMultiplyShift, 4),
    Formula(OpId::kTirQMultiplyShiftPerAxis, 7),
    Formula(OpId::kTirReinterpret, 1),
    Llvm(OpId::kTirRound, 1, llvm::Intrinsic::round),
    Formula(OpId::kTirRsqrt, 1),
    Formula(OpId::kTirShiftLeft, 2),
    Formula(OpId::kTirShiftRight, 2),
    Formula(OpId::kTirSigmoid, 1),
    Llvm(OpId::kTirSin, 1, llvm::Intrinsic::sin),
    Library(OpId::kTirSinh, 1, "sinh"),
    Llvm(OpId::kTirSqrt, 1, llvm::Intrinsic::sqrt),
    Library(OpId::kTirTan, 1, "tan"),
    Library(OpId::kTirTanh, 1, "tanh"),
    Llvm(OpId::kTirTrunc, 1, llvm::Intrinsic::trunc),
};

const Row* FindRow(OpId id) {
  static constexpr auto kTable = [] {
    std::array<const Row*, kNumIntrinsics> table{};
    for (const Row& row : kRows) table[IndexOf(row.id)] = &row;
    return table;
  }();
  return IndexOf(id) < kNumIntrinsics ? kTable[IndexOf(id)] : nullptr;
}

// Rounding an integer is the identity.
bool KeepsIntegers(OpId id) {
  return id == OpId::kTirCeil || id == OpId::kTirFloor || id == OpId::kTirNearbyint || id == OpId::kTirRound ||
         id == OpId::kTirTrunc;
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
    case OpId::kTirIsNan:
      return arg_dtypes[0].is_floating()
                 ? b().CreateFCmpUNO(args[0], args[0])
                 : llvm::Constant::getNullValue(ValueTypes::LanesLike(b().getInt1Ty(), args[0]->getType()));
    case OpId::kTirReinterpret: return Reinterpret(args[0], arg_dtypes[0], dtype);
    case OpId::kTirPow: return Power(arg_dtypes[0], args[0], args[1]);
    case OpId::kTirLargeUintImm: {
      llvm::Value* low = b().CreateZExtOrTrunc(b().CreateZExtOrTrunc(args[0], b().getInt32Ty()), b().getInt64Ty());
      llvm::Value* high = b().CreateZExtOrTrunc(args[1], b().getInt64Ty());
      return Cast(b().CreateOr(b().CreateShl(high, 32), low), DataType::UInt(64), dtype);
    }
    case OpId::kTirClz:
    case OpId::kTirPopcount: {
      if (!arg_dtypes[0].is_integer()) return nullptr;
      llvm::Value* count = id == OpId::kTirClz
                               ? b().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, args[0], b().getFalse())
                               : b().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, args[0]);
      return Cast(count, DataType::UInt(arg_dtypes[0].bits), dtype);
    }
    default: return nullptr;
  }
}

llvm::Value* Arithmetic::FloatIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args) {
  const Row& row = *FindRow(id);
  llvm::Type* type = args[0]->getType();
  const auto one = [&] { return llvm::ConstantFP::get(type, 1.0); };
  llvm::Value* value = nullptr;
  if (row.group == Group::kLlvm) {
    value = b().CreateIntrinsic(row.intrinsic, {type}, args);
  } else if (row.group == Group::kLibrary) {
    if (type->isVectorTy()) return nullptr;
    // The next value of a narrow float format differs from the next float.
    if (id == OpId::kTirNextafter && dtype.bits < 32) return nullptr;
    value = CallMath(row.name, args);
  } else if (id == OpId::kTirRsqrt) {
    value = b().CreateFDiv(one(), b().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]));
  } else if (id == OpId::kTirSigmoid) {
    llvm::Value* power = b().CreateUnaryIntrinsic(llvm::Intrinsic::exp, b().CreateFNeg(args[0]));
    value = b().CreateFDiv(one(), b().CreateFAdd(one(), power));
  } else if (id == OpId::kTirFmod) {
    value = b().CreateFRem(args[0], args[1]);
  } else if (id == OpId::kTirLdexp && !type->isVectorTy() && args[1]->getType()->isIntegerTy()) {
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

llvm::Value* Arithmetic::IntIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args) {
  if (KeepsIntegers(id)) return args[0];
  llvm::Value* zero = llvm::Constant::getNullValue(args[0]->getType());
  switch (id) {
    case OpId::kTirBitwiseAnd: return b().CreateAnd(args[0], args[1]);
    case OpId::kTirBitwiseOr: return b().CreateOr(args[0], args[1]);
    case OpId::kTirBitwiseXor: return b().CreateXor(args[0], args[1]);
    case OpId::kTirBitwiseNot: return b().CreateNot(args[0]);
    case OpId::kTirFabs:
      return dtype.is_int() ? b().CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], b().getFalse()) : args[0];
    case OpId::kTirShiftLeft:
    case OpId::kTirShiftRight: return Shift(id, dtype, args[0], args[1]);
    case OpId::kTirQMultiplyShift: {
      // Operands: x, y, q, and the shift, which is to the left if positive.
      llvm::Value* left = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, args[3], zero);
      llvm::Value* right = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, b().CreateNeg(args[3]), zero);
      return MultiplyShift(args[0], args[1], args[2], left, right);
    }
    case OpId::kTirQMultiplyShiftPerAxis: {
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
  if (id == OpId::kTirShiftLeft) return b().CreateShl(a, by);
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
