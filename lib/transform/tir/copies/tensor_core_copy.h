// Copies between memory and the matrices in the registers of a warp, which tensor cores compute with.
#pragma once

#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"
#include "transform/tir/copies/block_copy.h"

namespace iropt {

// The scope of the matrices that products are added to.
inline constexpr std::string_view kAccumulator = "wmma.accumulator";

// All of these split the two innermost loops into tiles, move the loops in the tiles inside, and fail unless the
// extents are multiples of the tiles and both buffers are accessed tile by tile: the two innermost dimensions, in the
// same order in both except for wmma.matrix_b, which is stored by columns. O(nodes), plus the proofs about indices.

// From shared memory to wmma.matrix_a or wmma.matrix_b, by T.tvm_load_matrix_sync in tiles of 16 x 16 float16.
Result<const tir::Stmt*> LoadMatrix(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                    Workspace& workspace);
// From wmma.accumulator to shared memory, by T.tvm_store_matrix_sync in tiles of 16 x 16.
Result<const tir::Stmt*> StoreMatrix(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                     Workspace& workspace);
// From wmma.accumulator to global memory: to shared memory as StoreMatrix does it, and on by CoalesceAccess.
Result<const tir::Stmt*> StoreMatrixToGlobal(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                             Workspace& workspace);
// From m16n8k8.matrixC to global memory by way of shared memory, in tiles of 8 x 8, of which each of 32 threads stores
// the two elements that it has.
Result<const tir::Stmt*> StoreMmaToGlobal(const tir::Stmt* nest, const BlockCopy& copy, CopyBuffers& buffers,
                                          Workspace& workspace);

}  // namespace iropt
