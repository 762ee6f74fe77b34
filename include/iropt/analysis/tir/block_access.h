// Detects the regions of buffers that a block reads and writes from its body.
//
// After TVM's GetBlockAccessRegion (src/tir/analysis/block_access_region_detector.cc), except that the conditions of
// `if` around an access do not narrow its region.
#pragma once

#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Buffers by their data pointers.
using BuffersByPointer = LookupMap<const tir::Var*, const tir::Buffer*>;

// In order of appearance, one region per buffer.
struct BlockAccesses {
  std::vector<const tir::BufferRegion*> reads;
  std::vector<const tir::BufferRegion*> writes;
  // Whole buffers whose pointers are passed on, so that it is unknown which elements are read or written.
  std::vector<const tir::BufferRegion*> opaques;
};

// The accesses of the block to the buffers in `known`, which are those defined outside. Indices that depend on loops
// inside the block cover the ranges of these loops. Nested blocks count with the regions that they state. The buffers
// that a block with an initialization writes are not among its reads. Regions are made in the workspace. O(nodes), plus
// the simplification of the regions.
BlockAccesses GetBlockAccessRegion(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace);
// Returns the accesses as GetBlockAccessRegion does, but opaque buffers count as read and written: for blocks that must
// state all possible accesses.
BlockAccesses GetBlockReadWriteRegion(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace);

}  // namespace iropt
