// Numbers of any dtype as long doubles, which hold every integer of 64 bits and every float exactly, and their
// conversion to a dtype: an implementation of rounding and wrapping that is independent of the library.
#pragma once

#include <cmath>
#include <limits>

#include "eval_test_util.h"

namespace iropt {

static_assert(std::numeric_limits<long double>::digits >= 64);

using Exact = long double;
using Whole = __int128;

inline constexpr Exact kExactNan = std::numeric_limits<Exact>::quiet_NaN();
inline constexpr Exact kExactInf = std::numeric_limits<Exact>::infinity();

// The parameters of a floating-point format.
struct FloatFormat {
  int digits;        // of the significand, with the leading one
  int min_exponent;  // of the least normal number
  Exact greatest;
  bool has_inf;
};
inline FloatFormat FormatOf(DataType dtype) {
  if (dtype == DataType::Float(64)) return {53, -1022, std::numeric_limits<double>::max(), true};
  if (dtype == DataType::Float(32)) return {24, -126, std::numeric_limits<float>::max(), true};
  if (dtype == DataType::Float(16)) return {11, -14, 65504, true};
  if (dtype == DataType::BFloat(16)) return {8, -126, std::ldexp(Exact{255}, 120), true};
  if (dtype.code == TypeCode::kFloat8E5M2) return {3, -14, 57344, true};
  return {4, -6, 448, false};
}

// To the nearest number of the format, of two the even one.
inline Exact RoundedTo(DataType dtype, Exact value) {
  const FloatFormat format = FormatOf(dtype);
  if (std::isnan(value) || value == 0) return value;
  if (std::isinf(value)) return format.has_inf ? value : kExactNan;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const Exact unit = std::ldexp(Exact{1}, exponent - format.digits + 1);
  const Exact rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) <= format.greatest) return rounded;
  return format.has_inf ? std::copysign(kExactInf, value) : kExactNan;
}

// The number wrapped around to the integer dtype.
inline Exact WrappedTo(DataType dtype, Whole value) {
  if (dtype.is_bool()) return value != 0 ? 1 : 0;
  const Whole modulus = static_cast<Whole>(1) << dtype.bits;
  value %= modulus;
  if (value < 0) value += modulus;
  if (dtype.is_int() && value >= modulus / 2) value -= modulus;
  return static_cast<Exact>(value);
}

inline Whole LeastOf(DataType dtype) { return dtype.is_int() ? -(static_cast<Whole>(1) << (dtype.bits - 1)) : 0; }
inline Whole GreatestOf(DataType dtype) {
  return (static_cast<Whole>(1) << (dtype.is_int() ? dtype.bits - 1 : dtype.bits)) - 1;
}

// Numbers at the limits of a dtype, and ordinary ones.
inline std::vector<Exact> Interesting(DataType dtype) {
  if (dtype.is_bool()) return {0, 1};
  std::vector<Exact> numbers{0, 1, 2, 3, 7, 12};
  if (dtype.is_integer()) {
    for (const Whole x : {GreatestOf(dtype), GreatestOf(dtype) - 1, LeastOf(dtype) + 1, LeastOf(dtype)})
      numbers.push_back(static_cast<Exact>(x));
    if (dtype.is_int()) numbers.insert(numbers.end(), {-1, -2, -7});
    return numbers;
  }
  const FloatFormat format = FormatOf(dtype);
  for (const Exact x :
       {Exact{0}, Exact{0.5}, Exact{1}, Exact{1.5}, Exact{2.5}, RoundedTo(dtype, 0.1L), format.greatest,
        std::ldexp(Exact{1}, format.min_exponent), std::ldexp(Exact{1}, format.min_exponent - format.digits + 1)}) {
    numbers.insert(numbers.end(), {x, -x});
  }
  numbers.push_back(kExactNan);
  if (format.has_inf) numbers.insert(numbers.end(), {kExactInf, -kExactInf});
  return numbers;
}

// A tensor of numbers that the dtype holds.
inline Tensor ExactTensor(DataType dtype, Dims shape, const std::vector<Exact>& values) {
  std::shared_ptr<NDArray> tensor = NDArray::Make(dtype, shape);
  REQUIRE(tensor->num_elements() == static_cast<int64_t>(values.size()));
  DispatchElement(dtype, [&]<class E>(std::type_identity<E>) {
    for (size_t i = 0; i < values.size(); ++i) {
      E& element = tensor->MutableAs<E>()[i];
      if constexpr (kIsNarrowFloat<E>) {
        element = E(static_cast<double>(values[i]));
      } else if constexpr (std::is_same_v<E, BoolByte>) {
        element = {static_cast<uint8_t>(values[i] != 0)};
      } else {
        element = static_cast<E>(values[i]);
      }
    }
  });
  return tensor;
}
inline Tensor ExactScalar(DataType dtype, Exact value) { return ExactTensor(dtype, {}, {value}); }

inline std::vector<Exact> ExactElements(const NDArray& tensor) {
  std::vector<Exact> values;
  DispatchElement(tensor.dtype(), [&]<class E>(std::type_identity<E>) {
    for (const E x : tensor.As<E>()) values.push_back(static_cast<Exact>(Element<E>::Load(x)));
  });
  return values;
}

// The same number: NaN is NaN, and zeros have signs.
inline bool Same(Exact a, Exact b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
// The same or a neighbour in the format: functions of the C library may be off by one.
inline bool SameOrNext(DataType dtype, Exact a, Exact b) {
  if (Same(a, b) || (a == 0 && b == 0)) return true;
  const FloatFormat format = FormatOf(dtype);
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) return false;
  const Exact least = std::ldexp(Exact{1}, format.min_exponent);
  const int exponent = std::ilogb(std::max({std::fabs(a), std::fabs(b), least}));
  return std::fabs(a - b) <= std::ldexp(Exact{1}, exponent - format.digits + 1);
}

}  // namespace iropt
