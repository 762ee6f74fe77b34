// The matrix product by Eigen, compiled once for each supported instruction set. Each source that includes this
// defines IROPT_EIGEN_NAMESPACE, so that the linker does not merge code for different instruction sets.
#define Eigen IROPT_EIGEN_NAMESPACE
#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#undef Eigen

#include "matrix_product.h"

namespace iropt::eval {
namespace {

template <class T>
void MultiplyByEigen(const MatrixProduct<T>& m) {
  namespace eigen = IROPT_EIGEN_NAMESPACE;
  using Matrix = eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>;
  using Stride = eigen::OuterStride<>;
  const eigen::Map<const Matrix, 0, Stride> a(m.a, m.rows, m.depth, Stride(m.a_stride));
  const eigen::Map<const Matrix, 0, Stride> b(m.b, m.depth, m.columns, Stride(m.b_stride));
  eigen::Map<Matrix, 0, Stride> c(m.c, m.rows, m.columns, Stride(m.c_stride));
  c.noalias() = a * b;
}

}  // namespace
}  // namespace iropt::eval
