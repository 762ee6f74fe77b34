#include "block_parts.h"

namespace iropt::codegen {

// The first stride counts what all the others pad.
std::vector<const PrimExpr*> MemoryExtents(const tir::Buffer& buffer) {
  if (buffer.strides.empty() || buffer.shape.empty()) return {buffer.shape.begin(), buffer.shape.end()};
  return {buffer.shape[0], buffer.strides[0]};
}

// An allocated buffer is entirely within its allocation.
void DeclareAllocated(const tir::Buffer& buffer, ExprEmitter& exprs) {
  View view = exprs.buffers().ResolveView(buffer);
  const auto* offset = llvm::dyn_cast<llvm::ConstantInt>(view.offset);
  if (buffer.strides.empty() && offset && offset->isZero()) view.is_inside = true;
  exprs.scope().Declare(&buffer, std::move(view));
}

// The variables of the match are bound for this execution of the block.
void MatchAnew(const tir::MatchBufferRegion& match, ExprEmitter& exprs) {
  for (const auto& list : {match.buffer->shape, match.buffer->strides}) {
    for (const PrimExpr* expr : list) {
      if (const auto* var = As<tir::Var>(expr)) exprs.scope().Unbind(var);
    }
  }
  if (const auto* var = As<tir::Var>(match.buffer->elem_offset)) exprs.scope().Unbind(var);
  exprs.buffers().MatchBuffer(match);
}

llvm::Value* IsFirstReduction(const tir::Block& block, ExprEmitter& exprs) {
  llvm::Value* first = exprs.frame().b().getTrue();
  for (const tir::IterVar* axis : block.iter_vars) {
    if (axis->iter_type != tir::IterVarType::kCommReduce) continue;
    llvm::Value* value = exprs.EmitInt(axis->var);
    first = exprs.frame().b().CreateAnd(first, exprs.frame().b().CreateICmpEQ(value, exprs.EmitInt(axis->dom->min)));
  }
  return first;
}

}  // namespace iropt::codegen
