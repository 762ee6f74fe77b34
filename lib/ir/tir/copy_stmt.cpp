#include "iropt/ir/tir/copy_stmt.h"

#include "iropt/ir/dispatch.h"
#include "iropt/ir/map_list.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

// Clearing a table costs as much as it once held: the small copies after a big one must not.
template <class Table>
void Clear(Table& table) {
  constexpr size_t kFew = 64;
  if (table.size() > kFew) {
    table = {};
  } else {
    table.clear();
  }
}

}  // namespace

const tir::Stmt* StmtCopier::Copy(const tir::Stmt* stmt, std::initializer_list<Value> values,
                                  OwnDefinitions definitions) {
  Clear(vars_);
  Clear(buffers_);
  for (const auto& [var, value] : values) vars_.try_emplace(var, value);
  renew_ = definitions == OwnDefinitions::kRenew;
  return VisitStmt(stmt);
}

const PrimExpr* StmtCopier::Copy(const PrimExpr* expr) {
  Clear(vars_);
  Clear(buffers_);
  renew_ = true;
  return VisitExpr(expr);
}

const tir::Stmt* StmtCopier::Renew(const tir::Stmt* visited, const tir::Stmt* original) {
  if (!renew_ || visited != original) return visited;
  return DispatchIn<NodeGroup::kStmt>(
      visited, [this]<class X>(const X* stmt) -> const tir::Stmt* { return workspace().New<X>(*stmt); });
}

const tir::Stmt* StmtCopier::VisitStmt(const tir::Stmt* stmt) { return Renew(StmtExprMutator::VisitStmt(stmt), stmt); }

const PrimExpr* StmtCopier::VisitVar(const tir::Var* var) { return vars_.Lookup(var, var); }

const tir::Var* StmtCopier::VisitVarDef(const tir::Var* var) {
  if (!renew_ || var->context_owned()) return var;
  const tir::Var* copy = workspace().NewPrimVar(var->name, var->dtype, var->pointer);
  vars_[var] = copy;
  return copy;
}

void StmtCopier::Define(const PrimExpr* expr) {
  const auto* var = renew_ ? As<tir::Var>(expr) : nullptr;
  if (var && !vars_.contains(var)) VisitVarDef(var);
}

const tir::Stmt* StmtCopier::VisitBlock(const tir::Block* block) {
  for (const tir::Buffer* buffer : block->alloc_buffers) Define(buffer->data);
  for (const tir::MatchBufferRegion* match : block->match_buffers) {
    const tir::Buffer& buffer = *match->buffer;
    Define(buffer.data);
    Define(buffer.elem_offset);
    for (const PrimExpr* stride : buffer.strides) Define(stride);
    for (const PrimExpr* dim : buffer.shape) Define(dim);
  }
  return Renew(StmtExprMutator::VisitBlock(block), block);
}

const tir::Stmt* StmtCopier::VisitBufferRealize(const tir::BufferRealize* realize) {
  Define(realize->buffer->data);
  return StmtExprMutator::VisitBufferRealize(realize);
}

const tir::Buffer* StmtCopier::CopyBuffer(const tir::Buffer* buffer, bool is_definition) {
  const auto [known, is_new] = buffers_.try_emplace(buffer, buffer);
  if (!is_new) return known;
  tir::Buffer copy = *buffer;
  copy.data = To<tir::Var>(VisitExpr(buffer->data));
  const auto visit = [this](const PrimExpr* expr) { return VisitExpr(expr); };
  copy.shape = MapList(buffer->shape, workspace(), visit);
  copy.strides = MapList(buffer->strides, workspace(), visit);
  if (buffer->elem_offset) copy.elem_offset = VisitExpr(buffer->elem_offset);
  if (buffer->layout) copy.layout = VisitExpr(buffer->layout);
  copy.allocated_addr = MapList(buffer->allocated_addr, workspace(), visit);
  if (!is_definition && tir::HaveSameParts(*buffer, copy)) return buffer;
  copy.id = workspace().NextVarId();
  return buffers_[buffer] = workspace().New<tir::Buffer>(copy);
}

const PrimExpr* CopyExpr(const PrimExpr* expr, Workspace& workspace) {
  bool defines = false;
  tir::PostOrderVisit(expr, [&](const Node* node) { defines |= Is<tir::Let>(node) || Is<tir::Reduce>(node); });
  return defines ? StmtCopier(workspace).Copy(expr) : expr;
}

}  // namespace iropt
