// What a block reads and writes, for blocks whose text does not say it.
#pragma once

#include <vector>

#include "iropt/ir/module.h"

namespace iropt::text {

struct BlockAccesses {
  std::vector<const tir::BufferRegion*> reads;
  std::vector<const tir::BufferRegion*> writes;
  // A buffer whose pointer is passed on, so that nobody can tell what happens to it; null where there is none.
  const tir::Buffer* opaque = nullptr;
};

// The regions of buffers from outside the block (those with ids below `first_id`; `buffers` are all that there are), in
// order of appearance. Indices that depend on loops inside the block cover the range of these loops. Blocks inside
// count with the regions that they state. What a block with an initialization writes is no read of it. O(nodes) plus
// simplification.
BlockAccesses FindBlockAccesses(const tir::Block& block, uint32_t first_id, std::span<const tir::Buffer* const> buffers,
                                Workspace& workspace);

}  // namespace iropt::text
