#include "matrix_product.h"

#define IROPT_EIGEN_NAMESPACE EigenPlain
#include "eigen_product.h"
#include "matrix_product_fma.h"

namespace iropt::eval {

namespace {

template <class T>
void MultiplyBest(const MatrixProduct<T>& m) {
#ifdef IROPT_HAVE_FMA_PRODUCT
  static const bool has_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) return MultiplyWithFma(m);
#endif
  MultiplyByEigen(m);
}

}  // namespace

void MultiplyByLibrary(const MatrixProduct<float>& m) { MultiplyBest(m); }
void MultiplyByLibrary(const MatrixProduct<double>& m) { MultiplyBest(m); }

}  // namespace iropt::eval
