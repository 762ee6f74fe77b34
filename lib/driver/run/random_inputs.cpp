#include "random_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "iropt/ir/element.h"

namespace iropt {

namespace {

// Tensors of rank 2 and higher have a variance of 1 / fan-in (LeCun initialization), so that activations neither
// overflow nor vanish. Vectors are in [0.5, 1.5), so that they are valid scales and variances.
double OrdinaryReal(RandomSource& random, std::span<const int64_t> dims) {
  if (dims.size() < 2) return 0.5 + random.Uniform();
  double fan_in = 1;
  for (size_t i = 1; i < dims.size(); ++i) fan_in *= static_cast<double>(std::max<int64_t>(dims[i], 1));
  return (2 * random.Uniform() - 1) * std::sqrt(3 / fan_in);
}

// The square of it, added up a few times, is still finite in the format.
double LargeReal(DataType dtype) {
  if (dtype.bits < 16) return 2;
  return dtype.bits < 32 ? 16 : 100;
}

double SpecialReal(RandomSource& random, DataType dtype) {
  switch (random.Next() % 8) {
    case 0: return 0;
    case 1: return -0.0;
    case 2: return LargeReal(dtype);
    case 3: return -LargeReal(dtype);
    case 4: return 1;
    case 5: return -1;
    default: return 4 * random.Uniform() - 2;
  }
}

double NonFiniteReal(RandomSource& random, std::span<const int64_t> dims) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (random.Next() % 24) {
    case 0: return std::numeric_limits<double>::quiet_NaN();
    case 1: return kInfinity;
    case 2: return -kInfinity;
    default: return OrdinaryReal(random, dims);
  }
}

double RandomReal(RandomSource& random, DataType dtype, std::span<const int64_t> dims, InputValues values) {
  switch (values) {
    case InputValues::kOrdinary: return OrdinaryReal(random, dims);
    case InputValues::kSpecial: return SpecialReal(random, dtype);
    case InputValues::kNonFinite: return NonFiniteReal(random, dims);
  }
  return 0;
}

int64_t RandomInteger(RandomSource& random, DataType dtype, IntegerRange range) {
  const int64_t min = dtype.is_uint() ? std::max<int64_t>(range.min, 0) : range.min;
  return min + static_cast<int64_t>(random.Next() % static_cast<uint64_t>(range.max - min + 1));
}

}  // namespace

RandomSource RandomSourceOf(const EntryInput& input, uint64_t seed) {
  return RandomSource(HashCombine(seed, HashString(input.name)));
}

Tensor MakeRandomTensor(DataType dtype, std::span<const int64_t> dims, RandomSource random,
                        const RandomOptions& options) {
  const std::shared_ptr<NDArray> tensor = NDArray::Make(dtype, dims);
  DispatchElement(dtype, [&]<class T>(std::type_identity<T>) {
    for (T& element : tensor->MutableAs<T>()) {
      if constexpr (std::is_floating_point_v<MathOf<T>>) {
        element = Element<T>::Store(static_cast<MathOf<T>>(RandomReal(random, dtype, dims, options.values)));
      } else {
        element = Element<T>::Store(static_cast<MathOf<T>>(RandomInteger(random, dtype, options.integers)));
      }
    }
  });
  return tensor;
}

}  // namespace iropt
