#include "iropt/ir/narrow_element.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "iropt/ir/number_format.h"

namespace iropt {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The format of 4 or 8 bits; null for other dtypes.
const NumberFormat* NarrowFormatOf(DataType dtype) {
  return dtype.is_floating() && dtype.bits <= 8 ? FormatOfDType(dtype) : nullptr;
}

double LoadFloat(int code, DataType dtype, const NumberFormat& format) {
  const int sign = 1 << (dtype.bits - 1);
  if (!format.has_negative_zero && code == sign) return kNan;
  const int magnitude = code & (sign - 1);
  double number = kNan;
  if (magnitude < format.special) number = MagnitudeOf(magnitude, format);
  if (format.infinity != 0 && magnitude == format.infinity) number = kInfinity;
  return (code & sign) != 0 ? -number : number;
}

// Numbers that are halfway to the one after the greatest one are beyond the range.
int StoreFloat(double number, DataType dtype, const NumberFormat& format, bool saturates) {
  const int sign = std::signbit(number) ? 1 << (dtype.bits - 1) : 0;
  // Types without NaN have their greatest number for it.
  if (std::isnan(number))
    return format.nan != 0 ? format.nan | (format.has_negative_zero ? sign : 0) : format.special - 1;
  const double magnitude = std::abs(number);
  const int beyond = format.special;  // as if it were a number
  int low = 0;
  int high = beyond;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (MagnitudeOf(middle, format) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - MagnitudeOf(low, format);
  const double above = MagnitudeOf(high, format) - magnitude;
  int code = below < above || (below == above && low % 2 == 0) ? low : high;
  if (code == beyond) {
    if (saturates || format.nan == 0)
      code = beyond - 1;
    else
      code = format.infinity != 0 ? format.infinity : format.nan;
  }
  if (!format.has_negative_zero && (code == 0 || code == format.nan)) return code;
  return code | sign;
}

// A power of two: exponents from -127 up; the last code is NaN.
int StorePower(double number, const NarrowRounding& rounding) {
  constexpr int kPowerNan = 0xff;
  if (std::isnan(number)) return kPowerNan;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);  // from 0.5 up to 1, or 0
  using Mode = NarrowRounding::Mode;
  const bool up = rounding.mode == Mode::kUp ? fraction > 0.5 : rounding.mode == Mode::kNearest && fraction >= 0.75;
  const int code = exponent - 1 + 127 + (up ? 1 : 0);
  const bool is_great = std::isinf(number) || code >= kPowerNan;
  if (!is_great && fraction != 0 && code >= 0) return code;
  if (!rounding.saturates) return kPowerNan;
  return is_great ? kPowerNan - 1 : 0;
}

// The low bits, with the sign of the type.
int Reinterpreted(int bits, DataType dtype) {
  const int mask = (1 << dtype.bits) - 1;
  const bool is_negative = dtype.is_int() && (bits >> (dtype.bits - 1) & 1) != 0;
  return is_negative ? bits | ~mask : bits & mask;
}

}  // namespace

bool IsNarrow(DataType dtype) {
  if (dtype.lanes != 1 || dtype.is_bool()) return false;
  if (dtype.is_integer()) return dtype.bits == 2 || dtype.bits == 4;
  return dtype == DataType::Make(TypeCode::kFloat8E8M0, 8, 1) || NarrowFormatOf(dtype) != nullptr;
}

double LoadNarrow(std::byte code, DataType dtype) {
  const auto bits = std::to_integer<int>(code);
  if (dtype.is_integer()) return Reinterpreted(bits, dtype);
  if (dtype.code == TypeCode::kFloat8E8M0) return bits == 0xff ? kNan : std::ldexp(1.0, bits - 127);
  return LoadFloat(bits, dtype, *NarrowFormatOf(dtype));
}

std::byte StoreNarrow(double number, DataType dtype, const NarrowRounding& rounding) {
  int code = 0;
  if (dtype.is_integer()) {
    constexpr double kMost = 0x1p62;
    const bool fits = std::abs(number) < kMost;
    code = Reinterpreted(fits ? static_cast<int>(static_cast<int64_t>(number) & 0xff) : 0, dtype);
  } else if (dtype.code == TypeCode::kFloat8E8M0) {
    code = StorePower(number, rounding);
  } else {
    code = StoreFloat(number, dtype, *NarrowFormatOf(dtype), rounding.saturates);
  }
  return static_cast<std::byte>(static_cast<uint8_t>(code));
}

std::shared_ptr<const NDArray> Widened(const NDArray& tensor) {
  const DataType dtype = tensor.dtype();
  if (IsElementType(dtype) || !IsNarrow(dtype)) return nullptr;
  auto wide = NDArray::Make(dtype.is_integer() ? DataType::Int(32) : DataType::Float(32), tensor.shape());
  const auto widen = [&]<class T>(std::span<T> numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(LoadNarrow(tensor.data()[i], dtype));
  };
  dtype.is_integer() ? widen(wide->MutableAs<int32_t>()) : widen(wide->MutableAs<float>());
  return wide;
}

}  // namespace iropt
