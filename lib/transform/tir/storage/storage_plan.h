// The plan of the storage of a function: allocations that share memory, and the places where it is allocated.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/support/lookup.h"
#include "transform/tir/storage/access_sequence.h"

namespace iropt {

inline uint64_t BitsOf(DataType dtype) {
  return static_cast<uint64_t>(dtype.bits) * static_cast<uint64_t>(std::abs(dtype.lanes));
}

// Memory for one or several allocations.
struct StorageEntry {
  // The loop or launch of threads in which it is allocated; null: in the function.
  const tir::Stmt* attach_scope = nullptr;
  uint64_t const_nbits = 0;  // the size; 0 if it is not constant
  StorageScope scope;
  DataType elem_type;
  std::vector<const tir::Allocate*> allocs = {};

  // Special memory is one allocation, of which the others are parts.
  bool is_special() const {
    return !scope.tag.empty() && scope.tag != ".dyn" && scope.tag != ".workspace" && scope.tag != ".vtcm";
  }
};

struct AllocationPlan {
  std::deque<StorageEntry> entries;  // in the order of their first uses
  // By data pointer.
  LookupMap<const tir::Var*, StorageEntry*> entry_of;
};

struct StoragePlanOptions {
  bool reuse = true;             // share memory between allocations whose uses do not overlap
  bool same_dtype_only = false;  // only if their element types are equal
};

// Lets an allocation take over memory that is not needed any more. Linear in the sequence, times the logarithm of the
// number of allocations.
AllocationPlan PlanStorage(const AccessSequence& sequence, StoragePlanOptions options);

}  // namespace iropt
