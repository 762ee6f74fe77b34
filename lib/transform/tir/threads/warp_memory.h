// Memory of a warp as registers of its threads. For tir.LowerWarpMemory.
#pragma once

#include <optional>
#include <span>

#include "iropt/arith/analyzer.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Element m * z + (width * m) * y + x, 0 <= x < m and 0 <= z < width, is element m * y + x of thread z.
struct WarpLayout {
  const tir::Var* warp_index;  // the thread: threadIdx.x
  int64_t width;               // how many threads share the memory
  int64_t coefficient;         // m, the number of elements next to each other in one thread
  int64_t groups;              // the number of values of y

  int64_t elements_of_thread() const { return coefficient * groups; }
};

// From the stores to the allocated memory. Reports what cannot be done: other uses of the pointer, stores at positions
// that are not linear in the thread. O(nodes).
std::optional<WarpLayout> FindWarpLayout(const tir::Allocate& allocate, int64_t warp_size, arith::Analyzer& analyzer,
                                         DiagnosticEngine& diagnostics);

// The element of a thread, and the thread. Of a vector of elements next to each other, which must all be in one thread,
// the first index is a vector. Nothing for other vectors.
struct WarpElement {
  const PrimExpr* local;
  const PrimExpr* thread;
};
std::optional<WarpElement> SplitWarpIndex(const PrimExpr* index, const WarpLayout& layout, arith::Analyzer& analyzer);

// Returns the operands of the call that are pointers followed by positions: those of T.ptx_mma and so on. Empty for
// other calls.
std::span<const size_t> WarpPointerOperands(const tir::Call& call);

}  // namespace iropt
