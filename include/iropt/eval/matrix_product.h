// Matrix products in memory, row-major.
#pragma once

#include <cstdint>

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

// Computed by Eigen, in float32 or float64: the order and the rounding of the sums depend on the library and on whether
// the processor has fused multiply-add.
void MultiplyByLibrary(const MatrixProduct<float>& m);
void MultiplyByLibrary(const MatrixProduct<double>& m);

}  // namespace iropt::eval
