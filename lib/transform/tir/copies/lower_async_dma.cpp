// tir.LowerAsyncDMA: lets the DMA engine do the asynchronous copies of contiguous memory.
//
//   with T.attr(0, "async_commit_queue_scope", 0):     with T.attr(0, "async_commit_queue_scope", 0):
//       for i in range(128):                      -->      T.dma_copy(0, T.address_of(B[0]),
//           B[i] = A[i]                                               T.address_of(A[0]), 512, 0)
//   with T.attr(0, "async_wait_queue_scope", 0):       T.dma_wait(0, 0)
//       with T.attr(0, "async_wait_inflight_count", 0):
//           C[0] = B[0]                                C[0] = B[0]
//
// tir.InjectSoftwarePipeline marks what runs asynchronously. A wait becomes T.dma_wait if a copy before or in it went
// to the same queue. Copies that are waited for together are between T.dma_start_group and T.dma_end_group: where a
// queue scope has several of them, or one that is in another attribute, such as async_scope. The configuration
// tir.experimental_dma_bypass_cache is the last operand of the copies.
//
// O(nodes), times the nesting of loops in queue scopes, plus the iterator maps of the indices.
//
// Source: TVM 0.18's pass of this name. Unlike there, copies within one piece of memory stay, because the transfer may
// overwrite what it has not read yet; a queue that is not a constant is left alone, where TVM fails; and a queue scope
// in another one does not end the outer one.
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/tir.experimental_dma_bypass_cache.h"
#include "iropt/arith/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/copies/contiguous_copy.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class AsyncDMALowerer : public arith::StmtExprMutatorWithAnalyzer {
 public:
  AsyncDMALowerer(const PrimFunc& func, bool bypass_cache, Workspace& workspace)
      : StmtExprMutatorWithAnalyzer(func, workspace), bypass_cache_(bypass_cache) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const std::optional<ContiguousCopy> copy =
        scope_ ? FindContiguousCopy(*loop, analyzer()) : std::optional<ContiguousCopy>();
    if (!copy) return StmtExprMutatorWithAnalyzer::VisitFor(loop);
    used_queues_.insert(scope_->queue);
    scope_->is_group = scope_->is_group || scope_->has_copy || scope_->attrs > 0;
    scope_->has_copy = true;
    const PrimExpr* bytes = make().Mul(copy->size, make().Const(copy->source->dtype.bytes(), copy->size->dtype));
    return Call(op::kTirDmaCopy, {Int32(scope_->queue), AddressOf(copy->dest, copy->dest_begin),
                                  AddressOf(copy->source, copy->source_begin), bytes, Int32(bypass_cache_)});
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* attr) override {
    const int64_t* queue = arith::AsInt(attr->value);
    if (queue && attr->attr_key == attr::kAsyncCommitQueueScope) return Commit(*attr, *queue);
    if (queue && attr->attr_key == attr::kAsyncWaitQueueScope) return Wait(*attr, *queue);
    return InAttr(*attr);
  }

 private:
  // An attribute that commits to a queue.
  struct Scope {
    int64_t queue;
    int attrs = 0;  // other attributes around the walk in it
    bool has_copy = false;
    bool is_group = false;
  };

  const tir::Stmt* InAttr(const tir::AttrStmt& attr) {
    if (scope_) ++scope_->attrs;
    const tir::Stmt* visited = StmtExprMutatorWithAnalyzer::VisitAttrStmt(&attr);
    if (scope_) --scope_->attrs;
    return visited;
  }

  const tir::Stmt* Commit(const tir::AttrStmt& attr, int64_t queue) {
    const std::optional<Scope> outer = std::exchange(scope_, Scope{.queue = queue});
    const tir::Stmt* visited = StmtExprMutatorWithAnalyzer::VisitAttrStmt(&attr);
    const bool is_group = scope_->is_group;
    scope_ = outer;
    if (!is_group) return visited;
    const std::array<const tir::Stmt*, 3> stmts{Call(op::kTirDmaStartGroup, {Int32(queue)}), visited,
                                                Call(op::kTirDmaEndGroup, {Int32(queue)})};
    return MakeFlatSeq(workspace(), stmts);
  }

  const tir::Stmt* Wait(const tir::AttrStmt& attr, int64_t queue) {
    const auto* in_flight = As<tir::AttrStmt>(attr.body);
    if (!in_flight || in_flight->attr_key != attr::kAsyncWaitInflightCount) return InAttr(attr);
    const tir::Stmt* body = VisitStmt(in_flight->body);
    if (used_queues_.contains(queue)) {
      const std::array<const tir::Stmt*, 2> stmts{Call(op::kTirDmaWait, {Int32(queue), in_flight->value}), body};
      return MakeFlatSeq(workspace(), stmts);
    }
    if (body == in_flight->body) return &attr;
    tir::AttrStmt inner = *in_flight;
    inner.body = body;
    tir::AttrStmt copy = attr;
    copy.body = workspace().New<tir::AttrStmt>(inner);
    return workspace().New<tir::AttrStmt>(copy);
  }

  const PrimExpr* Int32(int64_t value) { return make().Int(value, DataType::Int(32)); }
  const PrimExpr* AddressOf(const tir::Buffer* buffer, const PrimExpr* index) {
    const PrimExpr* element =
        workspace().New<tir::BufferLoad>(buffer->dtype, buffer, workspace().Copy(std::vector{index}));
    return workspace().New<tir::Call>(DataType::Handle(), GetOp(op::kTirAddressOf),
                                      workspace().Copy(std::vector{element}));
  }
  const tir::Stmt* Call(OpId op, std::initializer_list<const PrimExpr*> args) {
    return workspace().New<tir::Evaluate>(workspace().New<tir::Call>(
        DataType::Int(32), GetOp(op), workspace().Copy(std::span(args.begin(), args.size()))));
  }

  const bool bypass_cache_;
  std::optional<Scope> scope_;      // the innermost one
  LookupSet<int64_t> used_queues_;  // by copies
};

bool CommitsAsyncCopies(const tir::Stmt* stmt) {
  const auto* attr = As<tir::AttrStmt>(stmt);
  return attr && attr->attr_key == attr::kAsyncCommitQueueScope;
}

}  // namespace

Pass CreateLowerAsyncDMA(const PassOptions& options) {
  return CreateBodyPass(
      options.info(), {.needs = &CommitsAsyncCopies}, [](const PrimFunc& func, FunctionPassContext& context) {
        const bool bypass_cache = context.context().Config(config::tir::experimental_dma_bypass_cache);
        return AsyncDMALowerer(func, bypass_cache, context.workspace()).VisitStmt(func.body);
      });
}

}  // namespace iropt
