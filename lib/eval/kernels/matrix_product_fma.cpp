#include "matrix_product_fma.h"

#ifdef IROPT_HAVE_FMA_PRODUCT

#define IROPT_EIGEN_NAMESPACE EigenFma
#include "eigen_product.h"

namespace iropt::eval {

void MultiplyWithFma(const MatrixProduct<float>& m) { MultiplyByEigen(m); }
void MultiplyWithFma(const MatrixProduct<double>& m) { MultiplyByEigen(m); }

}  // namespace iropt::eval

#endif
