// The reference of kernel tests: tensors as lists of doubles, indexed by formulas that are written for the test.
#pragma once

#include <cmath>
#include <functional>
#include <random>

#include "eval_test_util.h"

namespace iropt {

// A tensor of the reference. Small whole numbers are exact in every dtype, and so are their sums and products.
struct Ref {
  Dims shape;
  std::vector<double> values;

  Ref() = default;
  explicit Ref(Dims dims) : shape(std::move(dims)), values(static_cast<size_t>(Count()), 0.0) {}

  int64_t Count() const {
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    return count;
  }
  size_t Place(const Dims& index) const {
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      REQUIRE(index[d] >= 0);
      REQUIRE(index[d] < shape[d]);
      place = place * shape[d] + index[d];
    }
    return static_cast<size_t>(place);
  }
  double& at(const Dims& index) { return values[Place(index)]; }
  double at(const Dims& index) const { return values[Place(index)]; }
  bool Has(const Dims& index) const {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape[d]) return false;
    }
    return true;
  }
  Tensor As(DataType dtype) const { return T(dtype, shape, values); }

  // f(index) at every index.
  static Ref Of(Dims shape, const std::function<double(const Dims&)>& f) {
    Ref result(std::move(shape));
    for (int64_t i = 0; i < result.Count(); ++i) result.values[static_cast<size_t>(i)] = f(result.IndexOf(i));
    return result;
  }
  Dims IndexOf(int64_t place) const {
    Dims index(shape.size());
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
    return index;
  }
  void ForEach(const std::function<void(const Dims&)>& f) const {
    for (int64_t i = 0; i < Count(); ++i) f(IndexOf(i));
  }
  // Whole numbers from `low` to `high`, the same in every run.
  static Ref Whole(Dims shape, unsigned seed, int low = 0, int high = 3) {
    std::mt19937 random(seed);
    return Of(std::move(shape),
              [&](const Dims&) { return low + static_cast<double>(random() % static_cast<unsigned>(high - low + 1)); });
  }
  // Fractions between -1 and 1 that every dtype of 16 bits and more holds exactly.
  static Ref Fractions(Dims shape, unsigned seed) {
    std::mt19937 random(seed);
    return Of(std::move(shape), [&](const Dims&) { return static_cast<double>(random() % 65) / 32 - 1; });
  }
  // Dimension i of the result is dimension axes[i].
  Ref Permuted(const std::vector<size_t>& axes) const {
    Dims dims;
    for (const size_t axis : axes) dims.push_back(shape[axis]);
    return Of(dims, [&](const Dims& index) {
      Dims old(axes.size());
      for (size_t i = 0; i < axes.size(); ++i) old[axes[i]] = index[i];
      return at(old);
    });
  }
};

inline std::vector<DataType> FloatTypes() {
  return {DataType::Float(16), DataType::BFloat(16), DataType::Float(32), DataType::Float(64)};
}
// The distance of 1 from its neighbour.
inline double Precision(DataType dtype) {
  if (dtype.code == TypeCode::kBFloat) return std::ldexp(1, -7);
  if (dtype.code == TypeCode::kFloat8E4M3) return std::ldexp(1, -3);
  if (dtype.code == TypeCode::kFloat8E5M2) return std::ldexp(1, -2);
  return std::ldexp(1, dtype.bits == 16 ? -10 : dtype.bits == 32 ? -23 : -52);
}

inline void CheckExact(const NDArray& found, const Ref& expected, DataType dtype) {
  CHECK(found.dtype() == dtype);
  CHECK(ShapeOf(found) == expected.shape);
  CHECK(Elements(found) == expected.values);
}

// Equal up to this number of roundings relative to 1 or their magnitude.
inline void CheckClose(const NDArray& found, const Ref& expected, double roundings = 16) {
  CHECK(ShapeOf(found) == expected.shape);
  const std::vector<double> values = Elements(found);
  REQUIRE(values.size() == expected.values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double allowed = roundings * Precision(found.dtype()) * std::max(1.0, std::fabs(expected.values[i]));
    INFO("element " << i << ": " << values[i] << ", expected " << expected.values[i]);
    CHECK(std::fabs(values[i] - expected.values[i]) <= allowed);
  }
}

inline const Attr* Text(std::string_view text) { return StrAttr::Get(text); }
inline const Attr* Number(double value) { return FloatAttr::Get(value); }
inline const Attr* Int(int64_t value) { return IntAttr::Get(value); }
inline const Attr* IntItems(const std::vector<int64_t>& values) {
  std::vector<const Attr*> items;
  for (const int64_t value : values) items.push_back(IntAttr::Get(value));
  return ListAttr::Get(items);
}
inline const Attr* DType(DataType dtype) { return DTypeAttr::Get(dtype); }

}  // namespace iropt
