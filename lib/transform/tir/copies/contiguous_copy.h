// Loops that copy a contiguous part of memory, as memcpy does.
#pragma once

#include <optional>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Elements from one buffer to another one.
struct ContiguousCopy {
  const tir::Buffer* dest;
  const PrimExpr* dest_begin;  // the index of the first element
  const tir::Buffer* source;
  const PrimExpr* source_begin;
  const PrimExpr* size;  // the number of elements
};

// The copy that a nest of loops does:
//
//   for i, j in T.grid(4, 8):
//       B[i * 8 + j + 16] = A[i * 8 + j]           -->     {B, 16, A, 0, 32}
//
// Nothing if there is another statement in the loops, if a loop is bound to a thread, if an element of one of the parts
// is skipped or used twice, or if elements change places. Buffers must be flat and compact, and in different memory.
// O(nest). After TVM's IdentifyMemCpy (src/tir/analysis/identify_memcpy.cc).
std::optional<ContiguousCopy> FindContiguousCopy(const tir::For& nest, arith::Analyzer& analyzer);

}  // namespace iropt
