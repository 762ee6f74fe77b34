#include "iropt/arith/mutator.h"

#include "iropt/arith/bind_value.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::arith {

namespace {

std::unique_ptr<Analyzer> MakeAnalyzer(const PrimFunc& func, Workspace& workspace) {
  auto analyzer = std::make_unique<Analyzer>(PrimBuilder(workspace), Analyzer::SymVars::kAny);
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) {
      if (const auto* var = As<tir::Var>(dim)) analyzer->bounds().SetBound(var, {.min = 0});
    }
  }
  return analyzer;
}

// The condition without T.likely around it.
const PrimExpr* StripLikely(const PrimExpr* condition) {
  const auto* call = As<tir::Call>(condition);
  return call && IsOp(call->op, op::kTirLikely) ? call->args[0] : condition;
}

}  // namespace

StmtExprMutatorWithAnalyzer::StmtExprMutatorWithAnalyzer(const PrimFunc& func, Workspace& workspace,
                                                         AnalyzerMutatorOptions options)
    : StmtExprMutator(workspace, options.mutator),
      own_(MakeAnalyzer(func, workspace)),
      analyzer_(*own_),
      resolve_conditions_(options.resolve_conditions) {}

StmtExprMutatorWithAnalyzer::StmtExprMutatorWithAnalyzer(Analyzer& analyzer, Workspace& workspace,
                                                         AnalyzerMutatorOptions options)
    : StmtExprMutator(workspace, options.mutator),
      analyzer_(analyzer),
      resolve_conditions_(options.resolve_conditions) {}

bool StmtExprMutatorWithAnalyzer::UsesIter(const PrimExpr* expr) const { return tir::UsesAnyOf(iters_, expr); }

void StmtExprMutatorWithAnalyzer::BindRange(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
  analyzer_.Bind(var, min, extent);
  iters_are_independent_ &= !UsesIter(min) && !UsesIter(extent);
  iters_.insert_or_assign(var, tir::Range(min, extent));
}

void StmtExprMutatorWithAnalyzer::BindRange(const tir::IterVar& axis) {
  if (axis.dom) BindRange(axis.var, axis.dom->min, axis.dom->extent);
}

std::vector<const PrimExpr*> StmtExprMutatorWithAnalyzer::SimplifyIndices(List<const PrimExpr*> indices) {
  const PrimExpr* condition = nullptr;
  for (const PrimExpr* c : iter_conditions_) condition = condition ? make().Binary(NodeKind::kAnd, condition, c) : c;
  std::vector<const PrimExpr*> simple =
      SimplifyIterMaps(indices, iters_, condition, /*simplify_trivial_iterators=*/true, analyzer_);
  for (size_t i = 0; i < simple.size(); ++i) {
    if (AsInt(simple[i]) && Is<tir::Var>(indices[i])) simple[i] = indices[i];
  }
  return simple;
}

const PrimExpr* StmtExprMutatorWithAnalyzer::SimplifyIndex(const PrimExpr* index) {
  return iters_are_independent_ ? SimplifyIterMap(index, iters_, iter_conditions_, analyzer_) : index;
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitFor(const tir::For* loop) {
  BindRange(loop->loop_var, loop->min, loop->extent);
  const tir::Stmt* result = StmtExprMutator::VisitFor(loop);
  analyzer_.Unbind(loop->loop_var);
  return result;
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitBlock(const tir::Block* block) {
  for (const tir::IterVar* axis : block->iter_vars) BindRange(*axis);
  const tir::Stmt* result = StmtExprMutator::VisitBlock(block);
  for (const tir::IterVar* axis : block->iter_vars) analyzer_.Unbind(axis->var);
  return result;
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitLetStmt(const tir::LetStmt* let) {
  tir::LetStmt copy = *let;
  copy.value = VisitExpr(let->value);
  if (IsPure(copy.value)) BindValue(analyzer_, let->var, copy.value);
  copy.body = VisitStmt(let->body);
  return tir::CopyIfChanged(let, copy, workspace());
}

void StmtExprMutatorWithAnalyzer::VisitBranches(const PrimExpr* condition, tir::IfThenElse& branch) {
  condition = StripLikely(condition);
  branch.then_case = WhereIters(condition, [&] { return VisitStmt(branch.then_case); });
  if (!branch.else_case) return;
  const PrimExpr* negated = analyzer_.RewriteSimplify(make().Not(condition));
  branch.else_case = Where(negated, [&] { return VisitStmt(branch.else_case); });
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitIfThenElse(const tir::IfThenElse* stmt) {
  tir::IfThenElse copy = *stmt;
  copy.condition = VisitExpr(stmt->condition);
  VisitBranches(copy.condition, copy);
  const PrimExpr* condition = StripLikely(copy.condition);
  if (resolve_conditions_ && IsInt(condition, 1)) return copy.then_case;
  if (resolve_conditions_ && IsInt(condition, 0)) return copy.else_case ? copy.else_case : tir::NoOp(workspace());
  return tir::CopyIfChanged(stmt, copy, workspace());
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitAttrStmt(const tir::AttrStmt* stmt) {
  if (const tir::IterVar* axis = tir::ThreadAxisOf(*stmt))
    BindRange(axis->var, make().Const(0, stmt->value->dtype), stmt->value);
  return StmtExprMutator::VisitAttrStmt(stmt);
}

const tir::Stmt* StmtExprMutatorWithAnalyzer::VisitAssertStmt(const tir::AssertStmt* stmt) {
  tir::AssertStmt copy = *stmt;
  copy.condition = VisitExpr(stmt->condition);
  copy.message = VisitExpr(stmt->message);
  copy.body = Where(copy.condition, [&] { return VisitStmt(stmt->body); });
  return tir::CopyIfChanged(stmt, copy, workspace());
}

const PrimExpr* StmtExprMutatorWithAnalyzer::VisitCall(const tir::Call* call) {
  if (!IsOp(call->op, op::kTirIfThenElse) || call->args.size() != 3) return StmtExprMutator::VisitCall(call);
  const PrimExpr* condition = VisitExpr(call->args[0]);
  const PrimExpr* then_value = WhereIters(
      condition, [&] { return VisitExpr(call->args[1]); }, true);
  // As in TVM, conditions on memory do not count here.
  const PrimExpr* else_value = WhereIters(make().Not(condition), [&] { return VisitExpr(call->args[2]); });
  if (resolve_conditions_ && IsInt(condition, 1)) return then_value;
  if (resolve_conditions_ && IsInt(condition, 0)) return else_value;
  if (condition == call->args[0] && then_value == call->args[1] && else_value == call->args[2]) return call;
  const std::vector<const PrimExpr*> args = {condition, then_value, else_value};
  return workspace().New<tir::Call>(call->dtype, call->op, workspace().Copy(args));
}

const PrimExpr* StmtExprMutatorWithAnalyzer::VisitLet(const tir::Let* let) {
  const PrimExpr* value = VisitExpr(let->value);
  if (IsPure(value)) BindValue(analyzer_, let->var, value);
  const PrimExpr* body = VisitExpr(let->body);
  return value == let->value && body == let->body ? let : workspace().New<tir::Let>(let->var, value, body);
}

const PrimExpr* StmtExprMutatorWithAnalyzer::VisitSelect(const tir::Select* select) {
  const PrimExpr* condition = VisitExpr(select->condition);
  const PrimExpr* then_value = Where(
      condition, [&] { return VisitExpr(select->true_value); }, true);
  const PrimExpr* else_value = Where(
      analyzer_.RewriteSimplify(make().Not(condition)), [&] { return VisitExpr(select->false_value); }, true);
  if (resolve_conditions_ && IsInt(condition, 1)) return then_value;
  if (resolve_conditions_ && IsInt(condition, 0)) return else_value;
  const bool same =
      condition == select->condition && then_value == select->true_value && else_value == select->false_value;
  return same ? select : workspace().New<tir::Select>(condition, then_value, else_value);
}

const PrimExpr* StmtExprMutatorWithAnalyzer::VisitReduce(const tir::Reduce* reduce) {
  for (const tir::IterVar* axis : reduce->axis) BindRange(*axis);
  return StmtExprMutator::VisitReduce(reduce);
}

}  // namespace iropt::arith
