// Functions of float32 numbers, computed by polynomials, so that they run by vectors. Scalars and lanes of vectors have
// the same results. The numbers next to them are bounds of their errors in units of the last place.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace iropt::codegen {

// Numbers of float32, or vectors of them.
llvm::Value* EmitExp(llvm::IRBuilder<>& b, llvm::Value* x);   // 1
llvm::Value* EmitExp2(llvm::IRBuilder<>& b, llvm::Value* x);  // 1
llvm::Value* EmitErf(llvm::IRBuilder<>& b, llvm::Value* x);   // 1.5
llvm::Value* EmitTanh(llvm::IRBuilder<>& b, llvm::Value* x);  // 1.5

}  // namespace iropt::codegen
