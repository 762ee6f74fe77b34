// The weights of a function that can be quantized.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"
#include "quantized_matrix.h"

namespace iropt {

// A call of R.matmul or of a convolution whose weight is a constant.
struct WeightSite {
  const Call* call = nullptr;
  const Expr* data = nullptr;  // the operand that the weight is applied to
  WeightMatrix weight;
  bool is_matmul = false;
  const Var* result = nullptr;  // null if it is not bound
  std::string name;             // of the weight: that of its tensor in a file, else of the variable of the result
};

// A weight that stays as it is.
struct KeptWeight {
  const Call* call = nullptr;
  std::string name;
  std::string reason;
};

struct WeightSites {
  std::vector<WeightSite> sites;  // in the order of the program
  std::vector<KeptWeight> kept;
};

struct SiteLimits {
  bool convolutions = false;
  int64_t min_elements = 0;  // smaller weights are not mentioned
  // Returns whether the user wants that the weight of this name, or that of the variable, stays.
  FunctionRef<bool(std::string_view name)> is_kept;
};

// O(nodes).
WeightSites FindWeightSites(const Function& function, uint32_t num_vars, const SiteLimits& limits);

}  // namespace iropt
