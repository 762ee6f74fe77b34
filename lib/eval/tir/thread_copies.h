// Copies of local memory: those of the threads whose loops are inside of its allocation. See thread_memory.h.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "iropt/eval/tir/thread_plan.h"
#include "iropt/ir/ndarray.h"
#include "iropt/support/function_ref.h"
#include "memory.h"

namespace iropt::eval {

// The position of a thread on an axis.
struct ThreadPosition {
  std::string_view tag;
  int64_t index = 0;
};
using ThreadPositions = std::vector<ThreadPosition>;

struct ThreadCopies {
  // The copies for one set of bound axes, one after the other in memory: the last axis varies fastest.
  struct Place {
    uint32_t axes = 0;  // a bit mask
    Memory memory;
    uint64_t address = 0;
    std::shared_ptr<Storage> owned;
  };

  const ThreadMemory* layout = nullptr;
  const tir::Var* data = nullptr;
  size_t depth = 0;              // the number of positions of the thread that has allocated the memory
  int64_t bytes = 0;             // of a copy
  std::vector<int64_t> threads;  // by axis
  std::vector<Place> places;     // in the order of the layout

  // Points to the copy of a thread; unknown if no statement with these positions accesses the memory, as in loops over
  // other numbers of threads.
  Pointer Find(const ThreadPositions& positions) const;
  // Points to a copy by its index in the place.
  Pointer At(const Place& place, int64_t index) const;
  // The positions on the axes of the place, 0 on the others, of the threads that a copy belongs to.
  std::vector<int64_t> PositionsOf(const Place& place, int64_t index) const;
  int64_t IndexOf(const Place& place, const std::vector<int64_t>& positions) const;
  // Copies the bytes that were stored at `at` in a copy to the copies of the threads for which the store has been
  // executed, too. `step` is called for each of them; false ends the walk.
  bool Spread(const Pointer& pointer, int64_t at, int64_t size, FunctionRef<bool()> step) const;
};

}  // namespace iropt::eval
