#include "iropt/analysis/tir/statement_count.h"

#include <algorithm>
#include <limits>

#include "iropt/arith/bounds.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt {

namespace {

using arith::IntBound;
using Count = std::optional<uint64_t>;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

Count Add(Count a, Count b) {
  if (!a || !b) return std::nullopt;
  return *a > kMost - *b ? kMost : *a + *b;
}

Count Multiply(uint64_t times, Count count) {
  uint64_t product = 0;
  if (!count) return std::nullopt;
  return __builtin_mul_overflow(times, *count, &product) ? kMost : product;
}

class StatementCounter : public tir::StmtFunctor<Count(const tir::Stmt*)> {
 public:
  explicit StatementCounter(std::span<const KnownSize> sizes) : bounds_(/*sym_vars_nonnegative=*/true) {
    for (const auto& [var, size] : sizes) bounds_.SetBound(var, {size, size});
  }

 protected:
  Count VisitStmtDefault(const tir::Stmt*) override { return std::nullopt; }

  Count VisitBufferStore(const tir::BufferStore*) override { return 1; }
  Count VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto* call = As<tir::Call>(stmt->value);
    return call && Is<GlobalVar>(call->op) ? std::nullopt : Count(1);
  }
  Count VisitPrefetch(const tir::Prefetch*) override { return 0; }

  Count VisitSeqStmt(const tir::SeqStmt* stmt) override {
    Count sum = 0;
    for (const tir::Stmt* part : stmt->seq) sum = Add(sum, VisitStmt(part));
    return sum;
  }
  Count VisitIfThenElse(const tir::IfThenElse* stmt) override {
    const Count then_count = VisitStmt(stmt->then_case);
    const Count else_count = stmt->else_case ? VisitStmt(stmt->else_case) : Count(0);
    if (!then_count || !else_count) return std::nullopt;
    return std::max(*then_count, *else_count);
  }

  Count VisitFor(const tir::For* loop) override {
    const auto* step = loop->step ? As<tir::IntImm>(loop->step) : nullptr;
    return VisitLoop(loop->loop_var, bounds_.Bound(loop->min), loop->extent, step ? step->value : 1, loop->body);
  }
  Count VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::ThreadAxisOf(*stmt);
    return axis ? VisitLoop(axis->var, {0, 0}, stmt->value, 1, stmt->body) : VisitStmt(stmt->body);
  }

  Count VisitBlockRealize(const tir::BlockRealize* stmt) override {
    for (uint32_t i = 0; i < stmt->iter_values.size(); ++i)
      bounds_.SetBound(stmt->block->iter_vars[i]->var, bounds_.Bound(stmt->iter_values[i]));
    return VisitStmt(stmt->block);
  }
  Count VisitBlock(const tir::Block* block) override {
    const Count init = block->init ? VisitStmt(block->init) : Count(0);
    return Add(init, VisitStmt(block->body));
  }
  Count VisitLetStmt(const tir::LetStmt* stmt) override {
    if (stmt->var->dtype.is_integer()) bounds_.SetBound(stmt->var, bounds_.Bound(stmt->value));
    return VisitStmt(stmt->body);
  }

  Count VisitAssertStmt(const tir::AssertStmt* stmt) override { return VisitStmt(stmt->body); }
  Count VisitAllocate(const tir::Allocate* stmt) override { return VisitStmt(stmt->body); }
  Count VisitAllocateConst(const tir::AllocateConst* stmt) override { return VisitStmt(stmt->body); }
  Count VisitDeclBuffer(const tir::DeclBuffer* stmt) override { return VisitStmt(stmt->body); }
  Count VisitBufferRealize(const tir::BufferRealize* stmt) override { return VisitStmt(stmt->body); }

 private:
  Count VisitLoop(const tir::Var* var, IntBound min, const PrimExpr* extent, int64_t step, const tir::Stmt* body) {
    const int64_t most = bounds_.Bound(extent).max;
    // Nothing is known but the range of the dtype.
    if (most >= std::numeric_limits<int32_t>::max()) return std::nullopt;
    if (most <= 0) return 0;
    IntBound values = min;
    if (__builtin_add_overflow(min.max, most - 1, &values.max)) values.max = IntBound::kPosInf;
    bounds_.SetBound(var, values);
    const int64_t stride = std::max<int64_t>(step, 1);
    const auto times = static_cast<uint64_t>((most - 1) / stride + 1);
    return Multiply(times, VisitStmt(body));
  }

  arith::BoundAnalyzer bounds_;
};

}  // namespace

Count CountStatements(const PrimFunc& function, std::span<const KnownSize> sizes) {
  return StatementCounter(sizes).VisitStmt(function.body);
}

}  // namespace iropt
