// A mutator with an analyzer that also knows, on demand, the values of buffers.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "buffer_facts.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/stack.h"

namespace iropt {

class BufferFactsMutator : public arith::StmtExprMutatorWithAnalyzer {
 public:
  BufferFactsMutator(arith::Analyzer& analyzer, bool by_values, Workspace& workspace)
      : Base(analyzer, workspace, {.mutator = tir::kDropNoOps, .resolve_conditions = false}), analyzer_(analyzer) {
    if (by_values) facts_ = std::make_unique<BufferFacts>(analyzer, workspace);
  }

  // Expressions stay as they are, unless a derived class changes them.
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (facts_) facts_->Evaluate(expr);
    return expr;
  }

 protected:
  using Base = arith::StmtExprMutatorWithAnalyzer;

  // visit(), with the loop variable in its range.
  template <class F>
  const tir::Stmt* InLoop(const tir::For* loop, F&& visit) {
    if (facts_ && loop->for_kind == tir::ForKind::kThreadBinding) return VisitWithoutFacts(loop);
    const BufferFacts::State before = facts_ ? facts_->state() : BufferFacts::State();
    analyzer_.Bind(loop->loop_var, loop->min, loop->extent);
    if (facts_) facts_->EnterLoop(*loop);
    const tir::Stmt* result = visit();
    analyzer_.Unbind(loop->loop_var);
    if (facts_) facts_->LeaveLoop(*loop, before);
    return result;
  }

  void VisitBranches(const PrimExpr* condition, tir::IfThenElse& branch) override {
    if (const tir::Call* likely = CallOf(condition, op::kTirLikely)) condition = likely->args[0];
    const BufferFacts::State before = facts_ ? facts_->state() : BufferFacts::State();
    branch.then_case = VisitWhere(condition, branch.then_case);
    const BufferFacts::State after_then = facts_ ? facts_->state() : BufferFacts::State();
    if (facts_) facts_->set_state(before);
    if (branch.else_case) {
      const PrimExpr* negated = analyzer_.RewriteSimplify(analyzer_.make().Not(condition));
      branch.else_case = VisitWhere(negated, branch.else_case);
    }
    if (facts_) facts_->Join(condition, after_then, BufferFacts::State(facts_->state()));
  }

  const tir::Stmt* VisitWhere(const PrimExpr* condition, const tir::Stmt* stmt) {
    const arith::Analyzer::Constraint scope(analyzer_, condition);
    if (facts_) facts_->Assume(condition);
    return VisitStmt(stmt);
  }

  // Visits a statement in which values of buffers are not known, because other threads run or memory has several names.
  const tir::Stmt* VisitWithoutFacts(const tir::Stmt* stmt) {
    std::unique_ptr<BufferFacts> outer = std::move(facts_);
    const tir::Stmt* result = VisitStmt(stmt);
    facts_ = std::move(outer);
    facts_->InvalidateAll();
    return result;
  }

  const PrimExpr* Resolve(const PrimExpr* expr) { return facts_ ? facts_->Resolve(expr) : expr; }
  // The condition that the statement assumes; null if it is another statement, or if values do not matter.
  const PrimExpr* AssumedCondition(const tir::Stmt* stmt) const {
    const auto* evaluate = As<tir::Evaluate>(stmt);
    const tir::Call* call = evaluate && facts_ ? CallOf(evaluate->value, op::kTirAssume) : nullptr;
    return call ? call->args[0] : nullptr;
  }

  // A pointer may refer to memory that has another name.
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (facts_ && let->var->dtype.is_handle()) return VisitWithoutFacts(let);
    const tir::Stmt* result = Base::VisitLetStmt(let);
    if (facts_) facts_->Forget(*let->var);
    return result;
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return facts_ && Is<tir::IterVar>(stmt->node) ? VisitWithoutFacts(stmt) : Base::VisitAttrStmt(stmt);
  }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const PrimExpr* assumption = AssumedCondition(stmt);
    if (!assumption) return Base::VisitEvaluate(stmt);
    facts_->Assume(assumption);
    return stmt;
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Block* block = facts_ ? BlockOfNest(*loop) : nullptr;
    return block ? VisitNest(loop, *block) : InLoop(loop, [&] { return VisitLoop(loop); });
  }
  // With what is known in the loop.
  virtual const tir::Stmt* VisitLoop(const tir::For* loop) {
    return tir::StmtExprMutator::VisitFor(loop);  // NOLINT(bugprone-parent-virtual-call): the range is bound already
  }
  const tir::Stmt* VisitWhile(const tir::While* loop) override {
    if (!facts_) return Base::VisitWhile(loop);
    facts_->Invalidate(loop);
    const BufferFacts::State state = facts_->state();
    const tir::Stmt* result = Base::VisitWhile(loop);
    facts_->set_state(state);
    return result;
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const bool is_scope = block->iter_vars.empty() && block->match_buffers.empty() && !block->init;
    return facts_ && !is_scope ? VisitWithoutFacts(block) : Base::VisitBlock(block);
  }

  // The block that is all that is in the nest of loops, and whose variables are those of the loops, in their order.
  // Null if there is none.
  static const tir::Block* BlockOfNest(const tir::For& outermost) {
    std::vector<const tir::For*> loops;
    const tir::Stmt* stmt = &outermost;
    for (; Is<tir::For>(stmt); stmt = loops.back()->body) {
      const auto* loop = To<tir::For>(stmt);
      if (loop->for_kind != tir::ForKind::kSerial || loop->step || !arith::IsInt(loop->min, 0)) return nullptr;
      loops.push_back(loop);
    }
    const auto* realize = As<tir::BlockRealize>(stmt);
    if (!realize || realize->iter_values.size() != loops.size() || !arith::IsInt(realize->predicate, 1)) return nullptr;
    const tir::Block* block = realize->block;
    if (block->init || !block->alloc_buffers.empty() || !block->match_buffers.empty()) return nullptr;
    for (uint32_t i = 0; i < loops.size(); ++i) {
      const tir::Range* domain = block->iter_vars[i]->dom;
      if (realize->iter_values[i] != loops[i]->loop_var || !arith::IsInt(domain->min, 0) ||
          !DeepEqual(domain->extent, loops[i]->extent)) {
        return nullptr;
      }
    }
    return block;
  }
  // Visits the body of the block as that of loops over its variables.
  const tir::Stmt* VisitNest(const tir::For* outermost, const tir::Block& block) {
    std::vector<tir::For> loops;
    const tir::Stmt* stmt = outermost;
    for (; Is<tir::For>(stmt); stmt = loops.back().body) loops.push_back(*To<tir::For>(stmt));
    std::vector<tir::For> nest = loops;
    for (size_t i = nest.size(); i-- > 0;) {
      nest[i].loop_var = block.iter_vars[static_cast<uint32_t>(i)]->var;
      nest[i].body = i + 1 < nest.size() ? &nest[i + 1] : block.body;
    }
    const tir::Stmt* body = VisitBodyOfNest(nest, block, 0);
    if (body == block.body) return outermost;
    auto* copy = workspace().New<tir::Block>(block);
    copy->body = body;
    auto* realize = workspace().New<tir::BlockRealize>(*To<tir::BlockRealize>(stmt));
    realize->block = copy;
    const tir::Stmt* result = realize;
    for (size_t i = loops.size(); i-- > 0;) {
      loops[i].body = result;
      result = workspace().New<tir::For>(loops[i]);
    }
    return result;
  }
  const tir::Stmt* VisitBodyOfNest(std::span<const tir::For> nest, const tir::Block& block, size_t depth) {
    if (depth == nest.size()) return VisitStmt(block.body);
    return InLoop(&nest[depth], [&] { return WithStack([&] { return VisitBodyOfNest(nest, block, depth + 1); }); });
  }

  arith::Analyzer& analyzer_;
  std::unique_ptr<BufferFacts> facts_;  // null if not wanted, and where they cannot be known
};

}  // namespace iropt
