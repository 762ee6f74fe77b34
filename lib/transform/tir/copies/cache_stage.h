// Copies in two stages, through a buffer in between.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"
#include "transform/tir/copies/block_copy.h"
#include "transform/tir/copies/loop_nest.h"

namespace iropt {

// A copy as CoalesceAccess makes it, through local memory. The loops over threads move outwards:
//
//   for r in range(16):                            for t in T.thread_binding(32, thread="threadIdx.x"):
//       for t in T.thread_binding(...):                for r_cache in range(16):
//           for v in T.vectorized(4):       -->            for v_cache in T.vectorized(4):
//               S[...] = A[...]                                S_local[...] = A[...]
//                                                      for r in range(16):
//                                                          for v in T.vectorized(4):
//                                                              S[...] = S_local[...]
//
// The local buffer has the shape of what a thread loads, see PromoteRank, or else of the loops. Fails unless the loops
// contain a store and nothing else, perhaps in an `if`. O(nodes), plus the iterator maps of the indices.
Result<const tir::Stmt*> StageLocally(const tir::Stmt* nest, CopyBuffers& buffers, Workspace& workspace);

// A copy from a matrix of the registers of a warp through shared memory: the first `num_outer` loops of the nest stay
// around both stages.
//
//   for i_0, j_0, i_1, j_1 in T.grid(...):         for i_0 in range(8):
//       C[...] = W[i, j] + B[i]                        for j_0, i_1, j_1 in T.grid(8, 16, 16):
//                                           -->            W_shared_dyn[t, j_0, i_1, j_1] = W[i, j]
//                                                      for t_cache, j_0_cache, ... in T.grid(4, 8, 16, 16):
//                                                          C[...] = W_shared_dyn[t_cache, ...] + B[i]
//
// where t is a loop over the threads around the block: the second stage runs through what all of them have stored.
struct SharedStage {
  const tir::Stmt* fill;   // copies from the registers
  const tir::Stmt* drain;  // copies from shared memory
};
// Fails unless the loops contain a store and nothing else, in which all loads from `scope` are the same. O(nodes).
Result<SharedStage> StageInSharedMemory(const LoopNest& nest, size_t num_outer, std::string_view scope,
                                        const BlockCopy& copy, CopyBuffers& buffers, Workspace& workspace);

// The loads from buffers in this scope under the expression are all the same; fails otherwise, and without a load.
Result<const tir::BufferLoad*> LoadFrom(std::string_view scope, const PrimExpr* value, Workspace& workspace);

}  // namespace iropt
