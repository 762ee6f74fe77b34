#include "iropt/runtime/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "iropt/ir/narrow_element.h"
#include "iropt/ir/number_format.h"

namespace iropt {

Tolerance Tolerance::Of(DataType dtype) {
  if (!dtype.is_floating()) return {};
  if (dtype.bits >= 64) return {1e-8, 1e-9};
  if (dtype.bits >= 32) return {2e-4, 2e-5};
  if (dtype == DataType::Float(16)) return {2e-2, 2e-2};
  if (dtype.bits >= 16) return {1e-1, 1e-1};
  // Rounding one result to 2 bits of mantissa may change it by an eighth.
  return {5e-1, 5e-1};
}

DataType LessPrecise(DataType a, DataType b) { return Tolerance::Of(b).relative > Tolerance::Of(a).relative ? b : a; }

namespace {

// The tolerance of a dtype is meant for about so many operations one after the other.
constexpr double kUsualAccumulation = 4096;
// Results that are much smaller are often differences of larger numbers.
constexpr double kLeastMagnitude = 0.1;
// The units in the last place of numbers below the least normal one that may differ.
constexpr double kDenormalUnits = 8;
// Sums of a few of them are greater by this factor.
constexpr double kLargestDenormal = 16;

// The median of the absolute values, without zeros and what is not finite; 1 if there is nothing else.
double MagnitudeOf(const NDArray& tensor) {
  if (const auto wide = Widened(tensor)) return MagnitudeOf(*wide);
  std::vector<double> values;
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T& element : tensor.As<T>()) {
      const double value = std::abs(static_cast<double>(Element<T>::Load(element)));
      if (value != 0 && std::isfinite(value)) values.push_back(value);
    }
  });
  if (values.empty()) return 1;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Returns whether two elements are equal, floats up to the tolerance.
template <class M>
bool Agree(M a, M b, Tolerance tolerance) {
  if (a == b) return true;
  if constexpr (std::is_floating_point_v<M>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    const double x = a;
    const double y = b;
    return std::isfinite(x) && std::isfinite(y) &&
           std::abs(x - y) <= tolerance.absolute + tolerance.relative * std::abs(y);
  }
  return false;
}

template <class T>
void CompareElements(std::span<const T> got, std::span<const T> expected, Tolerance tolerance, Comparison& result) {
  for (size_t i = 0; i < got.size(); ++i) {
    const MathOf<T> a = Element<T>::Load(got[i]);
    const MathOf<T> b = Element<T>::Load(expected[i]);
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    if (std::isfinite(x) && std::isfinite(y) && a != b) {
      result.max_absolute = std::max(result.max_absolute, std::abs(x - y));
      if (y != 0) result.max_relative = std::max(result.max_relative, std::abs((x - y) / y));
    }
    if (std::isnan(x) != std::isnan(y)) ++result.num_nan_mismatches;
    if (Agree(a, b, tolerance)) continue;
    if (result.num_differing++ == 0) {
      result.first = static_cast<int64_t>(i);
      result.got = x;
      result.expected = y;
    }
  }
}

// The indices of an element.
std::vector<int64_t> IndicesOf(int64_t place, std::span<const int64_t> shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    indices[i] = place % shape[i];
    place /= shape[i];
  }
  return indices;
}

std::string TypeText(const NDArray& tensor) {
  return fmt::format("{} of shape ({})", tensor.dtype().ToString(), fmt::join(tensor.shape(), ", "));
}

}  // namespace

Tolerance Tolerance::For(const NDArray& expected, DataType dtype, double accumulation) {
  Tolerance tolerance = Of(dtype);
  if (!dtype.is_floating()) return tolerance;
  const double growth = std::sqrt(std::max(accumulation / kUsualAccumulation, 1.0));
  tolerance.relative *= growth;
  tolerance.absolute *= growth * std::max(MagnitudeOf(expected), kLeastMagnitude);
  return tolerance;
}

std::optional<Tolerance> Tolerance::ForDenormals(const NDArray& expected, DataType dtype, double accumulation) {
  const NumberFormat* format = FormatOfDType(dtype);
  const double least = format ? LeastNormalOf(*format) : std::numeric_limits<double>::min();
  if (!dtype.is_floating() || MagnitudeOf(expected) >= kLargestDenormal * least) return std::nullopt;
  const double unit = format ? LeastPositiveOf(*format) : std::numeric_limits<double>::denorm_min();
  Tolerance tolerance = For(expected, dtype, accumulation);
  tolerance.absolute = tolerance.relative / Of(dtype).relative * kDenormalUnits * unit;
  return tolerance;
}

Comparison CompareTensors(const NDArray& got, const NDArray& expected, Tolerance tolerance) {
  Comparison result;
  result.num_elements = got.num_elements();
  result.same_type = got.dtype() == expected.dtype() && std::ranges::equal(got.shape(), expected.shape());
  if (!result.same_type) return result;
  if (const auto wide = Widened(got)) return CompareTensors(*wide, *Widened(expected), tolerance);
  DispatchElement(got.dtype(), [&]<class T>(std::type_identity<T>) {
    CompareElements(got.As<T>(), expected.As<T>(), tolerance, result);
  });
  return result;
}

std::string DescribeComparison(const Comparison& comparison, const NDArray& got, const NDArray& expected) {
  if (!comparison.same_type) return fmt::format("is {}, expected {}", TypeText(got), TypeText(expected));
  std::string text;
  if (comparison.num_differing != 0) {
    text = fmt::format("{} of {} elements differ, first [{}]: {}, expected {}; ", comparison.num_differing,
                       comparison.num_elements, fmt::join(IndicesOf(comparison.first, got.shape()), ", "),
                       comparison.got, comparison.expected);
  }
  text += fmt::format("max absolute error {:.3g}, max relative error {:.3g}", comparison.max_absolute,
                      comparison.max_relative);
  if (comparison.num_nan_mismatches != 0) text += fmt::format(", {} NaN mismatches", comparison.num_nan_mismatches);
  return text;
}

}  // namespace iropt
