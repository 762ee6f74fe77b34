// Makes functions of what builders hold: finds out what blocks read and write where they do not say it.
#pragma once

#include <span>
#include <vector>

#include "iropt/ir/tir/builder.h"

namespace iropt {

// A block whose accesses cannot be found out, because it passes on the pointer of a buffer.
struct OpaqueAccess {
  const tir::Block* block;
  const tir::Buffer* buffer;
};

// Fills in the regions that the blocks, which are all under `body`, do not state: what they do to the buffers of the
// parameters, and to those that are allocated, declared or matched around them. Blocks inside are completed before
// those around. The root block of a function states nothing. Gives the blocks that must state their regions themselves.
// O(nodes), plus the simplification of the regions.
std::vector<OpaqueAccess> CompleteBlocks(std::span<const tir::Buffer* const> param_buffers, const tir::Stmt* body,
                                         std::span<const tir::UnstatedBlock> blocks, Workspace& workspace);

// Closes all statements, completes the blocks and makes the function. A block that must state its regions is a bug.
const PrimFunc* CompletePrimFunc(tir::FuncBuilder& builder);

}  // namespace iropt
