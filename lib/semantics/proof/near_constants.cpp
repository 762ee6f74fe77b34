#include "semantics/proof/near_constants.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>

#include "iropt/ir/element.h"
#include "iropt/support/hash.h"

namespace iropt::proof {

namespace {

constexpr double kRelative = 2e-6;

template <class T>
double RealOf(const T& element) {
  return static_cast<double>(Element<T>::Load(element));
}

template <class T>
bool AreNear(std::span<const T> a, std::span<const T> b, std::span<const T> of_a, std::span<const T> of_b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = RealOf(a[i]);
    const double y = RealOf(b[i]);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    // An infinity is near to nothing else.
    const double greater = std::max(RealOf(of_a[i]), RealOf(of_b[i]));
    const bool is_near = std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= kRelative * greater;
    if (!is_near || !std::isfinite(greater)) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const NDArray> NearConstants::MagnitudesOf(const NDArray& array) const {
  if (const auto* known = magnitudes_.Find(&array)) return *known;
  auto result = NDArray::Make(array.dtype(), array.shape());
  DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      std::ranges::transform(array.As<T>(), result->template MutableAs<T>().begin(), [](const T& element) {
        return Element<T>::Store(static_cast<MathOf<T>>(std::abs(Element<T>::Load(element))));
      });
    }
  });
  return result;
}

void NearConstants::SetMagnitudes(const NDArray* array, std::shared_ptr<const NDArray> magnitudes) {
  magnitudes_[array] = std::move(magnitudes);
}

std::shared_ptr<const NDArray> NearConstants::Find(const NDArray& array) {
  uint64_t key = array.dtype().raw();
  for (const int64_t dim : array.shape()) key = HashCombine(key, static_cast<uint64_t>(dim));
  std::vector<std::shared_ptr<const NDArray>>& others = arrays_[key];
  const std::shared_ptr<const NDArray> own = MagnitudesOf(array);
  for (const auto& other : others) {
    if (!std::ranges::equal(other->shape(), array.shape())) continue;
    const std::shared_ptr<const NDArray> of_other = MagnitudesOf(*other);
    bool is_near = false;
    DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<MathOf<T>>)
        is_near = AreNear(array.As<T>(), other->As<T>(), own->As<T>(), of_other->As<T>());
    });
    if (is_near) return other;
  }
  others.push_back(array.shared_from_this());
  return others.back();
}

}  // namespace iropt::proof
