// Axes that operators name, counted from the end if negative. Errors are messages without a location, for type rules,
// kernels and legalizations to report in their way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// The axis counted from the front, in [0, rank).
Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank);
// Returns the axes, which must be distinct, counted from the front, in the order given. O(axes + rank).
Result<std::vector<int64_t>> NormalizeAxes(std::span<const int64_t> axes, int64_t rank);

}  // namespace iropt
