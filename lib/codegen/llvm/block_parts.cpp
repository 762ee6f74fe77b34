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

void BindValue(const tir::Var* var, const PrimExpr* value, ExprEmitter& exprs) {
  exprs.scope().Bind(var, exprs.arithmetic().Cast(exprs.Emit(value), value->dtype, var->dtype));
  exprs.ranges().BindValue(var, value);
}

void BindAxes(const tir::BlockRealize& realize, ExprEmitter& exprs) {
  const tir::Block& block = *realize.block;
  if (realize.iter_values.size() != block.iter_vars.size())
    return exprs.frame().state().Unsupported(
        "the number of values of a BlockRealize differs from the number of axes of its block");
  // All values are computed before the first axis is bound, because they are outside of its scope.
  llvm::SmallVector<llvm::Value*, 8> values;
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    const PrimExpr* value = realize.iter_values[i];
    values.push_back(exprs.arithmetic().Cast(exprs.Emit(value), value->dtype, block.iter_vars[i]->var->dtype));
  }
  for (size_t i = 0; i < block.iter_vars.size(); ++i) {
    exprs.scope().Bind(block.iter_vars[i]->var, values[i]);
    exprs.ranges().BindValue(block.iter_vars[i]->var, realize.iter_values[i]);
  }
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
