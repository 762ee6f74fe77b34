// Element types of host tensors as C++ types, and the arithmetic that a dtype stands for: integers wrap around, narrow
// floats are computed in float and rounded once per operation, booleans are stored as bytes of 0 and 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "iropt/ir/dtype.h"
#include "iropt/ir/narrow_float.h"

namespace iropt {

// The storage of a boolean in a tensor. Any byte but 0 reads as true.
struct BoolByte {
  uint8_t byte = 0;
};

// Element<T>::Math is the type to compute in; Load and Store convert. Store(Load(x)) rounds a result to what T can
// hold.
template <class T>
struct Element {
  using Math = T;
  static Math Load(T x) { return x; }
  static T Store(Math x) { return x; }
};
template <>
struct Element<BoolByte> {
  using Math = bool;
  static bool Load(BoolByte x) { return x.byte != 0; }
  static BoolByte Store(bool x) { return {static_cast<uint8_t>(x)}; }
};
template <int kE, int kM, FloatSpecials kS>
struct Element<NarrowFloat<kE, kM, kS>> {
  using Math = float;
  static float Load(NarrowFloat<kE, kM, kS> x) { return static_cast<float>(x); }
  static NarrowFloat<kE, kM, kS> Store(float x) { return NarrowFloat<kE, kM, kS>(x); }
};
template <class T>
using MathOf = typename Element<T>::Math;

// Calls f(std::type_identity<T>()) with the element type T of `dtype` and returns true; false if tensors cannot hold
// such elements (vectors, handles, formats that share a byte).
template <class F>
bool DispatchElement(DataType dtype, F&& f) {
  if (!dtype.is_scalar()) return false;
#define IROPT_ELEMENT(T) return f(std::type_identity<T>()), true
  switch (dtype.code) {
    case TypeCode::kInt:
      if (dtype.bits == 8) IROPT_ELEMENT(int8_t);
      if (dtype.bits == 16) IROPT_ELEMENT(int16_t);
      if (dtype.bits == 32) IROPT_ELEMENT(int32_t);
      if (dtype.bits == 64) IROPT_ELEMENT(int64_t);
      return false;
    case TypeCode::kUInt:
      if (dtype.bits == 1) IROPT_ELEMENT(BoolByte);
      if (dtype.bits == 8) IROPT_ELEMENT(uint8_t);
      if (dtype.bits == 16) IROPT_ELEMENT(uint16_t);
      if (dtype.bits == 32) IROPT_ELEMENT(uint32_t);
      if (dtype.bits == 64) IROPT_ELEMENT(uint64_t);
      return false;
    case TypeCode::kFloat:
      if (dtype.bits == 16) IROPT_ELEMENT(Float16);
      if (dtype.bits == 32) IROPT_ELEMENT(float);
      if (dtype.bits == 64) IROPT_ELEMENT(double);
      return false;
    case TypeCode::kBFloat:
      if (dtype.bits == 16) IROPT_ELEMENT(BFloat16);
      return false;
    case TypeCode::kFloat8E4M3: IROPT_ELEMENT(Float8E4M3);
    case TypeCode::kFloat8E5M2: IROPT_ELEMENT(Float8E5M2);
    default: return false;
  }
#undef IROPT_ELEMENT
  return false;
}

// Returns whether host tensors of this dtype can be computed with.
inline bool IsElementType(DataType dtype) {
  return DispatchElement(dtype, [](auto) {});
}

// Integer arithmetic modulo 2^bits, without undefined overflow; that of floats for floats. Narrow types are computed in
// 64 bits, because the promotion of uint16_t to int would overflow in a product.
template <class T, class F>
constexpr T WrapArithmetic(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  } else {
    return f(a, b);
  }
}
template <class T>
constexpr T WrapAdd(T a, T b) {
  return WrapArithmetic(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
constexpr T WrapSub(T a, T b) {
  return WrapArithmetic(a, b, [](auto x, auto y) { return x - y; });
}
template <class T>
constexpr T WrapMul(T a, T b) {
  return WrapArithmetic(a, b, [](auto x, auto y) { return x * y; });
}
template <class T>
constexpr T WrapNegate(T a) {
  if constexpr (std::is_integral_v<T>) {
    return WrapSub(T{0}, a);
  } else {
    return -a;
  }
}

// Quotients of integers; b must not be 0. The least integer divided by -1 wraps around to itself.
template <class T>
constexpr T TruncDiv(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return WrapNegate(a);
  }
  return static_cast<T>(a / b);
}
template <class T>
constexpr T TruncMod(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <class T>
constexpr T FloorMod(T a, T b) {
  const T rest = TruncMod(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (rest != 0 && (rest < 0) != (b < 0)) return static_cast<T>(rest + b);
  }
  return rest;
}
template <class T>
constexpr T FloorDiv(T a, T b) {
  const T quotient = TruncDiv(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (b != -1 && a % b != 0 && (a < 0) != (b < 0)) return static_cast<T>(quotient - 1);
  }
  return quotient;
}

// Returns the greater or lesser value as tir.Max and tir.Min: NaN if an operand is NaN, as in NumPy and ONNX, and the
// second operand of equal ones, which matters for signed zeros.
template <class T>
constexpr T MaxOf(T a, T b) {
  return (a > b || a != a) ? a : b;  // NOLINT(misc-redundant-expression)
}
template <class T>
constexpr T MinOf(T a, T b) {
  return (a < b || a != a) ? a : b;  // NOLINT(misc-redundant-expression)
}

// An integer as a double that rounds to any narrower format as the integer itself would: if the double cannot hold it
// exactly, its lowest bit is set ("round to odd"), so that a value that is not a tie does not become one.
template <class T>
double WidenForRounding(T value) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < T{0};
    uint64_t magnitude = static_cast<uint64_t>(value);
    if (negative) magnitude = ~magnitude + 1;
    if (magnitude >> 53 != 0) {
      const uint64_t sticky = (magnitude & 0x7ff) != 0 ? 1 : 0;
      const double scaled = static_cast<double>(magnitude >> 11 | sticky) * 2048.0;
      return negative ? -scaled : scaled;
    }
    return static_cast<double>(value);
  }
}

// Converts a value between element types. False if the result is undefined: NaN or a number out of range to an integer.
template <class To, class From>
bool ConvertElement(From from, To* to) {
  const MathOf<From> value = Element<From>::Load(from);
  if constexpr (std::is_same_v<To, BoolByte>) {
    *to = Element<BoolByte>::Store(value != MathOf<From>{0});
  } else if constexpr (kIsNarrowFloat<To>) {
    if constexpr (std::is_integral_v<MathOf<From>>) {
      *to = To(WidenForRounding(value));
    } else {
      *to = To(static_cast<double>(value));
    }
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<MathOf<From>>) {
    // Both bounds are powers of two (or zero), hence exact; the fraction is truncated.
    const double whole = std::trunc(static_cast<double>(value));
    const double upper = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double lower = std::is_signed_v<To> ? -upper : 0.0;
    if (!(whole >= lower && whole < upper)) return false;
    *to = static_cast<To>(whole);
  } else {
    *to = static_cast<To>(value);
  }
  return true;
}

}  // namespace iropt
