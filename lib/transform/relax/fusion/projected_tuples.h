// Tuples that functions take apart again, and use in no other way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Finds the tuples of a function of which only items are used, under all names that they have there. O(nodes).
class ProjectedTuples {
 public:
  // `num_vars` is greater than the numbers of all variables in the function.
  ProjectedTuples(const Function& function, size_t num_vars);

  // Returns whether items are taken out of the tuple, and it is not returned, passed on or put into another one.
  bool IsOnlyProjected(const Var* tuple) const;

 private:
  class Collector;
  enum Use : uint8_t { kProjected = 1, kOther = 2 };

  uint32_t Root(uint32_t var) const;

  std::vector<uint32_t> parent_;  // by Var::id: another name of the same tuple, the number itself for the first
  std::vector<uint8_t> uses_;     // by Var::id of a root: the uses under all of its names
};

}  // namespace iropt
