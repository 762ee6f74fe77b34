// Comments at the ends of lines that say where the lines come from, as MLIR's locations do:
//
//   lv = R.add(x, y)  # loc("model.ir":3:14)
//   lv = R.add(x, y)  # loc(fused["model.ir":3:14, "model.ir":4:14])
//
// The printer writes them if it is asked to, and SourceManager::Locate takes the first place of the comment as that of
// the line. Bytes of names that a comment cannot hold are two hexadecimal digits behind a backslash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/source.h"

namespace iropt {

struct CommentedPlace {
  std::string name;
  uint32_t line = 0;
  uint32_t column = 0;

  friend bool operator==(const CommentedPlace&, const CommentedPlace&) = default;
};

// The places that the comment at the end of the line names; empty if it does not end with such a comment. O(comment).
std::vector<CommentedPlace> PlacesInComment(std::string_view line);

// The comment with the place of the span, with those of its parts if it is a joint one, and with those that the
// comments of their lines name. Empty for an unknown span.
std::string LocationComment(SourceSpan span, const SourceManager& sources);

}  // namespace iropt
