// The parts of allocated buffers that a function accesses.
#pragma once

#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct AccessedRegion {
  const tir::Buffer* buffer;
  std::vector<tir::Range> region;
};

// Of the buffers that blocks or T.allocate allocate, in order of the ends of their scopes: the ranges that cover all
// accesses, by the loops inside of the allocation and the conditions around the accesses. The extents do not depend on
// loops. With `in_bound`, within the shape of the buffer. Buffers that have several views of their memory, or that are
// not accessed, are left out. O(nodes times nesting), plus the simplification of the ranges.
std::vector<AccessedRegion> CollectAccessedRegions(const PrimFunc& func, bool in_bound, Workspace& workspace);

}  // namespace iropt
