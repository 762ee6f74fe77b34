// The elements that a block stores to for sure, while the regions that it states may be larger.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "iropt/schedule/state.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

// Boxes of the buffer of which every element is stored to while the loops around the block up to below `high` run, in
// the variables of the loops further out. There may be stores to other elements. Nothing if the buffer is accessed
// through its pointer, or by a region of another name, so that only what blocks state is known. `is_known` tells of
// conditions on the loops further out whether they hold wherever the boxes matter; by default, none do.
std::optional<std::vector<Box>> StoredBoxes(State& state, const Ref* block, const Ref* high, const tir::Buffer* buffer,
                                            std::function<bool(const PrimExpr*)> is_known = {});

// Returns whether the boxes contain the region, by the ranges of the loops from `high` outwards.
bool ContainRegion(State& state, std::vector<Box> boxes, List<const tir::Range*> region, const Ref* high);

// Returns whether the region is inside of the buffer for all values of the loops from `high` outwards.
bool IsInsideBuffer(State& state, const tir::BufferRegion& region, const Ref* high);

}  // namespace iropt::schedule
