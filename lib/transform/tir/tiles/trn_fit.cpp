// The search for the longest parts of its regions that one instruction can take.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "transform/tir/tiles/trn_indexer.h"

namespace iropt {

namespace {

bool IsFree(const AxisIter& iter) { return iter.axis == "F" || iter.axis == "Bank"; }

bool HasDim(const std::optional<Dims>& dims, size_t dim) {
  return !dims || dims->empty() || std::ranges::count(*dims, dim) != 0;
}

void SortByStride(std::vector<std::pair<size_t, AxisIter>>& iters) {
  std::ranges::stable_sort(iters, [](const auto& a, const auto& b) { return a.second.stride < b.second.stride; });
}

}  // namespace

// The factors from the smallest stride on that are one regular stretch.
Result<TrnInstruction> TrnIndexer::Linear(IndexedIters iters, int64_t min_stride) const {
  SortByStride(iters);
  TrnInstruction found;
  std::optional<int64_t> stride;
  for (const auto& [index, iter] : iters) {
    if (iter.extent == 1 || iter.stride * iter.extent < min_stride) continue;
    if (iter.stride % min_stride != 0 && min_stride % iter.stride != 0)
      return Error{ErrorCode::PassFailed, fmt::format("no instruction has a stride of {}", min_stride)};
    if (stride && *stride * found.size != iter.stride) break;
    if (!stride) stride = std::max(min_stride, iter.stride);
    if (min_stride % iter.stride == 0) {
      found.size = iter.extent * iter.stride / *stride;
    } else {
      found.size *= iter.extent;
    }
    found.iters.push_back(index);
  }
  found.stride = stride.value_or(1);
  return found;
}

Result<TrnInstruction> TrnIndexer::Longest(size_t id, const std::optional<Dims>& dims, int64_t min_stride) const {
  const Region& region = regions_[id];
  IndexedIters iters;
  for (size_t dim = 0; dim < region.rank(); ++dim) {
    if (!HasDim(dims, dim)) continue;
    for (size_t i = region.layout.begins[dim]; i < region.layout.begins[dim + 1]; ++i) {
      if (IsFree(region.layout.shard[i])) iters.emplace_back(i, region.layout.shard[i]);
    }
  }
  return Linear(std::move(iters), min_stride);
}

Result<TrnInstruction> TrnIndexer::Fit(const TrnInstruction& instruction, size_t from, size_t to,
                                       const std::optional<Dims>& dims, bool broadcast) {
  DimMap linked;
  for (const auto& [i, j] : LinkOf(from, to)) {
    if (HasDim(dims, j)) linked[i] = j;
  }
  const GroupedShard& layout = regions_[from].layout;
  const GroupedShard& other = regions_[to].layout;
  std::map<size_t, size_t> iter_of;  // in `to`
  for (const auto& [i, j] : linked) {
    for (size_t k = 0; k < regions_[from].num_iters(i); ++k) iter_of[layout.begins[i] + k] = other.begins[j] + k;
  }
  IndexedIters iters;
  for (const size_t i : instruction.iters) {
    if (!broadcast || !iter_of.contains(i)) iters.emplace_back(i, layout.shard[i]);
  }
  if (broadcast) return Linear(std::move(iters));
  SortByStride(iters);
  TrnInstruction fitting;
  std::optional<int64_t> stride, other_stride;
  for (const auto& [i, iter] : iters) {
    const auto mapped = iter_of.find(i);
    if (mapped == iter_of.end()) {
      if (!stride) continue;
      break;
    }
    const AxisIter& there = other.shard[mapped->second];
    if (!stride) {
      stride = iter.stride;
      // A transfer is contiguous in other memory.
      if (!IsTrainium(other.shard) && there.stride != 1) break;
      other_stride = there.stride;
    } else if (*other_stride * fitting.size != there.stride) {
      break;
    }
    fitting.size *= iter.extent;
    fitting.iters.push_back(i);
  }
  fitting.stride = stride.value_or(1);
  return fitting;
}

TrnInstruction TrnIndexer::OnOneDim(const TrnInstruction& instruction, size_t id) const {
  const Region& region = regions_[id];
  const auto dim_of = [&](size_t iter) {
    return std::ranges::upper_bound(region.layout.begins, iter) - region.layout.begins.begin();
  };
  IndexedIters iters;
  for (const size_t i : instruction.iters) iters.emplace_back(i, region.layout.shard[i]);
  SortByStride(iters);
  TrnInstruction result{.stride = instruction.stride};
  for (const auto& [i, iter] : iters) {
    if (!result.iters.empty() && dim_of(i) != dim_of(result.iters[0])) break;
    result.size *= iter.extent;
    result.iters.push_back(i);
  }
  return result;
}

bool TrnIndexer::SamePartitions(size_t a, size_t b) {
  const GroupedShard& first = regions_[a].layout;
  const GroupedShard& second = regions_[b].layout;
  if (!IsTrainium(first.shard) || !IsTrainium(second.shard)) return true;
  for (const auto& [i, j] : LinkOf(a, b)) {
    for (size_t k = 0; k < regions_[a].num_iters(i); ++k) {
      const AxisIter& x = first.shard[first.begins[i] + k];
      const AxisIter& y = second.shard[second.begins[j] + k];
      if (x.axis != y.axis) return false;
      if (!IsFree(x) && (x.stride != y.stride || x.extent != y.extent)) return false;
    }
  }
  return true;
}

Result<std::pair<TrnInstruction, TrnInstruction>> TrnIndexer::Transposed(size_t a, size_t b) {
  const GroupedShard& first = regions_[a].layout;
  const GroupedShard& second = regions_[b].layout;
  IndexedIters free_a, free_b;
  for (const auto& [i, j] : LinkOf(a, b)) {
    for (size_t k = 0; k < regions_[a].num_iters(i); ++k) {
      const std::pair x(first.begins[i] + k, first.shard[first.begins[i] + k]);
      const std::pair y(second.begins[j] + k, second.shard[second.begins[j] + k]);
      if (x.second.axis == y.second.axis) {
        if (IsFree(x.second)) continue;
        return Error{ErrorCode::PassFailed, "a copy cannot transpose a part of the partitions"};
      }
      x.second.axis == "P" ? free_b.push_back(y) : free_a.push_back(x);
    }
  }
  IROPT_ASSIGN_OR_RETURN(TrnInstruction on_a, Linear(std::move(free_a)));
  IROPT_ASSIGN_OR_RETURN(TrnInstruction on_b, Linear(std::move(free_b)));
  if (on_a.size != SizeOn(second.shard, "P") || on_b.size != SizeOn(first.shard, "P"))
    return Error{ErrorCode::PassFailed, "a transposing copy needs free dimensions of the size of the partitions"};
  return std::pair(std::move(on_a), std::move(on_b));
}

}  // namespace iropt
