// Padding of shared memory, so that the threads of a warp use different banks.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/ir/tir/expr.h"
#include "transform/tir/copies/warp_accesses.h"

namespace iropt {

// The buffer with strides that make the most threads of an access use different ones of the 32 banks of 4 bytes:
//
//   S = T.alloc_buffer((128, 128), scope="shared")   -->   ... strides=(129, 1), ...
//
// From the last dimension but one to the first, each gets the padding with which the fewest threads meet in a bank: a
// multiple of accesses.padding_unit and of the stride of the next dimension, up to a quarter of a row and at most once
// all banks. The same buffer if it has no dimension, or if its shape is not constant. The data variable stays. For each
// dimension, as many paddings as elements fit into the banks are tried with all threads of all accesses.
//
// Source: TVM 0.18's AutoPadder in src/tir/transforms/memhammer_lower_auto_copy.cc. There, strides may not be multiples
// of the next ones, and the buffer cannot be allocated.
const tir::Buffer* PadSharedMemory(const tir::Buffer& buffer, const BufferAccesses& accesses, Workspace& workspace);

}  // namespace iropt
