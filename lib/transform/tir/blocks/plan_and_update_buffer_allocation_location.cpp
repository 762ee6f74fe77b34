// tir.PlanAndUpdateBufferAllocationLocation: moves the buffers that blocks allocate to the innermost loop or block
// around their accesses.
//
//   B = T.alloc_buffer((16, 16))                    for i in range(16):
//   for i in range(16):                                 with T.block(""):
//       for j in range(16):                                 T.reads(A[i, 0:16])
//           with T.block("B"): ...            -->           T.writes(C[i, 0:16])
//       for j in range(16):                                 B = T.alloc_buffer((16, 16))
//           with T.block("C"): ...                          for j in range(16): ...
//
// It stays outside of a serial loop whose iterations may read what earlier ones wrote. A buffer that is not accessed is
// removed, and so are regions of blocks of buffers that are allocated inside. Buffers of T.decl_buffer and T.allocate
// stay. Refuses blocks with an initialization. Functions of the older scheduler stay. O(nodes times nesting).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/block_access.h"
#include "iropt/analysis/tir/buffer_scopes.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/blocks/carried_reads.h"
#include "transform/tir/util/constant_conditions.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

// The buffers in the order in which they are defined or, if they are not, accessed first.
class BufferCollector : public tir::StmtExprVisitor {
 public:
  const std::vector<const tir::Buffer*>& buffers() const { return buffers_; }
  // Returns whether a block defines the buffer.
  bool IsOfBlock(const tir::Buffer* buffer) const {
    return of_blocks_.contains(buffer->data) && (DefinitionOf(*buffer) || !allocated_.contains(buffer->data));
  }
  // The block that allocates the buffer; null if none does.
  const tir::Stmt* DefinitionOf(const tir::Buffer& buffer) const { return definitions_.Lookup(&buffer); }
  // Returns whether other buffers lie in its memory.
  bool HasViews(const tir::Buffer& buffer) const { return viewed_.contains(buffer.data); }
  // The loop or block around this one.
  const tir::Stmt* Around(const tir::Stmt* stmt) const { return around_.Lookup(stmt); }
  // The loops around this one, from the outermost inwards.
  std::vector<const tir::For*> LoopsAround(const tir::For& loop) const {
    std::vector<const tir::For*> loops;
    for (const tir::Stmt* around = Around(&loop); around; around = Around(around)) {
      if (const auto* outer = As<tir::For>(around)) loops.push_back(outer);
    }
    std::ranges::reverse(loops);
    return loops;
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    around_[loop] = scope_;
    const tir::Stmt* outer = std::exchange(scope_, loop);
    StmtExprVisitor::VisitFor(loop);
    scope_ = outer;
  }
  void VisitBlock(const tir::Block* block) override {
    around_[block] = scope_;
    const tir::Stmt* outer = std::exchange(scope_, block);
    for (const tir::Buffer* buffer : block->alloc_buffers) {
      of_blocks_.insert(buffer->data);
      allocated_.insert(buffer->data);
      definitions_[buffer] = block;
      Add(buffer);
    }
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      of_blocks_.insert(match->buffer->data);
      Add(match->source->buffer);
    }
    StmtExprVisitor::VisitBlock(block);
    scope_ = outer;
  }
  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    viewed_.insert(decl->buffer->data);
    StmtExprVisitor::VisitDeclBuffer(decl);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Add(load->buffer);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Add(store->buffer);
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  void Add(const tir::Buffer* buffer) {
    if (!seen_.insert(buffer)) return;
    buffers_.push_back(buffer);
    if (!definitions_.contains(buffer)) viewed_.insert(buffer->data);
  }

  const tir::Stmt* scope_ = nullptr;
  LookupMap<const tir::Stmt*, const tir::Stmt*> around_;
  std::vector<const tir::Buffer*> buffers_;
  LookupSet<const tir::Buffer*> seen_;
  LookupMap<const tir::Buffer*, const tir::Stmt*> definitions_;
  LookupSet<const tir::Var*> of_blocks_, allocated_, viewed_;  // data pointers
};

class AllocationMover : public tir::StmtExprMutator {
 public:
  AllocationMover(const PrimFunc& func, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), diagnostics_(diagnostics), carried_reads_(workspace) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) known_[buffer->data] = buffer;
    }
    const BuffersByPointer params = known_;
    const BufferScopes scopes = DetectBufferScopes(func);
    BufferCollector collector;
    collector.VisitStmt(func.body);
    for (const tir::Buffer* buffer : collector.buffers()) {
      const auto* scope = scopes.Find(buffer);
      const tir::Stmt* definition = collector.DefinitionOf(*buffer);
      if (!scope && definition && collector.HasViews(*buffer)) planned_[definition].push_back(buffer);
      if (!scope || params.contains(buffer->data)) continue;
      if (collector.IsOfBlock(buffer)) {
        planned_[PlaceOf(*buffer, *scope, collector)].push_back(buffer);
      } else {
        known_[buffer->data] = buffer;
      }
    }
  }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* planned = planned_.Find(loop);
    if (planned) Know(*planned);
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (!planned) return visited;
    Forget(*planned);
    tir::For copy = *visited;
    copy.body = MakeBlock(copy.body, *planned);
    return workspace().New<tir::For>(copy);
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::MatchBufferRegion* match : block->match_buffers) known_[match->buffer->data] = match->buffer;
    const auto* planned = planned_.Find(block);
    if (planned) Know(*planned);
    tir::Block copy = *To<tir::Block>(StmtExprMutator::VisitBlock(block));
    for (const tir::MatchBufferRegion* match : block->match_buffers) known_.erase(match->buffer->data);
    copy.alloc_buffers = {};
    if (planned) {
      Forget(*planned);
      copy.alloc_buffers = workspace().Copy(*planned);
    }
    copy.reads = RegionsOfKnown(copy.reads);
    copy.writes = RegionsOfKnown(copy.writes);
    return tir::CopyIfChanged(block, copy, workspace());
  }

  // Memory with statements of its own does not exist outside of them.
  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocate(allocate);
    known_.erase(allocate->buffer_var);
    return visited;
  }
  const tir::Stmt* VisitAllocateConst(const tir::AllocateConst* allocate) override {
    const tir::Stmt* visited = StmtExprMutator::VisitAllocateConst(allocate);
    known_.erase(allocate->buffer_var);
    return visited;
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    const tir::Stmt* visited = StmtExprMutator::VisitLetStmt(let);
    known_.erase(let->var);
    return visited;
  }

  const tir::Stmt* VisitBufferRealize(const tir::BufferRealize* realize) override {
    diagnostics_.Error(Location(*realize), "pass-failed", "T.realize is not allowed in a function with blocks");
    return realize;
  }

 private:
  // Concurrent iterations read nothing that others wrote.
  static bool RunsAtOnce(const tir::For& loop) {
    return loop.for_kind == tir::ForKind::kThreadBinding || loop.for_kind == tir::ForKind::kParallel;
  }

  // The innermost scope around all accesses in which the buffer may be: outside of the loops whose iterations need one
  // memory. Memory with several views stays where it is.
  const tir::Stmt* PlaceOf(const tir::Buffer& buffer, const tir::Stmt* scope, const BufferCollector& collector) {
    const tir::Stmt* definition = collector.DefinitionOf(buffer);
    if (definition && collector.HasViews(buffer)) return definition;
    const tir::Stmt* place = scope;
    for (const tir::Stmt* around = scope; around && around != definition; around = collector.Around(around)) {
      const auto* loop = As<tir::For>(around);
      if (loop && !RunsAtOnce(*loop) && carried_reads_.Exist(*loop, collector.LoopsAround(*loop), buffer))
        place = collector.Around(loop);
    }
    return place;
  }

  // The buffers exist from here on inwards.
  void Know(const std::vector<const tir::Buffer*>& buffers) {
    for (const tir::Buffer* buffer : buffers) known_[buffer->data] = buffer;
  }
  // From here on outwards the buffers do not exist.
  void Forget(const std::vector<const tir::Buffer*>& buffers) {
    for (const tir::Buffer* buffer : buffers) known_.erase(buffer->data);
  }

  List<const tir::BufferRegion*> RegionsOfKnown(List<const tir::BufferRegion*> regions) {
    std::vector<const tir::BufferRegion*> kept;
    for (const tir::BufferRegion* region : regions) {
      if (known_.contains(region->buffer->data)) kept.push_back(region);
    }
    return kept.size() == regions.size() ? regions : workspace().Copy(kept);
  }

  const tir::Stmt* MakeBlock(const tir::Stmt* body, const std::vector<const tir::Buffer*>& buffers) {
    tir::Block block({}, {}, {}, "", workspace().Copy(buffers), {}, DictAttr::Empty(), nullptr, body);
    const BlockAccesses accesses = GetBlockReadWriteRegion(block, known_, workspace());
    block.reads = workspace().Copy(accesses.reads);
    block.writes = workspace().Copy(accesses.writes);
    return workspace().New<tir::BlockRealize>(List<const PrimExpr*>(), True(workspace()),
                                              workspace().New<tir::Block>(block));
  }

  DiagnosticEngine& diagnostics_;
  CarriedReads carried_reads_;
  LookupMap<const tir::Stmt*, std::vector<const tir::Buffer*>> planned_;
  BuffersByPointer known_;  // the buffers of blocks that exist here, and all others
};

}  // namespace

Pass CreatePlanAndUpdateBufferAllocationLocation(const PassOptions& options) {
  return CreateMutatorPass<AllocationMover>(options.info(), kSkipLegacy);
}

}  // namespace iropt
