// CombineParallelMatmul with a condition, for callers that decide which products are combined.
#pragma once

#include <functional>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/pass/pass.h"

namespace iropt {

// Products with one left factor that can become one.
struct ParallelProducts {
  const Var* left = nullptr;
  std::vector<const Expr*> factors = {};
  std::vector<const Expr*> biases = {};  // one for each product, or none
};

// Returns whether the products of the function become one.
using ParallelProductsCheck =
    std::function<bool(const Function& function, const FunctionPassContext& context, const ParallelProducts& products)>;

// `check` may be null.
Pass CreateCombineParallelMatmul(const PassInfo& info, const ParallelProductsCheck& check);

}  // namespace iropt
