// Simplifies transposed products, which gradients of matmul have.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/relax/type_inferrer.h"

namespace iropt {

// A transpose of a transpose becomes the tensor, and the transpose of a product the product of the transposed factors
// in the other order. Bindings that become dead stay. O(nodes).
//
//   lv = R.permute_dims(w, axes=[1, 0])
//   lv1 = R.matmul(x, lv)                    -->    lv3 = R.permute_dims(x, axes=[1, 0])
//   lv2 = R.permute_dims(lv1, axes=[1, 0])          lv2 = R.matmul(w, lv3)
const Function* SimplifyTransposedProducts(const Function* function, Workspace& workspace, TypeInferrer& inferrer);

}  // namespace iropt
