#include "transform/tir/util/loop_pass.h"

#include <algorithm>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "transform/tir/util/legacy_schedule.h"

namespace iropt {

namespace {

constexpr std::string_view kFromLegacySchedule = "from_legacy_te_schedule";

bool IsNoOp(const tir::Stmt* stmt) {
  const auto* evaluate = As<tir::Evaluate>(stmt);
  return evaluate && arith::IsInt(evaluate->value, 0);
}

}  // namespace

bool AnyStmt(const tir::Stmt* stmt, FunctionRef<bool(const tir::Stmt*)> holds) {
  return tir::FindStmt(stmt, holds) != nullptr;
}

bool HasNoOps(const tir::Stmt* stmt) {
  const auto* seq = As<tir::SeqStmt>(stmt);
  return seq && std::ranges::any_of(seq->seq, IsNoOp);
}

bool IsFromLegacySchedule(const PrimFunc& func) {
  const auto* value = As<IntAttr>(func.attrs->Find(kFromLegacySchedule));
  return value && value->value != 0;
}

const tir::Stmt* MakeFlatSeq(Workspace& workspace, std::span<const tir::Stmt* const> stmts) {
  const tir::Stmt* stmt = tir::MakeSeq(workspace, stmts);
  const auto* seq = As<tir::SeqStmt>(stmt);
  if (!seq || std::ranges::none_of(seq->seq, IsNoOp)) return stmt;
  std::vector<const tir::Stmt*> kept;
  for (const tir::Stmt* inner : seq->seq) {
    if (!IsNoOp(inner)) kept.push_back(inner);
  }
  return kept.empty() ? seq->seq[0] : tir::MakeSeq(workspace, kept);
}

const tir::Stmt* LoopMutator::VisitSeqStmt(const tir::SeqStmt* stmt) {
  std::vector<const tir::Stmt*> kept;
  const tir::Stmt* no_op = nullptr;
  bool same = true;
  for (const tir::Stmt* inner : stmt->seq) {
    const tir::Stmt* visited = VisitStmt(inner);
    same &= visited == inner;
    // The sequence that was made last has none.
    if (!IsLastSequence(visited) && HasNoOps(visited))
      visited = MakeFlatSeq(workspace(), To<tir::SeqStmt>(visited)->seq);
    if (IsNoOp(visited)) {
      if (!no_op) no_op = visited;
    } else {
      kept.push_back(visited);
    }
  }
  if (same && !no_op) return stmt;
  return kept.empty() ? no_op : Sequence(kept);
}

const tir::Buffer* LoopMutator::RewriteBuffer(const tir::Buffer* buffer) {
  if (const tir::Buffer* remapped = RemapOf(buffer)) return remapped;
  if (seen_.Find(buffer)) return buffer;
  seen_.Set(buffer, buffer);
  const auto visit_all = [this](List<const PrimExpr*>& exprs) {
    std::vector<const PrimExpr*> visited;
    visited.reserve(exprs.size());
    for (const PrimExpr* expr : exprs) visited.push_back(VisitExpr(expr));
    if (std::ranges::equal(visited, exprs)) return false;
    exprs = workspace().Copy(visited);
    return true;
  };
  tir::Buffer copy = *buffer;
  copy.data = To<tir::Var>(VisitExpr(buffer->data));
  bool changed = copy.data != buffer->data;
  changed |= visit_all(copy.shape);
  changed |= visit_all(copy.strides);
  if (buffer->elem_offset) copy.elem_offset = VisitExpr(buffer->elem_offset);
  changed |= copy.elem_offset != buffer->elem_offset;
  if (!changed) return buffer;
  copy.id = workspace().NextVarId();
  const auto* rewritten = workspace().New<tir::Buffer>(copy);
  Remap(buffer, rewritten);
  return rewritten;
}

const PrimFunc* WithBody(const PrimFunc* func, const tir::Stmt* body, Workspace& workspace) {
  if (body == func->body) return func;
  auto* copy = workspace.New<PrimFunc>(*func);
  copy->body = body;
  return copy;
}

Pass CreateLoopPass(const PassInfo& info, PrimFuncPassFn run) {
  return CreatePrimFuncPass(
      info, [run = std::move(run)](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        if (IsFromLegacySchedule(*func)) return func;
        return run(func, context);
      });
}

}  // namespace iropt
