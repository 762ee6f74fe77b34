// A function whose layers compute on dequantized integers.
#pragma once

#include <memory>

#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"
#include "quantized_matrix.h"
#include "static_plan.h"

namespace iropt {

// number = scale * (integer - zero).
struct TensorScale {
  float scale = 1;
  int zero = 0;
};

struct StaticScales {
  DataType dtype = DataType::UInt(8);               // of activations
  LookupMap<const Var*, TensorScale> tensors;       // of those that the plan has as like
  LookupMap<const Call*, QuantizedMatrix> weights;  // of the layers, by the calls of their sites
};

// Puts R.quantize and R.dequantize behind the tensors of the plan, and R.dequantize before the weights and biases of
// its layers. Null if a type cannot be inferred, which is reported.
const Function* RewriteStatically(const Function* function, const StaticPlan& plan, const StaticScales& scales,
                                  Workspace& workspace, TypeInferrer& inferrer);

}  // namespace iropt
