// Wrong changes of the order of loops and stores, and of what they have in common.
#include <vector>

#include "bugs.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::wrong {

namespace {

// Two perfectly nested loops, whatever their iterations depend on.
class LoopInterchanger : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* inner = As<tir::For>(loop->body);
    if (!inner) return StmtExprMutator::VisitFor(loop);
    auto* inside = workspace().New<tir::For>(*loop);
    inside->body = inner->body;
    auto* outside = workspace().New<tir::For>(*inner);
    outside->body = inside;
    return outside;
  }
};

// The first of two stores, as if nothing read it in between.
class StoreDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    const auto* first = As<tir::BufferStore>(seq->seq[0]);
    const auto* last = As<tir::BufferStore>(seq->seq[seq->seq.size() - 1]);
    if (!first || !last || first->buffer != last->buffer) return StmtExprMutator::VisitSeqStmt(seq);
    const std::vector<const tir::Stmt*> rest(seq->seq.begin() + 1, seq->seq.end());
    return tir::MakeSeq(workspace(), rest);
  }
};

// Loads of a buffer after the first store of a sequence are replaced by what it had before the store.
class StaleLoads : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    const auto* store = As<tir::BufferStore>(seq->seq[0]);
    if (!store || seq->seq.size() < 2) return StmtExprMutator::VisitSeqStmt(seq);
    const tir::Var* before = workspace().NewPrimVar("before", store->value->dtype);
    std::vector<const tir::Stmt*> stmts = {store};
    stale_ = store->buffer;
    before_ = before;
    for (size_t i = 1; i < seq->seq.size(); ++i) stmts.push_back(VisitStmt(seq->seq[i]));
    stale_ = nullptr;
    const PrimExpr* load = workspace().New<tir::BufferLoad>(store->value->dtype, store->buffer, store->indices);
    return workspace().New<tir::LetStmt>(before, load, tir::MakeSeq(workspace(), stmts));
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    return load->buffer == stale_ ? before_ : StmtExprMutator::VisitBufferLoad(load);
  }

 private:
  const tir::Buffer* stale_ = nullptr;
  const tir::Var* before_ = nullptr;
};

// The buffer that a block allocates takes the memory of the result, also where both are in use.
class BufferReuser : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

  const PrimFunc* VisitPrimFunc(const PrimFunc* function) override {
    result_ = function->param_buffers[function->params.size() - 1];
    return StmtExprMutator::VisitPrimFunc(function);
  }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const bool fits =
        block->alloc_buffers.size() == 1 && block->alloc_buffers[0]->shape.size() == result_->shape.size();
    if (!fits) return StmtExprMutator::VisitBlock(block);
    Remap(block->alloc_buffers[0], result_);
    auto* copy = workspace().New<tir::Block>(*block);
    copy->alloc_buffers = {};
    return StmtExprMutator::VisitBlock(copy);
  }

 private:
  const tir::Buffer* result_ = nullptr;
};

class BarrierDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* evaluate) override {
    if (!CallOf(evaluate->value, op::kTirTvmStorageSync)) return evaluate;
    const arith::PrimBuilder make(workspace());
    return workspace().New<tir::Evaluate>(make.Int(0, DataType::Int(32)));
  }
};

}  // namespace

std::span<const LoopBug> OrderBugs() {
  static const std::vector<LoopBug> bugs = {
      MutateLoops<BarrierDropper>("DropBarrier", "drop barriers between threads"),
      MutateLoops<LoopInterchanger>("Interchange", "interchange loops"),
      MutateLoops<StoreDropper>("DropStore", "drop stores that are overwritten later"),
      MutateLoops<StaleLoads>("StaleLoad", "use what was loaded before a store"),
      MutateLoops<BufferReuser>("ReuseBuffer", "use the memory of results for intermediate values"),
  };
  return bugs;
}

}  // namespace iropt::wrong
