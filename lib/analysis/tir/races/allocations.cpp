#include "analysis/tir/races/allocations.h"

#include <algorithm>

namespace iropt::races {

StorageRank RankOf(const tir::Var* data) { return StorageScope::Of(data->pointer ? data->pointer->scope : "").rank; }

// Memory of all blocks of threads stays outside of a kernel, and that in which a block accumulates outside of the loops
// over which it does.
void Allocations::AddUse(const Access& access, std::span<const uint32_t> path, size_t reduction_depth) {
  const auto use = uses_.find(access.data);
  if (use == uses_.end()) return;
  const auto is_axis = [&](uint32_t loop) {
    return loops_[loop].kind == Loop::Kind::kBlock || loops_[loop].kind == Loop::Kind::kThread;
  };
  size_t depth = path.size();
  if (access.kind != Access::Kind::kRead) depth = std::min(depth, reduction_depth);
  if (RankOf(access.data) == StorageRank::kGlobal)
    depth = std::min<size_t>(depth, std::ranges::find_if(path, is_axis) - path.begin());
  const std::span<const uint32_t> loops = path.first(depth);
  if (!use->second) {
    use->second.emplace(loops.begin(), loops.end());
  } else {
    use->second->erase(std::ranges::mismatch(*use->second, loops).in1, use->second->end());
  }
}

std::vector<std::pair<const tir::Var*, uint32_t>> Allocations::Depths() const {
  std::vector<std::pair<const tir::Var*, uint32_t>> depths = depths_;
  for (auto& [data, depth] : depths) {
    const auto use = uses_.find(data);
    if (use != uses_.end() && use->second) depth = std::max(depth, static_cast<uint32_t>(use->second->size()));
  }
  return depths;
}

}  // namespace iropt::races
