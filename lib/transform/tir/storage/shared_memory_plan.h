// The offsets of the shared memory of a kernel in one allocation. For tir.MergeSharedMemoryAllocations.
#pragma once

#include <unordered_map>

#include "iropt/arith/prim_builder.h"
#include "iropt/support/lookup.h"
#include "transform/tir/storage/access_sequence.h"

namespace iropt {

struct SharedMemoryPlan {
  const PrimExpr* bytes;  // of all of it
  // Offsets in bytes, by data pointer.
  LookupMap<const tir::Var*, const PrimExpr*> offsets;
};

// Lets allocations of `wanted` share memory if they are not used at the same time. What is small stays apart. Linear in
// the sequence, times the logarithm of the number of allocations.
SharedMemoryPlan PlanSharedMemory(const AccessSequence& sequence,
                                  const std::unordered_map<const tir::Var*, const tir::Allocate*>& wanted,
                                  const arith::PrimBuilder& make);

}  // namespace iropt
