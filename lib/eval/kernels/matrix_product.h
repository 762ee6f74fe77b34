// Matrix products of all dtypes, see iropt/eval/matrix_product.h.
#pragma once

#include <cstdint>

#include "iropt/eval/matrix_product.h"
#include "numeric.h"

namespace iropt::eval {

// The plain version: each element sums its products in the order of `depth`, and every product and sum is rounded to T.
// Also the reference in tests.
template <class T>
void MultiplyPlain(const MatrixProduct<T>& m) {
  for (int64_t i = 0; i < m.rows; ++i) {
    T* row = m.c + i * m.c_stride;
    for (int64_t j = 0; j < m.columns; ++j) row[j] = ElementOf<T>(0);
    for (int64_t k = 0; k < m.depth; ++k) {
      const T x = m.a[i * m.a_stride + k];
      const T* y = m.b + k * m.b_stride;
      for (int64_t j = 0; j < m.columns; ++j) row[j] = AddElements(row[j], MulElements(x, y[j]));
    }
  }
}

// Products of fewer multiplications are always computed by the plain version.
inline constexpr int64_t kLibraryWork = 32 * 32 * 32;

// By the library if the product is big and of float32 or float64, otherwise by the plain version: integers wrap around
// and narrow floats are rounded at each step.
template <class T>
void Multiply(const MatrixProduct<T>& m) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const double work = static_cast<double>(m.rows) * static_cast<double>(m.depth) * static_cast<double>(m.columns);
    if (work >= kLibraryWork) return MultiplyByLibrary(m);
  }
  MultiplyPlain(m);
}

}  // namespace iropt::eval
