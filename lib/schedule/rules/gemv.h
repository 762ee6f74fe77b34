// What the rules for products of a matrix and a vector share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "block_info.h"

namespace iropt::schedule {

struct TargetFacts;

// The buffers that the block reads and that do not depend on all of its axes, if it is such a product; else none.
std::vector<const tir::Buffer*> FindVectors(RuleSchedule& sch, const BlockInfo& info);
// Brings the loops into the order batch, spatial, reduction, group of the reduction. Whether the fastest axis is one of
// the reduction; nothing if the loops have no such order.
std::optional<bool> NormalizeGemv(RuleSchedule& sch, const BlockInfo& info);
// The schedule for a product in that order with the reduction not in the fastest axis; false where TVM has none.
bool ScheduleOuterGemv(RuleSchedule& sch, const TargetFacts& facts, const Name& block, const tir::Buffer* vector,
                       const BlockInfo* epilogue);
// Vectorizes the loop, or a part of it of that many lanes, if its extent is a constant.
void AutoVectorize(RuleSchedule& sch, const Name& loop, int64_t lanes);
// The greatest of the factors that divides n, or 1.
int64_t MaxFactor(int64_t n, std::vector<int64_t> factors);

inline int64_t BytesOf(DataType dtype) { return (dtype.bits * dtype.lanes + 7) / 8; }
// Of all buffers; nullopt if a dimension is not a number.
std::optional<int64_t> BytesOf(const std::vector<const tir::Buffer*>& buffers);

// The threads that read a vector to shared memory, and how many elements each reads at once at the most.
struct SharedVectorTiling {
  std::string_view reduction_tag;
  int64_t spatial;
  int64_t reduction;
  int64_t lanes;
};
// Copies the whole vector, the first buffer that the block reads, to shared memory at the loop; returns the copying
// block.
Name ShareVector(RuleSchedule& sch, const Name& block, const Name& thread_loop, const SharedVectorTiling& tiling);
// Halves the numbers of threads until a block of the device can have so many.
void LimitThreads(const TargetFacts& facts, int64_t& spatial, int64_t& reduction);
// Lets the blocks that reduce to lanes and to threads start with zeros, in registers, and unrolls them. The reduction
// of the lanes is the loop of this number, from 1.
void FinishParts(RuleSchedule& sch, const Name& lanes, const Name& threads, size_t depth, int64_t unroll);
// Unrolls the block that copies a vector to shared memory.
void UnrollShared(RuleSchedule& sch, const Name& copy, int64_t unroll);

}  // namespace iropt::schedule
