// The tensors that a statically quantized function has as integers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"
#include "weight_sites.h"

namespace iropt {

// A matmul or a convolution with what belongs to it: a constant bias, and an activation that ranges from 0 on.
struct StaticLayer {
  WeightSite site;
  const Call* add = nullptr;      // of the bias; null if there is none
  const NDArray* bias = nullptr;  // one number for each output
  const Var* sum = nullptr;       // the result with the bias
  const Var* result = nullptr;    // after the activation; the same without one
};

// The integers of a tensor: its own, or those of the tensor that it is moved from.
struct QuantizedTensor {
  const Var* var = nullptr;
  const Var* like = nullptr;   // has its scale and zero point; itself if it has its own
  bool is_activation = false;  // its operator, one whose result integers limit, is left out
};

struct StaticPlan {
  std::vector<StaticLayer> layers;
  std::vector<QuantizedTensor> tensors;  // in the order of the program
};

// The layers of the sites.
std::vector<StaticLayer> FindStaticLayers(const Function& function, uint32_t num_vars,
                                          const std::vector<WeightSite>& sites);

// The operands of the layers, and results of layers, sums, pools, concatenations and moves that lead from such tensors
// to such tensors. Results of the function stay floats.
StaticPlan PlanStaticQuantization(const Function& function, uint32_t num_vars, std::vector<StaticLayer> layers);

}  // namespace iropt
