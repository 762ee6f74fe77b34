// The definitions of buffers: parameters, and allocations of blocks.
#pragma once

#include "schedule/primitive_call.h"

namespace iropt::schedule {

// The buffer of an access of a block.
struct BufferSite {
  const tir::Buffer* buffer = nullptr;
  Ref* scope = nullptr;   // the block that allocates it, or the one around the block
  bool is_param = false;  // of the function
};
// Refused for buffers that are matched to a region of another one.
Result<BufferSite> FindBufferSite(State& state, Ref* block, int64_t index, Side side);

// Replaces the buffer of a parameter, not its uses.
void ReplaceParamBuffer(State& state, const tir::Buffer* buffer, const tir::Buffer* new_buffer);

}  // namespace iropt::schedule
