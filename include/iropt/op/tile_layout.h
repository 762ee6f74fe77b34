// Calls of tir.TileLayout as what they say: how the elements of a buffer lie on the axes of memory and of threads.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/expr.h"

namespace iropt {

// A factor of an index, which moves `stride` along the axis; the axis of memory is "m". Of an offset, only the stride
// and the axis mean something.
struct LayoutIter {
  const PrimExpr* extent;
  const PrimExpr* stride;
  std::string_view axis;
};

struct TileLayout {
  std::vector<LayoutIter> shard;    // the factors of the index
  std::vector<LayoutIter> replica;  // copies of each element
  std::vector<LayoutIter> offset;
};

// Nothing for other expressions, null included, and for calls that are not formed as the reader forms them.
std::optional<TileLayout> AsTileLayout(const PrimExpr* expr);

// Returns whether the buffer is a scalar: it has one element and nothing else to say, so that its name can stand for
// the element in the text of TVM 0.25 and newer. Its offset may be any.
bool IsScalar(const tir::Buffer& buffer);

// Returns whether the axis numbers threads rather than places in memory.
bool IsThreadAxis(std::string_view axis);

}  // namespace iropt
