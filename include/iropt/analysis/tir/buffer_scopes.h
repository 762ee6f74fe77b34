// The scopes of the accesses to buffers: the innermost loop or block around all accesses to a buffer.
#pragma once

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

// By buffer: a For or a Block, or null if no loop or block is around all accesses. Buffers that are not accessed have
// no entry; those of match_buffer count as accesses to their sources.
using BufferScopes = LookupMap<const tir::Buffer*, const tir::Stmt*>;

// Made after TVM's DetectBufferAccessLCA (src/tir/analysis/buffer_access_lca_detector.cc): an access to global memory
// in a kernel counts as one of the outermost loop over blockIdx, and the scope of a buffer that a block accesses at
// positions that depend on an opaque axis is also around the loops that the axis depends on. Other than there, kernels
// that do not access a buffer do not count, and the scope of a buffer that a block writes is around the serial loops
// over the reduction axes of the block, also if nothing reads the result. O(nodes times nesting).
BufferScopes DetectBufferScopes(const PrimFunc& func);

}  // namespace iropt
