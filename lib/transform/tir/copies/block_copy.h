// A copy between buffers by a block that is annotated with auto_copy, for the rules of tir.LowerAutoCopy.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// The extents of the loops over threadIdx.x, .y and .z in a function; nothing if a dimension is not used.
using ThreadExtents = std::array<std::optional<int64_t>, 3>;
inline constexpr std::array<std::string_view, 3> kThreadTags = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

inline constexpr int64_t kThreadsOfWarp = 32;

struct BlockCopy {
  ThreadExtents threads;
  std::vector<const tir::For*> outer_loops;  // around the block, outermost first
  const tir::BufferRegion* read;
  const tir::BufferRegion* write;
  int64_t vector_bytes = 1;  // of a vectorized access
  bool local_stage = false;  // copies from global to shared memory go through local memory

  int64_t data_bits() const { return read->buffer->dtype.bits; }  // of an element
};

// Allocations and paddings that a rule asks of the block, besides another body.
struct CopyBuffers {
  struct Padding {
    const tir::Buffer* buffer;
    int64_t unit;  // the elements that padding must be a multiple of
  };
  std::vector<const tir::Buffer*> allocs;
  std::vector<Padding> paddings;
};

}  // namespace iropt
