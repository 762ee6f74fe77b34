// Copies between global and shared memory in which neighboring threads access neighboring elements.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"
#include "transform/tir/copies/block_copy.h"

namespace iropt {

// The loops of the nest as one, which is split into rounds, the threads of the function, and vectors:
//
//   for i, j in T.grid(128, 128):          for f_0 in range(16):
//       S[i, j] = A[i, j]           -->        for f_1 in T.thread_binding(8, thread="threadIdx.y"):
//                                                  for f_2 in T.thread_binding(32, thread="threadIdx.x"):
//                                                      for f_3 in T.vectorized(4):
//                                                          S[f // 128 % 128, f % 128] = A[...]
//
// where f is ((f_0 * 8 + f_1) * 32 + f_2) * 4 + f_3. A condition excludes what is beyond the last element. Fails unless
// the extents are positive constants, and if the nest depends on a loop over one of these threads around the block: the
// two loops are the same thread. O(nodes), times the loops around the block.
Result<const tir::Stmt*> CoalesceAccess(const tir::Stmt* nest, const BlockCopy& copy, Workspace& workspace);

// A store in loops that run through the elements that are written in the order of their dimensions:
//
//   for i, j in T.grid(16, 8):             for i_inverse, j_inverse in T.grid(8, 16):
//       B[j, i] = S[i, j]           -->        B[i_inverse, j_inverse] = S[j_inverse, i_inverse]
//
// Fails unless the loops run through all elements of the region that the block writes once. O(nodes), plus the iterator
// maps of the indices.
Result<const tir::Stmt*> InvertMapping(const tir::Stmt* nest, const BlockCopy& copy, Workspace& workspace);

}  // namespace iropt
