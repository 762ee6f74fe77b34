// Arithmetic on elements as they are stored: every result is rounded to the dtype, integers wrap around.
#pragma once

#include <cmath>
#include <limits>

#include "eval/tir/scalar_ops.h"
#include "iropt/ir/element.h"

namespace iropt::eval {

// As DispatchElement, for the dtypes that have arithmetic: all but booleans. False for others.
template <class F>
bool DispatchNumber(DataType dtype, F&& f) {
  bool supported = false;
  DispatchElement(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (!std::is_same_v<T, BoolByte>) {
      supported = true;
      f(type);
    }
  });
  return supported;
}

// As DispatchElement, for floats alone. False for other dtypes.
template <class F>
bool DispatchFloat(DataType dtype, F&& f) {
  bool supported = false;
  DispatchElement(dtype, [&]<class T>(std::type_identity<T> type) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      supported = true;
      f(type);
    }
  });
  return supported;
}

template <class T>
T AddElements(T a, T b) {
  return Element<T>::Store(WrapAdd(Element<T>::Load(a), Element<T>::Load(b)));
}
template <class T>
T MulElements(T a, T b) {
  return Element<T>::Store(WrapMul(Element<T>::Load(a), Element<T>::Load(b)));
}
template <class T>
T NegateElement(T a) {
  return Element<T>::Store(WrapNegate(Element<T>::Load(a)));
}
// Integers are truncated towards zero; their divisor must not be 0.
template <class T>
T DivElements(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return TruncDiv(a, b);
  } else {
    return FromReal<T>(ToReal(a) / ToReal(b));
  }
}
// A number in the dtype: floats are rounded, integers wrap around.
template <class T>
T ElementOf(int64_t value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return FromReal<T>(WidenForRounding(value));
  }
}

// What sums of many elements are computed in, for a mean of them: integers in 64 bits, so that neither the sum nor the
// number of elements wraps around.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) < 8, int64_t, T>, T>;
template <class T>
SumOf<T> WidenForSum(T element) {
  return static_cast<SumOf<T>>(element);
}

// Returns whether `a` is greater than `b`, or less without kMaximum; NaN is more extreme than all numbers.
template <bool kMaximum, class M>
bool IsMoreExtreme(M a, M b) {
  if constexpr (std::is_floating_point_v<M>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(b);
  }
  return kMaximum ? a > b : a < b;
}

// The least finite number.
template <class T>
T LowestElement() {
  if constexpr (kIsNarrowFloat<T>) {
    static const T lowest = [] {
      auto code = std::numeric_limits<typename T::Bits>::max();
      while (!std::isfinite(static_cast<float>(T::FromBits(code)))) --code;
      return T::FromBits(code);
    }();
    return lowest;
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// The identity of a maximum: negative infinity, or the least number of a dtype without it.
template <class T>
T IdentityOfMax() {
  if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<T>::lowest();
  } else {
    using M = decltype(Element<T>::Load(T()));
    const T least = Element<T>::Store(-std::numeric_limits<M>::infinity());
    return std::isinf(Element<T>::Load(least)) ? least : LowestElement<T>();
  }
}

}  // namespace iropt::eval
