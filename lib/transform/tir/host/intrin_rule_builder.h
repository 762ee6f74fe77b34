// The forms that calls of mathematical functions take. Private to the rules of intrinsics.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "transform/tir/host/host_builder.h"

namespace iropt {

// Builds the expression that one call of an intrinsic becomes. The functions return null where the form does not apply
// to the dtype of the call, and set the error where the target cannot compute it.
class IntrinRuleBuilder {
 public:
  IntrinRuleBuilder(const tir::Call& call, const HostBuilder& build)
      : call_(call), build_(build), make_(build.make()), op_(To<Op>(call.op)) {}

  const std::string& error() const { return error_; }

  // ---- Calls under the name of the function, in the spelling of a compiler
  const PrimExpr* Direct();        // exp
  const PrimExpr* Wgsl();          // exp
  const PrimExpr* CLibrary();      // expf for float32, exp for float64
  const PrimExpr* CudaMath();      // expf, exp, hexp for 16 bits; __clz, __clzll for integers
  const PrimExpr* CudaFastMath();  // as CudaMath, but __expf for float32
  const PrimExpr* CudaPopcount();
  const PrimExpr* LibDevice();  // __nv_expf, __nv_exp
  const PrimExpr* Abs();
  const PrimExpr* Llvm();  // llvm.exp
  const PrimExpr* Glsl();

  // ---- Arithmetic with other intrinsics
  const PrimExpr* LeadingZerosByLlvm();
  const PrimExpr* LeadingZerosByGlsl();
  const PrimExpr* FastErf();
  // Without overflow of exp for large operands.
  const PrimExpr* Tanh();
  const PrimExpr* Exp10();
  const PrimExpr* Tan();
  const PrimExpr* Cosh() { return Hyperbolic(NodeKind::kAdd); }
  const PrimExpr* Sinh() { return Hyperbolic(NodeKind::kSub); }
  const PrimExpr* Rsqrt();
  const PrimExpr* Sigmoid();
  // Operands: x, multiplier y, number q of its fractional bits, shift s.
  const PrimExpr* MultiplyShift();
  // Operands: x, y, left shift, right shift, q, whether there is a left shift, whether there is a right one.
  const PrimExpr* MultiplyShiftPerAxis();

  // ---- Values of other threads of the warp. Operands: mask, value, lane or distance, width, number of threads.
  const PrimExpr* IntelShuffle();
  const PrimExpr* AmdShuffle();
  const PrimExpr* NoActiveMask();

 private:
  const PrimExpr* x() const { return call_.args[0]; }
  // The name without "tir.". Functions that are called round take halves away from zero; `round` is one that takes them
  // to even numbers, as the intrinsic does.
  std::string_view Name(std::string_view round = "nearbyint") const;
  const PrimExpr* Fail(std::string message) {
    error_ = std::move(message);
    return nullptr;
  }
  const PrimExpr* PureExtern(std::string_view name) const;
  std::string CudaName(DataType dtype) const;
  const PrimExpr* CallWith(DataType dtype, OpId callee, std::initializer_list<const PrimExpr*> first,
                           std::span<const PrimExpr* const> rest) const;
  // Of the dtype of the operand.
  const PrimExpr* Const(double value) const;
  const PrimExpr* IntConst(int64_t value, DataType dtype) const { return make_.Const(value, dtype); }
  const PrimExpr* Negate(const PrimExpr* e) const;
  const PrimExpr* Select(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) const {
    return make_.Keep(tir::Select(condition, a, b));
  }
  // bfloat16 is computed in float32.
  const PrimExpr* Unary(OpId op, const PrimExpr* e) const;
  // (exp(x) + exp(-x)) / 2, or their difference.
  const PrimExpr* Hyperbolic(NodeKind kind) const;
  // x * y * 2^(left - right - q) with rounding, in 64 bits.
  const PrimExpr* MultiplyShift(const PrimExpr* y, const PrimExpr* q, const PrimExpr* left, const PrimExpr* right,
                                const PrimExpr* has_left) const;

  const tir::Call& call_;
  const HostBuilder& build_;
  const arith::PrimBuilder& make_;
  const Op* op_;
  std::string error_;
};

}  // namespace iropt
