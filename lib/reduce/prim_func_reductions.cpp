// Reductions of PrimFuncs.
#include <algorithm>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/tir/mutator.h"
#include "kept_items.h"
#include "reductions.h"

namespace iropt {

namespace {

// Rewrites each PrimFunc of the module.
template <class Mutator>
void RewritePrimFuncs(Candidate& candidate, Edits& edits) {
  for (size_t i = 0; i < candidate.module.size(); ++i) {
    const ModuleEntry entry = candidate.module.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) continue;
    Workspace workspace(candidate.module, entry.storage);
    const PrimFunc* rewritten = Mutator(edits, workspace).VisitPrimFunc(func);
    if (rewritten != func) candidate.module.SetAt(i, rewritten, workspace.Finish());
  }
}

class EditMutator : public tir::StmtExprMutator {
 public:
  EditMutator(Edits& edits, Workspace& workspace) : StmtExprMutator(workspace), edits_(edits) {}

 protected:
  bool Take(const Node* site, int64_t alternative = 0) { return edits_.Take(site, alternative); }
  arith::PrimBuilder make() { return arith::PrimBuilder(workspace()); }

 private:
  Edits& edits_;
};

class StatementRemover : public EditMutator {
 public:
  using EditMutator::EditMutator;

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    // A block belongs to its BlockRealize.
    const bool removable = !Is<tir::Block>(stmt) && !Is<tir::SeqStmt>(stmt) && !IsNoOp(stmt);
    if (removable && Take(stmt)) return NoOp();
    return StmtExprMutator::VisitStmt(stmt);
  }

 protected:
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> kept;
    for (const tir::Stmt* stmt : seq->seq) {
      const tir::Stmt* visited = VisitStmt(stmt);
      if (!IsNoOp(visited)) kept.push_back(visited);
    }
    if (std::ranges::equal(kept, seq->seq)) return seq;
    return kept.empty() ? NoOp() : tir::MakeSeq(workspace(), kept);
  }

 private:
  const tir::Stmt* NoOp() { return workspace().New<tir::Evaluate>(make().Int(0, DataType::Int(32))); }
};

class StatementUnwrapper : public EditMutator {
 public:
  using EditMutator::EditMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (!Take(loop)) return StmtExprMutator::VisitFor(loop);
    Remap(loop->loop_var, VisitExpr(loop->min));
    return VisitStmt(loop->body);
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (!Take(let)) return StmtExprMutator::VisitLetStmt(let);
    Remap(let->var, VisitExpr(let->value));
    return VisitStmt(let->body);
  }
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branches) override {
    const bool takes_then = Take(branches, 0);
    const bool takes_else = branches->else_case && Take(branches, 1);
    if (takes_then) return VisitStmt(branches->then_case);
    if (takes_else) return VisitStmt(branches->else_case);
    return StmtExprMutator::VisitIfThenElse(branches);
  }
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    const bool has_more = block.init || !block.match_buffers.empty() || !block.alloc_buffers.empty();
    if (has_more || !Take(realize)) return StmtExprMutator::VisitBlockRealize(realize);
    for (uint32_t i = 0; i < block.iter_vars.size(); ++i)
      Remap(block.iter_vars[i]->var, VisitExpr(realize->iter_values[i]));
    return VisitStmt(block.body);
  }
  const tir::Stmt* VisitWhile(const tir::While* loop) override {
    return Take(loop) ? VisitStmt(loop->body) : StmtExprMutator::VisitWhile(loop);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitAttrStmt(stmt);
  }
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitAssertStmt(stmt);
  }
  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitAllocate(stmt);
  }
  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitAllocateConst(stmt);
  }
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitDeclBuffer(stmt);
  }
  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* stmt) override {
    return Take(stmt) ? VisitStmt(stmt->body) : StmtExprMutator::VisitBufferRealize(stmt);
  }
};

class ClauseRemover : public EditMutator {
 public:
  using EditMutator::EditMutator;

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* old) override {
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(old));
    tir::Block block = *visited;
    bool changed = false;
    const auto removes = [&](bool present, Part part) {
      const bool removed = present && Take(old, part);
      changed |= removed;
      return removed;
    };
    if (removes(old->init != nullptr, kInit)) block.init = nullptr;
    if (removes(old->annotations->size() > 0, kAnnotations)) block.annotations = DictAttr::Empty();
    if (removes(!old->reads.empty(), kReads)) block.reads = {};
    if (removes(!old->writes.empty(), kWrites)) block.writes = {};
    changed |= RemoveItems(old, block.alloc_buffers, kFirstAlloc);
    changed |= RemoveItems(old, block.match_buffers, kFirstMatch);
    return changed ? workspace().New<tir::Block>(block) : visited;
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* old) override {
    const List<const tir::IterVar*> axes = old->block->iter_vars;
    std::vector<bool> keep(axes.size(), true);
    for (uint32_t i = 0; i < axes.size(); ++i) {
      if (!Take(axes[i])) continue;
      Remap(axes[i]->var, VisitExpr(old->iter_values[i]));
      keep[i] = false;
    }
    const bool removes_predicate = !Is<tir::IntImm>(old->predicate) && Take(old);
    const auto* visited = To<tir::BlockRealize>(StmtExprMutator::VisitBlockRealize(old));
    const bool keeps_axes = std::ranges::find(keep, false) == keep.end();
    if (keeps_axes && !removes_predicate) return visited;
    auto* copy = workspace().New<tir::BlockRealize>(*visited);
    if (removes_predicate) copy->predicate = make().Bool(true);
    if (!keeps_axes) RemoveAxes(*copy, keep);
    return copy;
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* old) override {
    const auto* visited = To<tir::IfThenElse>(StmtExprMutator::VisitIfThenElse(old));
    if (!old->else_case || !Take(old)) return visited;
    return NewLike<tir::IfThenElse>(workspace(), *old, visited->condition, visited->then_case, nullptr);
  }

  const tir::Stmt* VisitFor(const tir::For* old) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(old));
    const bool plain_kind = old->for_kind == tir::ForKind::kSerial || !Take(old, kKind);
    const bool keeps_annotations = old->annotations->size() == 0 || !Take(old, kAnnotations);
    if (plain_kind && keeps_annotations) return visited;
    auto* copy = workspace().New<tir::For>(*visited);
    if (!keeps_annotations) copy->annotations = DictAttr::Empty();
    if (plain_kind) return copy;
    copy->for_kind = tir::ForKind::kSerial;
    copy->thread_binding = nullptr;
    return copy;
  }

 private:
  enum Part : int64_t { kInit, kAnnotations, kReads, kWrites, kKind, kFirstAlloc, kFirstMatch = int64_t{1} << 32 };

  void RemoveAxes(tir::BlockRealize& realize, const std::vector<bool>& keep) {
    auto* block = workspace().New<tir::Block>(*realize.block);
    block->iter_vars = workspace().Copy(KeepItems(block->iter_vars, keep));
    realize.iter_values = workspace().Copy(KeepItems(realize.iter_values, keep));
    realize.block = block;
  }

  template <class T>
  bool RemoveItems(const Node* site, List<T>& items, int64_t first) {
    std::vector<T> kept;
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (!Take(site, first + i)) kept.push_back(items[i]);
    }
    if (kept.size() == items.size()) return false;
    items = workspace().Copy(kept);
    return true;
  }
};

// Does an expression stand for a number that a zero can replace?
bool HasZero(const PrimExpr* expr) {
  const DataType dtype = expr->dtype;
  return !dtype.is_void() && !dtype.is_handle() && dtype.is_scalar();
}

class ExpressionSimplifier : public EditMutator {
 public:
  using EditMutator::EditMutator;

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (IsLeafOf(expr)) return StmtExprMutator::VisitExpr(expr);
    const PrimExpr* operand = nullptr;
    int64_t number = 0;
    ForEachChild(expr, [&](const Node* child) {
      const auto* value = As<PrimExpr>(child);
      if (value && value->dtype == expr->dtype && Take(expr, ++number) && !operand) operand = value;
    });
    const bool zero = HasZero(expr) && Take(expr, 0);
    if (operand) return VisitExpr(operand);
    return zero ? make().Const(0, expr->dtype) : StmtExprMutator::VisitExpr(expr);
  }

 private:
  static bool IsLeafOf(const PrimExpr* expr) {
    return Is<tir::Var>(expr) || Is<tir::IntImm>(expr) || Is<tir::FloatImm>(expr) || Is<tir::StringImm>(expr);
  }
};

}  // namespace

void RemoveStatements(Candidate& candidate, Edits& edits) { RewritePrimFuncs<StatementRemover>(candidate, edits); }
void UnwrapStatements(Candidate& candidate, Edits& edits) { RewritePrimFuncs<StatementUnwrapper>(candidate, edits); }
void RemoveClauses(Candidate& candidate, Edits& edits) { RewritePrimFuncs<ClauseRemover>(candidate, edits); }
void SimplifyExpressions(Candidate& candidate, Edits& edits) {
  RewritePrimFuncs<ExpressionSimplifier>(candidate, edits);
}

}  // namespace iropt
