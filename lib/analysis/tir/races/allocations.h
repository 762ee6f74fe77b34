// Where the memory of a function is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/tir/races/accesses.h"
#include "iropt/analysis/tir/thread_tags.h"

namespace iropt::races {

constexpr size_t kNoReduction = std::numeric_limits<size_t>::max();

StorageRank RankOf(const tir::Var* data);

// The depth of each allocation. What a block allocates is moved into the loops that are around all of its uses, as
// tir.PlanAndUpdateBufferAllocationLocation does it.
class Allocations {
 public:
  explicit Allocations(const std::vector<Loop>& loops) : loops_(loops) {}

  void Add(const tir::Var* data, size_t depth) { depths_.emplace_back(data, static_cast<uint32_t>(depth)); }
  void AddOfBlock(const tir::Var* data, size_t depth) {
    Add(data, depth);
    uses_.try_emplace(data);
  }
  // `path`: the loops around the access; `reduction_depth`: how many of them are around those over which its block
  // accumulates. O(loops).
  void AddUse(const Access& access, std::span<const uint32_t> path, size_t reduction_depth);

  // By memory, the number of loops around it.
  std::vector<std::pair<const tir::Var*, uint32_t>> Depths() const;

 private:
  const std::vector<Loop>& loops_;
  std::vector<std::pair<const tir::Var*, uint32_t>> depths_;
  std::map<const tir::Var*, std::optional<std::vector<uint32_t>>> uses_;  // the loops around all uses so far
};

}  // namespace iropt::races
