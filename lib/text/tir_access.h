// What a block reads and writes, for blocks whose text does not say it.
#pragma once

#include <unordered_map>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::text {

// Buffers by their pointers; looked up, never iterated.
using BuffersByPointer = std::unordered_map<const tir::Var*, const tir::Buffer*>;

struct BlockAccesses {
  std::vector<const tir::BufferRegion*> reads;
  std::vector<const tir::BufferRegion*> writes;
  // A buffer whose pointer is passed on, so that nobody can tell what happens to it; null where there is none.
  const tir::Buffer* opaque = nullptr;
};

// The regions of the buffers that are known outside the block, in order of appearance. Indices that depend on loops
// inside the block cover the range of these loops. Blocks inside count with the regions that they state. What a block
// with an initialization writes is no read of it. O(nodes) plus simplification.
BlockAccesses FindBlockAccesses(const tir::Block& block, const BuffersByPointer& known, Workspace& workspace);

}  // namespace iropt::text
