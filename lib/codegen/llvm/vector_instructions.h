// Instructions for vectors that a program names: those of the CPU, or others that compute the same.
#pragma once

#include "frame.h"

namespace iropt::codegen {

// Adds to each lane of `sum` the products of the four bytes of the lane, of `a` without a sign and of `b` with one. All
// are vectors of int32.
llvm::Value* EmitDotBytes(Frame& frame, llvm::Value* sum, llvm::Value* a, llvm::Value* b);
// Multiplies vectors of int16, and adds the products of neighbours to a vector of int32.
llvm::Value* EmitDotPairs(Frame& frame, llvm::Value* a, llvm::Value* b);

}  // namespace iropt::codegen
