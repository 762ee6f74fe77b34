// Constants that are the same up to rounding.
#pragma once

#include <memory>
#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/support/lookup.h"

namespace iropt::proof {

// An element may differ by a part of itself, and of the terms whose sum it is: what cancels out in a sum leaves errors.
class NearConstants {
 public:
  // The first constant that is near to this one.
  std::shared_ptr<const NDArray> Find(const NDArray& array);
  // The sums of the absolute values of the terms of each element.
  std::shared_ptr<const NDArray> MagnitudesOf(const NDArray& array) const;
  void SetMagnitudes(const NDArray* array, std::shared_ptr<const NDArray> magnitudes);

 private:
  LookupMap<uint64_t, std::vector<std::shared_ptr<const NDArray>>> arrays_;  // by dtype and shape
  LookupMap<const NDArray*, std::shared_ptr<const NDArray>> magnitudes_;
};

}  // namespace iropt::proof
