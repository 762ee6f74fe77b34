#include "iropt/infer/axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt {

Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  const std::string expected = rank > 0 ? fmt::format("expected {} to {}", -rank, rank - 1) : "it has no axes";
  return Error{ErrorCode::SemanticCheck,
               fmt::format("axis {} is out of range for a tensor of rank {}; {}", axis, rank, expected)};
}

Result<std::vector<int64_t>> NormalizeAxes(std::span<const int64_t> axes, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(std::max<int64_t>(rank, 0)));
  std::vector<int64_t> result;
  result.reserve(axes.size());
  for (const int64_t given : axes) {
    IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(given, rank));
    if (seen[static_cast<size_t>(axis)])
      return Error{ErrorCode::SemanticCheck, fmt::format("axis {} is given more than once", axis)};
    seen[static_cast<size_t>(axis)] = true;
    result.push_back(axis);
  }
  return result;
}

}  // namespace iropt
