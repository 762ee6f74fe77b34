// Matching loop nests of a PrimFunc with that of a pattern.
#pragma once

#include <optional>
#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct NestMatch {
  std::vector<const tir::Buffer*> buffers;  // of the function, for the parameters of the pattern that are buffers
  std::vector<const PrimExpr*> scalars;     // for the others: constants or sizes
};

// Matches a statement with the body of a pattern: a nest of serial loops around one block that stores one value. Terms
// and factors may be exchanged. A parameter of the pattern that is a scalar stands for a constant; as a factor it may
// be missing (1), as a term, too (0). Sizes of the pattern that are variables stand for any constant or variable.
// O(size of the nest) if there are few sums and products of equal form; the search is limited.
std::optional<NestMatch> MatchNest(const tir::Stmt* stmt, const PrimFunc& pattern);

}  // namespace iropt
