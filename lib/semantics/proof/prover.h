// Proofs that a function of a module computes the same before and after passes, for all inputs and all sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/ir/module.h"
#include "iropt/ir/ndarray.h"

namespace iropt::proof {

struct ProverOptions {
  bool reals = false;  // see Laws
  bool finite = false;
  bool may_overflow = true;           // indices of 32 bits in loops
  uint64_t solver_limit = 2'000'000;  // for one question to Z3, in its units
  NetworkMode mode = NetworkMode::Auto;
  // Of the sizes of a rule, and whether Z3 decides questions about indices, too.
  std::vector<const PrimExpr*> conditions = {};
  bool solves_indices = false;
};

struct Proof {
  bool is_proved = false;
  std::string reason = {};  // why not
  size_t num_terms = 0;
  size_t num_queries = 0;  // to Z3
};

// The parameters of both versions of a function, by numbers that are the same for the same values.
struct ParamNumbers {
  std::vector<size_t> before = {};
  std::vector<size_t> after = {};
  std::vector<std::pair<size_t, std::shared_ptr<const NDArray>>> constants;  // the values of some
};

Proof Prove(const Module& before, const Module& after, const GlobalVar& function, const ParamNumbers& params,
            const ProverOptions& options);

}  // namespace iropt::proof
