// The elements of shared memory that the threads of a warp access at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"
#include "transform/tir/copies/block_copy.h"

namespace iropt {

// By dimension, the indices of an access by the threads of a warp: for S[ty, tx * 4] with 2 x 16 threads {0, 1} and
// {0, 4, ..., 60}. Empty for a dimension that threads do not select, or select in an unknown way.
using WarpAccess = std::vector<std::vector<int64_t>>;

struct BufferAccesses {
  std::vector<WarpAccess> accesses;
  // The elements that padding must be a multiple of, so that stored vectors stay aligned.
  int64_t padding_unit = 1;
};
using AccessesByBuffer = LookupMap<const tir::Buffer*, BufferAccesses>;

// Adds the accesses under the statement to shared memory: loads, stores, and the tiles that instructions for tensor
// cores access. The warp is the one of the first threads, loops without threads are in their first iteration, and so
// are those around the statement. O(nodes), plus the simplification of the indices.
void CollectWarpAccesses(const tir::Stmt* stmt, const BlockCopy& copy, Workspace& workspace,
                         AccessesByBuffer& accesses);

}  // namespace iropt
