#include "spread.h"

#include <algorithm>
#include <cmath>

#include "iropt/ir/element.h"

namespace iropt {

namespace {

// The changes of the inputs are a few out of many.
constexpr double kWidening = 8;

std::vector<double> ElementsOf(const NDArray& tensor) {
  std::vector<double> elements;
  elements.reserve(static_cast<size_t>(tensor.num_elements()));
  DispatchElement(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    for (const T element : tensor.As<T>()) elements.push_back(static_cast<double>(Element<T>::Load(element)));
  });
  return elements;
}

bool IsSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

Spread::Spread(const NDArray& output) {
  for (const double element : ElementsOf(output)) {
    const bool is_finite = std::isfinite(element);
    ranges_.push_back({element, element, is_finite, !is_finite, element});
  }
}

void Spread::Add(const NDArray& output) {
  const std::vector<double> elements = ElementsOf(output);
  is_unknown_ |= elements.size() != ranges_.size();
  for (size_t i = 0; i < std::min(elements.size(), ranges_.size()); ++i) {
    Range& range = ranges_[i];
    const double element = elements[i];
    if (!std::isfinite(element)) {
      range.has_other = true;
      range.other = element;
    } else {
      range.min = range.has_finite ? std::min(range.min, element) : element;
      range.max = range.has_finite ? std::max(range.max, element) : element;
      range.has_finite = true;
    }
  }
}

double Spread::RootMeanSquareWidth() const {
  double sum = 0;
  for (const Range& range : ranges_) {
    if (range.has_finite) sum += (range.max - range.min) * (range.max - range.min);
  }
  return ranges_.empty() ? 0 : std::sqrt(sum / static_cast<double>(ranges_.size()));
}

bool Spread::Covers(const NDArray& output, Tolerance tolerance, bool may_overflow) const {
  if (is_unknown_) return true;
  // A sum of large numbers that cancel out is a multiple of their precision: a few changes may leave it as it is.
  const double common = output.dtype().is_floating() ? RootMeanSquareWidth() : 0;
  const std::vector<double> elements = ElementsOf(output);
  if (elements.size() != ranges_.size()) return false;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Range& range = ranges_[i];
    const bool is_finite = std::isfinite(elements[i]);
    if (range.has_other && (range.has_finite || (may_overflow && is_finite))) continue;
    if (!is_finite || !range.has_finite) {
      if (range.has_finite || !IsSame(elements[i], range.other)) return false;
      continue;
    }
    const double slack = kWidening * std::max(range.max - range.min, common) + tolerance.absolute +
                         tolerance.relative * std::max(std::fabs(range.min), std::fabs(range.max));
    if (elements[i] < range.min - slack || elements[i] > range.max + slack) return false;
  }
  return true;
}

}  // namespace iropt
