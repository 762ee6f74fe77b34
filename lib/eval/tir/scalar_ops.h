// Operations on single elements, by the class of their dtype. Floats of every width are computed in double and rounded
// once to their own format: a double has more than twice the digits of a float, so the sum, difference, product,
// quotient and square root are the same as in the narrow format itself, and all other results at least as exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "iropt/ir/element.h"

namespace iropt::eval {

// A null function: the operation is not defined on that class of dtypes.
struct UnaryOp {
  double (*real)(double) = nullptr;
  int64_t (*sint)(int64_t) = nullptr;  // operand sign-extended; the result is truncated to the width of the dtype
  uint64_t (*uint)(uint64_t) = nullptr;
  bool (*boolean)(bool) = nullptr;
};

// For integers: false if the result is undefined. `bits` is the width of the dtype.
struct BinaryOp {
  double (*real)(double, double) = nullptr;
  bool (*sint)(int64_t a, int64_t b, int bits, int64_t* result) = nullptr;
  bool (*uint)(uint64_t a, uint64_t b, int bits, uint64_t* result) = nullptr;
  bool (*boolean)(bool, bool) = nullptr;
};

struct CompareOp {
  bool (*real)(double, double);
  bool (*sint)(int64_t, int64_t);
  bool (*uint)(uint64_t, uint64_t);
};

// A predicate of floats; `of_integers` is its constant value on integers.
struct TestOp {
  bool (*real)(double);
  bool of_integers;
};

// ---- Unary

#define IROPT_REAL_OP(Name, expression)                                                                                \
  inline constexpr UnaryOp Name {                                                                                      \
    [](double x) -> double { return expression; }, nullptr, nullptr, nullptr                                           \
  }
IROPT_REAL_OP(kAcos, std::acos(x));
IROPT_REAL_OP(kAcosh, std::acosh(x));
IROPT_REAL_OP(kAsin, std::asin(x));
IROPT_REAL_OP(kAsinh, std::asinh(x));
IROPT_REAL_OP(kAtan, std::atan(x));
IROPT_REAL_OP(kAtanh, std::atanh(x));
IROPT_REAL_OP(kCos, std::cos(x));
IROPT_REAL_OP(kCosh, std::cosh(x));
IROPT_REAL_OP(kErf, std::erf(x));
IROPT_REAL_OP(kExp, std::exp(x));
IROPT_REAL_OP(kExp2, std::exp2(x));
IROPT_REAL_OP(kExp10, std::pow(10.0, x));
IROPT_REAL_OP(kGelu, x*(0.5 + 0.5 * std::erf(x * 0.70710678118654752440)));
IROPT_REAL_OP(kGeluTanh, 0.5 * x * (1.0 + std::tanh(0.79788456080286535588 * x * (1.0 + 0.044715 * x * x))));
IROPT_REAL_OP(kLog, std::log(x));
IROPT_REAL_OP(kLog10, std::log10(x));
IROPT_REAL_OP(kLog1p, std::log1p(x));
IROPT_REAL_OP(kLog2, std::log2(x));
IROPT_REAL_OP(kRsqrt, 1.0 / std::sqrt(x));
IROPT_REAL_OP(kSelu, 1.0507009873554804934193 * (x > 0 ? x : 1.6732632423543772848170 * std::expm1(x)));
IROPT_REAL_OP(kSigmoid, 1.0 / (1.0 + std::exp(-x)));
IROPT_REAL_OP(kSilu, x / (1.0 + std::exp(-x)));
IROPT_REAL_OP(kSin, std::sin(x));
IROPT_REAL_OP(kSinh, std::sinh(x));
IROPT_REAL_OP(kSqrt, std::sqrt(x));
IROPT_REAL_OP(kTan, std::tan(x));
IROPT_REAL_OP(kTanh, std::tanh(x));
#undef IROPT_REAL_OP

inline constexpr UnaryOp kAbs{[](double x) { return std::fabs(x); },
                              [](int64_t x) { return x < 0 ? WrapNegate(x) : x; }, [](uint64_t x) { return x; },
                              nullptr};
inline constexpr UnaryOp kNegative{[](double x) { return -x; }, [](int64_t x) { return WrapNegate(x); },
                                   [](uint64_t x) { return WrapNegate(x); }, nullptr};
inline constexpr UnaryOp kSquare{[](double x) { return x * x; }, [](int64_t x) { return WrapMul(x, x); },
                                 [](uint64_t x) { return x * x; }, nullptr};
// NaN has no sign: 0, as it is neither above nor below zero.
inline constexpr UnaryOp kSign{[](double x) { return static_cast<double>(x > 0) - static_cast<double>(x < 0); },
                               [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; },
                               [](uint64_t x) { return uint64_t{x > 0}; }, nullptr};
inline constexpr UnaryOp kRelu{[](double x) { return MaxOf(x, 0.0); }, [](int64_t x) { return MaxOf(x, int64_t{0}); },
                               [](uint64_t x) { return x; }, nullptr};

// Integers need no rounding.
#define IROPT_ROUNDING_OP(Name, expression)                                                                            \
  inline constexpr UnaryOp Name {                                                                                      \
    [](double x) -> double { return expression; }, [](int64_t x) { return x; }, [](uint64_t x) { return x; }, nullptr  \
  }
IROPT_ROUNDING_OP(kCeil, std::ceil(x));
IROPT_ROUNDING_OP(kFloor, std::floor(x));
IROPT_ROUNDING_OP(kNearbyint, std::nearbyint(x));
IROPT_ROUNDING_OP(kRound, std::nearbyint(x));  // halves to even, too
IROPT_ROUNDING_OP(kTrunc, std::trunc(x));
#undef IROPT_ROUNDING_OP

inline constexpr UnaryOp kBitwiseNot{nullptr, [](int64_t x) { return ~x; }, [](uint64_t x) { return ~x; },
                                     [](bool x) { return !x; }};
inline constexpr UnaryOp kLogicalNot{nullptr, nullptr, nullptr, [](bool x) { return !x; }};

// ---- Tests

inline constexpr TestOp kIsFinite{[](double x) { return std::isfinite(x); }, true};
inline constexpr TestOp kIsInf{[](double x) { return std::isinf(x); }, false};
inline constexpr TestOp kIsNan{[](double x) { return std::isnan(x); }, false};

// ---- Binary

// Arithmetic that is defined for all integers, modulo 2^bits.
#define IROPT_WRAPPING_OP(Name, real_expression, integer_expression, boolean_expression)                               \
  inline constexpr BinaryOp Name {                                                                                     \
    [](double a, double b) -> double { return real_expression; },                                                      \
        [](int64_t a, int64_t b, int, int64_t* r) { return *r = (integer_expression), true; },                         \
        [](uint64_t a, uint64_t b, int, uint64_t* r) { return *r = (integer_expression), true; },                      \
        [](bool a, bool b) { return boolean_expression; }                                                              \
  }
IROPT_WRAPPING_OP(kAdd, a + b, WrapAdd(a, b), a != b);
IROPT_WRAPPING_OP(kSubtract, a - b, WrapSub(a, b), a != b);
IROPT_WRAPPING_OP(kMultiply, a* b, WrapMul(a, b), a&& b);
#undef IROPT_WRAPPING_OP

inline constexpr BinaryOp kMaximum{[](double a, double b) { return MaxOf(a, b); },
                                   [](int64_t a, int64_t b, int, int64_t* r) { return *r = MaxOf(a, b), true; },
                                   [](uint64_t a, uint64_t b, int, uint64_t* r) { return *r = MaxOf(a, b), true; },
                                   [](bool a, bool b) { return a || b; }};
inline constexpr BinaryOp kMinimum{[](double a, double b) { return MinOf(a, b); },
                                   [](int64_t a, int64_t b, int, int64_t* r) { return *r = MinOf(a, b), true; },
                                   [](uint64_t a, uint64_t b, int, uint64_t* r) { return *r = MinOf(a, b), true; },
                                   [](bool a, bool b) { return a && b; }};

// Quotients and remainders are undefined for a divisor of 0.
#define IROPT_DIVIDING_OP(Name, real_expression, Function, boolean)                                                    \
  inline constexpr BinaryOp Name {                                                                                     \
    [](double a, double b) -> double { return real_expression; },                                                      \
        [](int64_t a, int64_t b, int, int64_t* r) { return b != 0 && (*r = Function(a, b), true); },                   \
        [](uint64_t a, uint64_t b, int, uint64_t* r) { return b != 0 && (*r = Function(a, b), true); }, boolean        \
  }
// A boolean divided by the only one that is not 0 is itself, which is what TVM's code gives for both.
inline constexpr bool DivideBooleans(bool a, bool /*b*/) { return a; }
IROPT_DIVIDING_OP(kDivide, a / b, TruncDiv, &DivideBooleans);
IROPT_DIVIDING_OP(kFloorDivide, std::floor(a / b), FloorDiv, nullptr);
IROPT_DIVIDING_OP(kMod, std::fmod(a, b), TruncMod, nullptr);
#undef IROPT_DIVIDING_OP

// The sign is that of the divisor. fmod is exact; the formula with floor(a / b) would not be.
inline double FloorModReal(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline constexpr BinaryOp kFloorMod{
    [](double a, double b) { return FloorModReal(a, b); },
    [](int64_t a, int64_t b, int, int64_t* r) { return b != 0 && (*r = FloorMod(a, b), true); },
    [](uint64_t a, uint64_t b, int, uint64_t* r) { return b != 0 && (*r = a % b, true); }, nullptr};

// By repeated squaring; a negative exponent has no integer result.
template <class T>
constexpr bool IntegerPower(T base, T exponent, T* result) {
  if (exponent < T{0}) return false;
  T power = 1;
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) power = WrapMul(power, base);
    base = WrapMul(base, base);
  }
  *result = power;
  return true;
}
inline constexpr BinaryOp kPower{[](double a, double b) { return std::pow(a, b); },
                                 [](int64_t a, int64_t b, int, int64_t* r) { return IntegerPower(a, b, r); },
                                 [](uint64_t a, uint64_t b, int, uint64_t* r) { return IntegerPower(a, b, r); },
                                 nullptr};

#define IROPT_BITWISE_OP(Name, op, boolean_op)                                                                         \
  inline constexpr BinaryOp Name {                                                                                     \
    nullptr, [](int64_t a, int64_t b, int, int64_t* r) { return *r = a op b, true; },                                  \
        [](uint64_t a, uint64_t b, int, uint64_t* r) { return *r = a op b, true; },                                    \
        [](bool a, bool b) { return a boolean_op b; }                                                                  \
  }
IROPT_BITWISE_OP(kBitwiseAnd, &, &&);
IROPT_BITWISE_OP(kBitwiseOr, |, ||);
IROPT_BITWISE_OP(kBitwiseXor, ^, !=);
#undef IROPT_BITWISE_OP

// A shift by a negative number of bits, or by at least the width, is undefined.
inline constexpr BinaryOp kLeftShift{nullptr,
                                     [](int64_t a, int64_t b, int bits, int64_t* r) {
                                       return b >= 0 && b < bits &&
                                              (*r = static_cast<int64_t>(static_cast<uint64_t>(a) << b), true);
                                     },
                                     [](uint64_t a, uint64_t b, int bits, uint64_t* r) {
                                       return b < static_cast<uint64_t>(bits) && (*r = a << b, true);
                                     },
                                     nullptr};
inline constexpr BinaryOp kRightShift{
    nullptr, [](int64_t a, int64_t b, int bits, int64_t* r) { return b >= 0 && b < bits && (*r = a >> b, true); },
    [](uint64_t a, uint64_t b, int bits, uint64_t* r) {
      return b < static_cast<uint64_t>(bits) && (*r = a >> b, true);
    },
    nullptr};

inline constexpr BinaryOp kLogicalAnd{nullptr, nullptr, nullptr, [](bool a, bool b) { return a && b; }};
inline constexpr BinaryOp kLogicalOr{nullptr, nullptr, nullptr, [](bool a, bool b) { return a || b; }};
inline constexpr BinaryOp kLogicalXor{nullptr, nullptr, nullptr, [](bool a, bool b) { return a != b; }};

#define IROPT_REAL_BINARY_OP(Name, expression)                                                                         \
  inline constexpr BinaryOp Name {                                                                                     \
    [](double a, double b) -> double { return expression; }, nullptr, nullptr, nullptr                                 \
  }
IROPT_REAL_BINARY_OP(kAtan2, std::atan2(a, b));
IROPT_REAL_BINARY_OP(kCopysign, std::copysign(a, b));
IROPT_REAL_BINARY_OP(kFmod, std::fmod(a, b));
// log(exp(a) + exp(b)), whose terms can overflow.
inline double LogAddExpReal(double a, double b) {
  const double greater = a > b ? a : b;
  const double less = a > b ? b : a;
  return std::isinf(greater) && !std::isnan(less) ? greater : greater + std::log1p(std::exp(less - greater));
}
IROPT_REAL_BINARY_OP(kLogAddExp, LogAddExpReal(a, b));
IROPT_REAL_BINARY_OP(kHypot, std::hypot(a, b));
#undef IROPT_REAL_BINARY_OP

// ---- Comparisons; booleans compare as 0 and 1.

#define IROPT_COMPARE_OP(Name, op)                                                                                     \
  inline constexpr CompareOp Name {                                                                                    \
    [](double a, double b) { return a op b; }, [](int64_t a, int64_t b) { return a op b; },                            \
        [](uint64_t a, uint64_t b) { return a op b; }                                                                  \
  }
IROPT_COMPARE_OP(kEqual, ==);
IROPT_COMPARE_OP(kNotEqual, !=);
IROPT_COMPARE_OP(kLess, <);
IROPT_COMPARE_OP(kLessEqual, <=);
IROPT_COMPARE_OP(kGreater, >);
IROPT_COMPARE_OP(kGreaterEqual, >=);
#undef IROPT_COMPARE_OP

// ---- Application to one element of type T. False if the operation is undefined for the operands (or for T, which
// callers check beforehand by SupportsElement).

template <class T, class Op>
constexpr bool SupportsElement(const Op& op) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return op.boolean != nullptr;
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? op.sint != nullptr : op.uint != nullptr;
  } else {
    return op.real != nullptr;
  }
}

template <class T>
double ToReal(T x) {
  return static_cast<double>(Element<T>::Load(x));
}
template <class T>
T FromReal(double x) {
  if constexpr (kIsNarrowFloat<T>) {
    return T(x);
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
T ApplyUnary(const UnaryOp& op, T x) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return Element<T>::Store(op.boolean(Element<T>::Load(x)));
  } else if constexpr (!std::is_integral_v<T>) {
    return FromReal<T>(op.real(ToReal(x)));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(op.sint(x));
  } else {
    return static_cast<T>(op.uint(x));
  }
}

template <class T>
bool ApplyBinary(const BinaryOp& op, T a, T b, T* result) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    *result = Element<T>::Store(op.boolean(Element<T>::Load(a), Element<T>::Load(b)));
    return true;
  } else if constexpr (!std::is_integral_v<T>) {
    *result = FromReal<T>(op.real(ToReal(a), ToReal(b)));
    return true;
  } else {
    constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
    if constexpr (std::is_signed_v<T>) {
      int64_t wide = 0;
      const bool defined = op.sint(a, b, kBits, &wide);
      *result = static_cast<T>(wide);
      return defined;
    } else {
      uint64_t wide = 0;
      const bool defined = op.uint(a, b, kBits, &wide);
      *result = static_cast<T>(wide);
      return defined;
    }
  }
}

template <class T>
bool ApplyCompare(const CompareOp& op, T a, T b) {
  if constexpr (std::is_same_v<T, BoolByte>) {
    return op.uint(Element<T>::Load(a), Element<T>::Load(b));
  } else if constexpr (!std::is_integral_v<T>) {
    return op.real(ToReal(a), ToReal(b));
  } else if constexpr (std::is_signed_v<T>) {
    return op.sint(a, b);
  } else {
    return op.uint(a, b);
  }
}

}  // namespace iropt::eval
