// Proofs that the loops of two PrimFuncs compute the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "semantics/proof/prover.h"

namespace iropt::proof {

// For all contents of the buffers, and all sizes. Buffers do not overlap.
Proof ProveLoops(const PrimFunc& before, const PrimFunc& after, const ProverOptions& options);

// Names PrimFuncs by what they compute: the same name for functions that are equal up to names and attributes, and for
// those of one name in both modules whose loops are proved to compute the same.
class FunctionNames {
 public:
  explicit FunctionNames(const ProverOptions& options) : options_(options) {}

  std::string Of(const PrimFunc& function, std::string_view name);
  // Why functions of one name got several; empty if none did.
  const std::string& difference() const { return difference_; }

 private:
  struct Entry {
    const PrimFunc* function;
    std::string name;
    size_t number;
  };
  const ProverOptions options_;
  std::vector<Entry> entries_;
  size_t num_names_ = 0;
  std::string difference_;
};

}  // namespace iropt::proof
