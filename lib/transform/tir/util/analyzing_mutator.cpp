#include "transform/tir/util/analyzing_mutator.h"

#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"

namespace iropt {

bool HasConstantCondition(const tir::Stmt* stmt) {
  const auto* branch = As<tir::IfThenElse>(stmt);
  if (!branch) return false;
  const auto* likely = As<tir::Call>(branch->condition);
  return arith::AsInt(likely && IsOp(likely->op, OpId::kTirLikely) ? likely->args[0] : branch->condition);
}

bool HasConstantSelection(const tir::Stmt* stmt) {
  class Search : public tir::StmtExprVisitor {
   public:
    bool found = false;

   protected:
    void VisitCall(const tir::Call* call) override {
      found |= IsOp(call->op, OpId::kTirIfThenElse) && call->args.size() == 3 && arith::AsInt(call->args[0]);
      StmtExprVisitor::VisitCall(call);
    }
    void VisitSelect(const tir::Select* select) override {
      found |= arith::AsInt(select->condition) != nullptr;
      StmtExprVisitor::VisitSelect(select);
    }
  };
  Search search;
  search.VisitStmt(stmt);
  return search.found;
}

AnalyzingMutator::AnalyzingMutator(const PrimFunc& func, Workspace& workspace)
    : LoopMutator(workspace), analyzer_(arith::PrimBuilder(workspace.arena()), arith::Analyzer::SymVars::kAny) {
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) {
      if (const auto* var = As<tir::Var>(dim)) analyzer_.bounds().SetBound(var, {.min = 0});
    }
  }
}

bool AnalyzingMutator::UsesIter(const PrimExpr* expr) const {
  bool uses = false;
  tir::ForEachVar(expr, [&](const tir::Var* var) { uses |= iters_.contains(var); });
  return uses;
}

void AnalyzingMutator::BindRange(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
  analyzer_.Bind(var, min, extent);
  iters_are_independent_ &= !UsesIter(min) && !UsesIter(extent);
  iters_.insert_or_assign(var, tir::Range(min, extent));
}

void AnalyzingMutator::BindRange(const tir::IterVar& axis) {
  if (axis.dom) BindRange(axis.var, axis.dom->min, axis.dom->extent);
}

const PrimExpr* AnalyzingMutator::SimplifyIndex(const PrimExpr* index) {
  return iters_are_independent_ ? arith::SimplifyIterMap(index, iters_, iter_conditions_, analyzer_) : index;
}

const tir::Stmt* AnalyzingMutator::VisitFor(const tir::For* loop) {
  BindRange(loop->loop_var, loop->min, loop->extent);
  return LoopMutator::VisitFor(loop);
}

const tir::Stmt* AnalyzingMutator::VisitBlock(const tir::Block* block) {
  for (const tir::IterVar* axis : block->iter_vars) BindRange(*axis);
  return LoopMutator::VisitBlock(block);
}

const tir::Stmt* AnalyzingMutator::VisitLetStmt(const tir::LetStmt* let) {
  tir::LetStmt copy = *let;
  copy.value = VisitExpr(let->value);
  if (arith::IsPure(copy.value)) analyzer_.Bind(let->var, copy.value);
  copy.body = VisitStmt(let->body);
  const bool same = copy.value == let->value && copy.body == let->body;
  return same ? let : workspace().New<tir::LetStmt>(copy);
}

const tir::Stmt* AnalyzingMutator::VisitIfThenElse(const tir::IfThenElse* stmt) {
  tir::IfThenElse copy = *stmt;
  copy.condition = VisitExpr(stmt->condition);
  const auto* likely = As<tir::Call>(copy.condition);
  const bool is_likely = likely && IsOp(likely->op, OpId::kTirLikely);
  const PrimExpr* condition = is_likely ? likely->args[0] : copy.condition;
  copy.then_case = WhereIters(condition, [&] { return VisitStmt(stmt->then_case); });
  if (stmt->else_case) {
    copy.else_case =
        Where(analyzer_.RewriteSimplify(make().Not(condition)), [&] { return VisitStmt(stmt->else_case); });
  }
  if (arith::IsInt(condition, 1)) return copy.then_case;
  if (arith::IsInt(condition, 0))
    return copy.else_case ? copy.else_case : workspace().New<tir::Evaluate>(make().Int(0, DataType::Int(32)));
  const bool same =
      copy.condition == stmt->condition && copy.then_case == stmt->then_case && copy.else_case == stmt->else_case;
  return same ? stmt : workspace().New<tir::IfThenElse>(copy);
}

const tir::Stmt* AnalyzingMutator::VisitAttrStmt(const tir::AttrStmt* stmt) {
  const auto* axis = As<tir::IterVar>(stmt->node);
  if (axis && (stmt->attr_key == "thread_extent" || stmt->attr_key == "virtual_thread"))
    BindRange(axis->var, make().Const(0, stmt->value->dtype), stmt->value);
  return LoopMutator::VisitAttrStmt(stmt);
}

const tir::Stmt* AnalyzingMutator::VisitAssertStmt(const tir::AssertStmt* stmt) {
  tir::AssertStmt copy = *stmt;
  copy.condition = VisitExpr(stmt->condition);
  copy.message = VisitExpr(stmt->message);
  copy.body = Where(copy.condition, [&] { return VisitStmt(stmt->body); });
  const bool same = copy.condition == stmt->condition && copy.message == stmt->message && copy.body == stmt->body;
  return same ? stmt : workspace().New<tir::AssertStmt>(copy);
}

const PrimExpr* AnalyzingMutator::VisitCall(const tir::Call* call) {
  if (!IsOp(call->op, OpId::kTirIfThenElse) || call->args.size() != 3) return LoopMutator::VisitCall(call);
  const PrimExpr* condition = VisitExpr(call->args[0]);
  const PrimExpr* then_value = WhereIters(
      condition, [&] { return VisitExpr(call->args[1]); }, true);
  // As in TVM, conditions on memory do not count here.
  const PrimExpr* else_value = WhereIters(make().Not(condition), [&] { return VisitExpr(call->args[2]); });
  if (arith::IsInt(condition, 1)) return then_value;
  if (arith::IsInt(condition, 0)) return else_value;
  if (condition == call->args[0] && then_value == call->args[1] && else_value == call->args[2]) return call;
  const std::vector<const PrimExpr*> args = {condition, then_value, else_value};
  return workspace().New<tir::Call>(call->dtype, call->op, workspace().Copy(args));
}

const PrimExpr* AnalyzingMutator::VisitLet(const tir::Let* let) {
  const PrimExpr* value = VisitExpr(let->value);
  if (arith::IsPure(value)) analyzer_.Bind(let->var, value);
  const PrimExpr* body = VisitExpr(let->body);
  return value == let->value && body == let->body ? let : workspace().New<tir::Let>(let->var, value, body);
}

const PrimExpr* AnalyzingMutator::VisitSelect(const tir::Select* select) {
  const PrimExpr* condition = VisitExpr(select->condition);
  const PrimExpr* then_value = Where(
      condition, [&] { return VisitExpr(select->true_value); }, true);
  const PrimExpr* else_value = Where(
      analyzer_.RewriteSimplify(make().Not(condition)), [&] { return VisitExpr(select->false_value); }, true);
  if (arith::IsInt(condition, 1)) return then_value;
  if (arith::IsInt(condition, 0)) return else_value;
  const bool same =
      condition == select->condition && then_value == select->true_value && else_value == select->false_value;
  return same ? select : workspace().New<tir::Select>(condition, then_value, else_value);
}

const PrimExpr* AnalyzingMutator::VisitReduce(const tir::Reduce* reduce) {
  for (const tir::IterVar* axis : reduce->axis) BindRange(*axis);
  return LoopMutator::VisitReduce(reduce);
}

}  // namespace iropt
