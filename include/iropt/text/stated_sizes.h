// Sizes for dimensions of inputs that a module leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

struct StatedSizes {
  // The dimensions of inputs, by their names; nothing for one that stays as it is.
  std::vector<std::pair<std::string, std::vector<std::optional<int64_t>>>> shapes;
  // The values of symbolic variables, or of named dimensions.
  std::vector<std::pair<std::string, int64_t>> symbols;

  bool empty() const { return shapes.empty() && symbols.empty(); }
};

// From the flags -input-shape=NAME:1,3,?,224, whose values are split at the commas, and -sym=NAME=SIZE. Errors are of
// ErrorCode::Usage and name the flag.
Result<StatedSizes> ParseStatedSizes(std::span<const std::string> shapes, std::span<const std::string> symbols);

}  // namespace iropt
