// Makes functions from builders: detects the regions that blocks read and write if they do not state them.
#pragma once

#include <span>
#include <vector>

#include "iropt/ir/tir/builder.h"

namespace iropt {

// A block whose accesses cannot be detected, because it passes on the pointer of a buffer.
struct OpaqueAccess {
  const tir::Block* block;
  const tir::Buffer* buffer;
};

// Fills in the regions that the blocks, which are all under `body`, do not state: their accesses to the buffers of the
// parameters, and to those that are allocated, declared or matched around them. Nested blocks are completed first. The
// root block of a function states no regions. Returns the blocks that must state their regions themselves. O(nodes),
// plus the simplification of the regions.
std::vector<OpaqueAccess> CompleteBlocks(std::span<const tir::Buffer* const> param_buffers, const tir::Stmt* body,
                                         std::span<const tir::IncompleteBlock> blocks, Workspace& workspace);

// Closes all statements, completes the blocks and makes the function. A block that must state its regions is a bug.
const PrimFunc* CompletePrimFunc(tir::FuncBuilder& builder);

}  // namespace iropt
