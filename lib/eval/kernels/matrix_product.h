// Matrix products in memory, row-major.
#pragma once

#include <cstdint>

#include "numeric.h"

namespace iropt::eval {

// c = a b, with `rows` x `depth` elements in a and `depth` x `columns` in b; the distance of neighbouring rows is given
// for each.
template <class T>
struct MatrixProduct {
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  const T* a = nullptr;
  int64_t a_stride = 0;
  const T* b = nullptr;
  int64_t b_stride = 0;
  T* c = nullptr;
  int64_t c_stride = 0;
};

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

// Computed by Eigen, in float32 or float64: the order and the rounding of the sums depend on the library and on whether
// the processor has fused multiply-add.
void MultiplyByLibrary(const MatrixProduct<float>& m);
void MultiplyByLibrary(const MatrixProduct<double>& m);

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
