// An estimate of the number of statements that a call of a PrimFunc executes, without running it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

// A variable and its value in the call: a size of a buffer, or a parameter that is an integer.
using KnownSize = std::pair<const tir::Var*, int64_t>;

// An upper bound for the stores and evaluated expressions of a call: the greatest extents of the loops and thread axes
// around them, and the longer branch of each condition. Saturates at the greatest number. Nothing if the sizes do not
// bound it: `while`, extents that are loaded from memory, calls of other functions. O(size of the function).
std::optional<uint64_t> CountStatements(const PrimFunc& function, std::span<const KnownSize> sizes);

}  // namespace iropt
