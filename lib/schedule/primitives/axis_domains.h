// The values of the axes of a block that provide what other blocks require.
#pragma once

#include <span>
#include <vector>

#include "iropt/schedule/state.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

// The values of an axis: those of `dom` that are in `bound`.
struct AxisDomain {
  arith::IntervalSet dom = arith::IntervalSet::Nothing();
  arith::IntervalSet bound = arith::IntervalSet::Nothing();
};

// A box of a buffer that one iteration of the block provides, in its axes, and the one that all of them have to.
struct AxisRequirement {
  const tir::Buffer* buffer;
  Box provided, required;
};

// One domain for each axis. Refuses if the requirements do not determine them.
Result<std::vector<AxisDomain>> SolveAxisDomains(State& state, const tir::Block& block,
                                                 std::span<const AxisRequirement> requirements,
                                                 arith::Analyzer& analyzer);

}  // namespace iropt::schedule
