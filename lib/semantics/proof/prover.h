// Proofs that a function of a module computes the same before and after passes, for all inputs and all sizes.
#pragma once

#include <cstdint>
#include <string>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/ir/module.h"

namespace iropt::proof {

struct ProverOptions {
  bool unsigned_zeros = false;  // see Laws
  bool reals = false;
  bool finite = false;
  uint64_t solver_limit = 2'000'000;  // for one question to Z3, in its units
  NetworkMode mode = NetworkMode::Auto;
};

struct Proof {
  bool is_proved = false;
  std::string reason = {};  // why not
  size_t num_terms = 0;
  size_t num_queries = 0;  // to Z3
};

Proof Prove(const Module& before, const Module& after, const GlobalVar& function, const ProverOptions& options);

}  // namespace iropt::proof
