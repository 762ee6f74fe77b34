// Parts of blocks that statements and threads in lockstep generate alike.
#pragma once

#include <vector>

#include "expr_emitter.h"

namespace iropt::codegen {

// The number of elements of the memory for the buffer is their product.
std::vector<const PrimExpr*> MemoryExtents(const tir::Buffer& buffer);
void DeclareAllocated(const tir::Buffer& buffer, ExprEmitter& exprs);
void MatchAnew(const tir::MatchBufferRegion& match, ExprEmitter& exprs);
void BindValue(const tir::Var* var, const PrimExpr* value, ExprEmitter& exprs);
// Binds the axes of the block.
void BindAxes(const tir::BlockRealize& realize, ExprEmitter& exprs);
// Returns whether all reduction axes have their first values: then the initialization of the block runs.
llvm::Value* IsFirstReduction(const tir::Block& block, ExprEmitter& exprs);

}  // namespace iropt::codegen
