// Hints of schedules to the code generator, as pragmas of loops.
#pragma once

#include <string_view>

namespace iropt::attr {

// Sums, maxima and minima of the loop may be computed in any order, so by vectors.
inline constexpr std::string_view kAnyOrder = "pragma_any_order";

}  // namespace iropt::attr
