// Matrix products for x86-64 processors with AVX2 and fused multiply-add. Must only be called on such.
#pragma once

#include "matrix_product.h"

namespace iropt::eval {

void MultiplyWithFma(const MatrixProduct<float>& m);
void MultiplyWithFma(const MatrixProduct<double>& m);

}  // namespace iropt::eval
