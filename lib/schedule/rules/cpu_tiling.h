// The choice of reductions that are computed in tiles of vector registers, and of the tiles that cost least.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpu_blocks.h"

namespace iropt::schedule {

// Some values of the axis of the rows, times some vectors.
struct Tile {
  int64_t rows = 1, vectors = 1, lanes = 1;
  bool is_vector = true;  // otherwise the code generator makes vectors of the lanes
  int64_t rest = 0;       // not 0: the last vector has only so many lanes

  int64_t width() const { return vectors * lanes - (rest > 0 ? lanes - rest : 0); }
};

// A reduction and its tile.
struct TiledBlock {
  Name block;
  std::vector<Operand> operands;
  std::vector<size_t> spatial, reduction;  // of the loops
  std::vector<std::optional<int64_t>> extents;
  Tile tile;
  // Not 0: weights are read once. Each part of the reduction, of so many values of its last axis, runs for all tiles,
  // which are in the first cache.
  int64_t chunk = 0;
  // Parts of the first axis of the result, each for all weights: what it reads stays in a cache, of one thread.
  int64_t blocks = 1;
  // The last vectors have lanes after the end of their axis, which weights have room for and whose results are
  // dropped.
  bool is_padded = false;
  // The tensor intrinsic that adds four products of bytes to each lane, or nothing.
  std::string dots;
  // The steps of the last axis of the reduction whose weights are in one word: they are unrolled.
  int64_t word = 1;
  bool turns_loops = false;  // weights are in the inner one of the loops over tiles, others in the outer one

  size_t vector_loop() const { return spatial.back(); }
  // Nothing if there is only the axis of the vectors.
  std::optional<size_t> row_loop() const {
    return spatial.size() > 1 ? std::optional(spatial[spatial.size() - 2]) : std::nullopt;
  }
};

// The tile of a block that is a reduction with a data parallel fastest axis; nothing if it cannot be computed so.
// `func` says which operands are constants.
std::optional<TiledBlock> FindTile(RuleSchedule& sch, const BlockInfo& info, const PrimFunc& func,
                                   const CpuFacts& facts);

// Returns whether the operand is read from a copy in the layout of the tile.
bool IsPacked(const Operand& operand, const TiledBlock& tiled, bool is_free);
// The tensor intrinsic that computes a vector of the block, of products of bytes without and with a sign, the second of
// which are copied; nothing if there is none.
std::string FindDots(const tir::Block& block, const TiledBlock& tiled, const PrimFunc& func, const CpuFacts& facts);
// The steps of the last axis of the reduction that such an intrinsic adds.
inline constexpr int64_t kDotSteps = 4;

// Returns whether the buffer is a parameter that may get another layout at compile time.
bool IsLayoutFree(const PrimFunc& func, const tir::Buffer* buffer);
// Returns how often each element of an operand without rows is read: once for each tile of rows and each value of other
// axes that it does not depend on.
int64_t ReadsOf(const TiledBlock& tiled, const Operand& operand);
// Copying a weight in each call is worth it if it is read so often: what is not copied is read in steps of rows, which
// no prefetcher follows from page to page, or reduced by rows, which takes several times as long.
inline constexpr int64_t kManyReads = 4;

}  // namespace iropt::schedule
