// Tensors of any numbers as vectors of doubles, for kernels that need not be fast.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "iropt/ir/narrow_element.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

// The elements; nullopt for an element type that cannot be converted.
std::optional<std::vector<double>> ToNumbers(const NDArray& array);
// A tensor of the dtype, whose elements are rounded to it. The numbers are as many as the shape says.
Tensor FromNumbers(DataType dtype, std::span<const int64_t> shape, std::span<const double> numbers,
                   const NarrowRounding& rounding = {});
// A tensor of int64.
Tensor FromInts(std::span<const int64_t> shape, std::span<const int64_t> numbers);

inline int64_t Product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace iropt::onnx
