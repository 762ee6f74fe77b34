// Equations of einsum, "ij,jk->ik".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iropt {

// The subscripts of an equation: a letter for each axis, '.' for an ellipsis.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;
};

// Nothing if the text is not an equation. Without an output, the output has the ellipsis and the letters that occur
// once, in alphabetical order.
std::optional<EinsumEquation> ParseEinsum(std::string_view text);

}  // namespace iropt
