// tir.ManifestSharedMemoryLocalStage: loads what is copied to shared memory into local memory first.
//
//   S = T.alloc_buffer((8,), scope="shared")                     L = T.alloc_buffer((8,), scope="local")
//   for i in range(8):                                           for i in range(8):
//       with T.block("S"):                              -->          with T.block(""):
//           T.block_attr({"tir.manifest_...": 1})                        L[i] = A[i]
//           S[i] = A[i]                                          for i in range(8):
//                                                                    with T.block("S"):
//                                                                        S[i] = L[i]
//
// In blocks with this attribute, which is removed. Their loops up to the block that allocates the shared memory must be
// serial or vectorized, and have nothing else in them, and they have no axes (see tir.ConvertBlocksToOpaque); the new
// buffer has their extents, and the copies to it come first in that block. Anything else is an error. O(nodes).
//
// Source: TVM 0.18's pass of this name. There, a loop that does not begin with 0 selects other elements of the new
// buffer.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/attr.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/prim_func_pass.h"
#include "transform/tir/util/staging_buffer.h"

namespace iropt {

namespace {

// The copy to a local buffer, which stands before the copy from it to the shared one.
struct LocalStage {
  const tir::Buffer* local;
  const tir::Stmt* copy;
};

class LocalStageInserter : public tir::StmtExprMutator {
 public:
  LocalStageInserter(Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), diagnostics_(diagnostics), make_(workspace) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    path_.push_back(loop);
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    path_.pop_back();
    return visited;
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    path_.push_back(realize);
    const tir::Stmt* visited = StmtExprMutator::VisitBlockRealize(realize);
    path_.pop_back();
    return visited;
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (block->annotations->Find(attr::kManifestSharedMemoryLocalStage)) return Split(*block);
    std::vector<const tir::Stmt*> body;
    std::vector<const tir::Buffer*> locals;
    const auto* seq = As<tir::SeqStmt>(block->body);
    bool changed = false;
    allocated_.emplace_back(block->alloc_buffers.begin(), block->alloc_buffers.end());
    std::vector<LocalStage> outer = std::exchange(stages_, {});
    const auto visit = [&](const tir::Stmt* stmt) {
      const tir::Stmt* visited = VisitStmt(stmt);
      for (const LocalStage& stage : std::exchange(stages_, {})) {
        body.push_back(stage.copy);
        locals.push_back(stage.local);
      }
      body.push_back(visited);
      changed |= visited != stmt;
    };
    if (seq) {
      std::ranges::for_each(seq->seq, visit);
    } else {
      visit(block->body);
    }
    stages_ = std::move(outer);
    allocated_.pop_back();
    if (!changed) return block;
    auto* copy = workspace().New<tir::Block>(*block);
    locals.insert(locals.begin(), block->alloc_buffers.begin(), block->alloc_buffers.end());
    copy->alloc_buffers = workspace().Copy(locals);
    copy->body = tir::MakeSeq(workspace(), body);
    return copy;
  }

 private:
  const tir::Block* Fail(const tir::Block& block, const std::string& problem) {
    diagnostics_.Error(Location(block), "pass-failed",
                       fmt::format("the block '{}' cannot have a local stage: {}", block.name_hint, problem));
    return &block;
  }

  // The block that copies from the local buffer; the other copy is recorded.
  const tir::Block* Split(const tir::Block& block) {
    const auto* realize = path_.empty() ? nullptr : As<tir::BlockRealize>(path_.back());
    const auto* store = As<tir::BufferStore>(block.body);
    if (!realize || !block.iter_vars.empty()) return Fail(block, "it must not have axes");
    if (!store || store->predicate || StorageScope::Of(store->buffer->scope()).rank != StorageRank::kShared)
      return Fail(block, "it must be a store to shared memory");
    std::vector<const tir::For*> loops;  // innermost first
    const std::string problem = CollectLoops(*store->buffer, loops);
    if (!problem.empty()) return Fail(block, problem);

    std::vector<const PrimExpr*> indices, shape;
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      indices.push_back(make_.Sub((*loop)->loop_var, (*loop)->min));
      shape.push_back((*loop)->extent);
    }
    const tir::Buffer* local = MakeStagingBuffer(*store->buffer, "local", shape, workspace());
    stages_.push_back({local, MakeCopy(*realize, *store, *local, indices, loops)});

    const PrimExpr* load = workspace().New<tir::BufferLoad>(local->dtype, local, workspace().Copy(indices));
    auto* copy = workspace().New<tir::Block>(block);
    copy->body = workspace().New<tir::BufferStore>(store->buffer, load, store->indices);
    copy->annotations = block.annotations->Without(attr::kManifestSharedMemoryLocalStage);
    return copy;
  }

  // The loops between the block and the one that allocates the buffer; otherwise what is wrong.
  std::string CollectLoops(const tir::Buffer& buffer, std::vector<const tir::For*>& loops) const {
    const tir::Stmt* inner = path_.back();
    for (auto outer = path_.rbegin() + 1; outer != path_.rend(); ++outer) {
      if (Is<tir::BlockRealize>(*outer)) {
        if (!allocated_.back().contains(&buffer))
          return fmt::format("'{}' must be allocated in the block around it", buffer.name);
        return {};
      }
      const auto* loop = To<tir::For>(*outer);
      if (loop->for_kind != tir::ForKind::kSerial && loop->for_kind != tir::ForKind::kVectorized)
        return fmt::format("the loop '{}' must be serial or vectorized", loop->loop_var->name);
      if (loop->body != inner) return fmt::format("the loop '{}' must have nothing else in it", loop->loop_var->name);
      loops.push_back(loop);
      inner = loop;
    }
    return fmt::format("'{}' must be allocated in the block around it", buffer.name);
  }

  // The loops with variables of their own around a store of the value to the local buffer.
  const tir::Stmt* MakeCopy(const tir::BlockRealize& realize, const tir::BufferStore& store, const tir::Buffer& local,
                            const std::vector<const PrimExpr*>& indices, const std::vector<const tir::For*>& loops) {
    std::vector<const tir::Range*> ranges;
    for (const PrimExpr* index : indices)
      ranges.push_back(workspace().New<tir::Range>(index, make_.Const(1, index->dtype)));
    const tir::BufferRegion* write = workspace().New<tir::BufferRegion>(&local, workspace().Copy(ranges));
    const tir::Stmt* body = workspace().New<tir::BufferStore>(&local, store.value, workspace().Copy(indices));
    const tir::Stmt* result = workspace().New<tir::BlockRealize>(
        List<const PrimExpr*>(), realize.predicate,
        workspace().New<tir::Block>(List<const tir::IterVar*>(), realize.block->reads,
                                    workspace().Copy(std::vector<const tir::BufferRegion*>{write}), "",
                                    List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(),
                                    DictAttr::Empty(), nullptr, body));
    tir::VarValues renamed;
    for (const tir::For* loop : loops) {
      const tir::Var* var = workspace().NewPrimVar(loop->loop_var->name, loop->loop_var->dtype);
      renamed.try_emplace(loop->loop_var, var);
      auto* copy = workspace().New<tir::For>(*loop);
      copy->loop_var = var;
      copy->body = result;
      result = copy;
    }
    return tir::Substitute(result, renamed, workspace());
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  std::vector<const tir::Stmt*> path_;                    // the loops and blocks around the current statement
  std::vector<LookupSet<const tir::Buffer*>> allocated_;  // in the blocks around it
  std::vector<LocalStage> stages_;                        // that the block around it allocates
};

}  // namespace

Pass CreateManifestSharedMemoryLocalStage(const PassOptions& options) {
  return CreateMutatorPass<LocalStageInserter>(options.info(), {});
}

}  // namespace iropt
