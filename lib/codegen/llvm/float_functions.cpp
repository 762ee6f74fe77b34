#include "float_functions.h"

#include <llvm/IR/Intrinsics.h>

#include <span>

#include "value_types.h"

namespace iropt::codegen {

namespace {

// Generates code for numbers, or vectors, of the type of one.
class FloatFunctions {
 public:
  FloatFunctions(llvm::IRBuilder<>& b, llvm::Type* type)
      : b_(b), type_(type), int_type_(ValueTypes::LanesLike(b.getInt32Ty(), type)) {}

  llvm::Constant* Of(double value) const { return llvm::ConstantFP::get(type_, value); }
  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {x, y, z});
  }
  llvm::Value* Abs(llvm::Value* x) const { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  // NaN stays NaN.
  llvm::Value* AtMost(llvm::Value* x, double limit) const {
    return b_.CreateSelect(b_.CreateFCmpOGT(x, Of(limit)), Of(limit), x);
  }
  llvm::Value* AtLeast(llvm::Value* x, double limit) const {
    return b_.CreateSelect(b_.CreateFCmpOLT(x, Of(limit)), Of(limit), x);
  }
  // The coefficients begin with the constant.
  llvm::Value* Polynomial(llvm::Value* x, std::span<const double> coefficients) const {
    llvm::Value* value = Of(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) value = MultiplyAdd(value, x, Of(coefficients[i]));
    return value;
  }
  // |x| < limit ? small : large, with the sign of x, which a small zero may have lost.
  llvm::Value* JoinOdd(llvm::Value* x, double limit, llvm::Value* small, llvm::Value* large) const {
    llvm::Value* joined = b_.CreateSelect(b_.CreateFCmpOLT(Abs(x), Of(limit)), small, large);
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, joined, x);
  }

  // x * scale, rounded to an integer: the last bits of the first of two floats, of which the second is the integer.
  struct Rounded {
    llvm::Value* bits;
    llvm::Value* value;
  };
  Rounded Round(llvm::Value* x, double scale) const {
    const double shift = 0x1.8p23;  // floats of this size are integers
    llvm::Value* sum = MultiplyAdd(x, Of(scale), Of(shift));
    return {b_.CreateBitCast(sum, int_type_), b_.CreateFSub(sum, Of(shift))};
  }

  // 2^n * e^r for |r| <= ln(2) / 2. With `is_normal`, the result is neither infinite nor denormal.
  llvm::Value* ScaledExp(llvm::Value* r, const Rounded& n, bool is_normal = false) const {
    static constexpr double kTerms[] = {0.49999994039535522, 0.16666519641876221, 0.041668392717838287,
                                        0.0083687808364629745, 0.0013814467238262296};
    llvm::Value* value = MultiplyAdd(b_.CreateFMul(r, r), Polynomial(r, kTerms), r);
    value = b_.CreateFAdd(value, Of(1));
    constexpr uint32_t kShiftBits = 0x4B400000;
    llvm::Value* exponent = b_.CreateSub(n.bits, llvm::ConstantInt::get(int_type_, kShiftBits));
    if (is_normal) return b_.CreateFMul(value, PowerOfTwo(exponent));
    // In two steps: neither power of two is out of range, and only the second step rounds.
    llvm::Value* half = b_.CreateAShr(exponent, 1);
    value = b_.CreateFMul(value, PowerOfTwo(half));
    return b_.CreateFMul(value, PowerOfTwo(b_.CreateSub(exponent, half)));
  }
  // e^x, which is neither infinite nor denormal if `is_normal`.
  llvm::Value* Exp(llvm::Value* x, bool is_normal) const {
    const Rounded n = Round(x, 1.4426950408889634);
    // ln(2) in two parts, the first of which has few bits.
    llvm::Value* r = MultiplyAdd(n.value, Of(-0.693359375), x);
    return ScaledExp(MultiplyAdd(n.value, Of(2.12194440e-4), r), n, is_normal);
  }

 private:
  llvm::Value* PowerOfTwo(llvm::Value* exponent) const {
    constexpr uint32_t kBias = 127, kMantissa = 23;
    llvm::Value* biased = b_.CreateAdd(exponent, llvm::ConstantInt::get(int_type_, kBias));
    return b_.CreateBitCast(b_.CreateShl(biased, kMantissa), type_);
  }

  llvm::IRBuilder<>& b_;
  llvm::Type* type_;
  llvm::Type* int_type_;
};

}  // namespace

llvm::Value* EmitExp(llvm::IRBuilder<>& b, llvm::Value* x) {
  const FloatFunctions f(b, x->getType());
  return f.Exp(f.AtLeast(f.AtMost(x, 89), -104), /*is_normal=*/false);  // infinity and zero
}

llvm::Value* EmitExp2(llvm::IRBuilder<>& b, llvm::Value* x) {
  const FloatFunctions f(b, x->getType());
  x = f.AtLeast(f.AtMost(x, 129), -151);
  const auto n = f.Round(x, 1);
  return f.ScaledExp(b.CreateFMul(b.CreateFSub(x, n.value), f.Of(0.69314718055994531)), n);
}

llvm::Value* EmitErf(llvm::IRBuilder<>& b, llvm::Value* x) {
  // erf(x) / x - 1 by powers of the square of x, and -log(1 - erf(x)) by those of x.
  static constexpr double kSmall[] = {0.128379167,           -0.37612625956535339, 0.1128358542919159,
                                      -0.026853812858462334, 0.005188328213989735, -0.00080101983621716499,
                                      7.853876013541594e-05};
  static constexpr double kLarge[] = {0.00033939114655368030, 1.1270976066589355,    0.6381314396858215,
                                      0.10311800241470337,    -0.021843258291482925, 0.0029489097651094198,
                                      -0.00018650207493919879};
  const FloatFunctions f(b, x->getType());
  llvm::Value* small = f.MultiplyAdd(x, f.Polynomial(b.CreateFMul(x, x), kSmall), x);
  llvm::Value* exponent = f.Polynomial(f.AtMost(f.Abs(x), 4), kLarge);  // erf(4) is rounded to 1
  llvm::Value* large = b.CreateFSub(f.Of(1), f.Exp(b.CreateFNeg(exponent), /*is_normal=*/true));
  return f.JoinOdd(x, 1, small, large);
}

llvm::Value* EmitTanh(llvm::IRBuilder<>& b, llvm::Value* x) {
  // (tanh(x) - x) / x^3 by powers of the square of x.
  static constexpr double kSmall[] = {-0.33333280682563782, 0.13331441581249237, -0.053739715367555618,
                                      0.0206390880048275, -0.005704987328499556};
  const FloatFunctions f(b, x->getType());
  llvm::Value* square = b.CreateFMul(x, x);
  llvm::Value* small = f.MultiplyAdd(b.CreateFMul(x, square), f.Polynomial(square, kSmall), x);
  llvm::Value* magnitude = f.AtMost(f.Abs(x), 10);  // tanh(10) is rounded to 1
  llvm::Value* power = f.Exp(b.CreateFAdd(magnitude, magnitude), /*is_normal=*/true);
  llvm::Value* large = b.CreateFSub(f.Of(1), b.CreateFDiv(f.Of(2), b.CreateFAdd(power, f.Of(1))));
  return f.JoinOdd(x, 0.625, small, large);
}

}  // namespace iropt::codegen
