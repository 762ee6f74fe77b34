// Memory of GPU threads in PrimFuncs.
//
// Local memory belongs to one thread, also if it is allocated outside of the loops over the threads: then a thread is
// known by its position on the axes whose loops are inside of the allocation. Loops over axes with the same tag are
// over the same threads. A statement outside of the loop over an axis is executed for all threads of this axis. So a
// load sees the last store by any thread whose position agrees with that of the loading one on the axes that are bound
// at both.
//
// Threads of an axis share memory that
// - a block accumulates into by a reduction over this axis, before tir.LowerCrossThreadReduction,
// - is of scope "warp", if the axis is threadIdx.x.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/lookup.h"

namespace iropt {

// The layout of local memory that is allocated outside of loops over threads.
struct ThreadMemory {
  struct Axis {
    std::string_view tag;
    std::vector<const PrimExpr*> extents;  // of the loops over the axis; the number of threads is their maximum
  };
  // The axes along which threads have copies. Empty if one memory serves all threads: each uses it in only one
  // execution of the loops, one thread after the other.
  std::vector<Axis> axes;
  // The sets of axes that are bound where the memory is accessed, as bit masks. An access where the set is s goes to
  // the copy that belongs to the positions on the axes in s.
  std::vector<uint32_t> places;
  // The pointer variable, and those of the buffers that match parts of the memory.
  std::vector<const tir::Var*> pointers;
  // The tags of axes whose threads share the memory, because of a reduction or because each uses other elements.
  std::vector<std::string_view> shared;

  bool IsShared(std::string_view tag) const;
};

// Returns whether the pointer is to memory of a thread or warp.
bool IsThreadMemory(const tir::Var* data);

// Returns whether the pointer is to memory that the threads of a block or of a warp share.
bool IsBlockMemory(const tir::Var* data);

// Returns whether the number of threads of an axis can be computed where memory is allocated for them: its value may
// not change until the loops start. `is_bound` tells whether a variable has its value there.
bool IsKnownExtent(const PrimExpr* extent, FunctionRef<bool(const tir::Var*)> is_bound);

// The use of memory by the threads of a function.
struct ThreadAccesses {
  // The layouts of the thread memory that the function allocates, by the pointer variable: those of memory that has
  // copies, or that threads share.
  LookupMap<const tir::Var*, ThreadMemory> memory;
  // Statements in loops over threads in which a thread may access what another one stores: shared memory, or global
  // memory.
  LookupSet<const tir::Stmt*> exchanging;
  // The pointer variables of memory into which blocks accumulate over threads.
  LookupSet<const tir::Var*> accumulated;
};
// O(nodes), times their nesting.
ThreadAccesses FindThreadAccesses(const tir::Stmt* body);

}  // namespace iropt
