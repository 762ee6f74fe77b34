// The code of a reduction over the threads of a block. For tir.LowerThreadAllreduce.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// Properties of the threads of a target.
struct WarpInfo {
  std::string_view target_kind;
  int64_t warp_size = 1;
  int64_t max_num_threads = -1;  // of a block; -1 if it is not known
};

// Several thread axes as one: the position of a thread along them, and how many there are.
struct FlatThreads {
  const PrimExpr* index;
  int64_t extent;
};

// One value per buffer.
struct Allreduce {
  const tir::CommReducer* combiner = nullptr;
  std::vector<const PrimExpr*> values;      // of this thread
  std::vector<const tir::Buffer*> buffers;  // for the results
  FlatThreads reduced = {};                 // whose values are combined
  FlatThreads group = {};                   // the others, each of which has a result
  int64_t contiguous = 1;                   // the extent of the reduced axes before the first other one
};

struct AllreduceCode {
  const tir::Stmt* body;
  // The results for every thread: loads from new buffers, which are not allocated in the code. Empty if it stores them
  // to the buffers.
  std::vector<const tir::BufferLoad*> results = {};
};

// Shuffles within warps where the target can do it, or else a tree in shared memory. O(log(threads)) statements.
AllreduceCode MakeAllreduceCode(const Allreduce& reduction, const WarpInfo& warps, Workspace& workspace);

}  // namespace iropt
