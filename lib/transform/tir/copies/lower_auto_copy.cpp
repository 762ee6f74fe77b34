// tir.LowerAutoCopy: lowers annotated copies between the levels of the memory of a GPU.
//
//   S = T.alloc_buffer((128, 128), scope="shared")            S = T.alloc_buffer((128, 128), strides=(128, 1), ...)
//   with T.block("S"):                                        with T.block("S"):
//       T.block_attr({"auto_copy": 1,                             for r in range(16):
//                     "vector_bytes": 16})             -->            for ty in T.thread_binding(8,
//                     thread="threadIdx.y"):
//       for i, j in T.grid(128, 128):                                     for tx in T.thread_binding(32, ...):
//           S[i, j] = A[i, j]                                                 for v in T.vectorized(4):
//                                                                                 S[...] = A[...]
//
// Copies between global and shared memory are distributed over the threads of the function, whose warp has 32 of them
// if a block says warp_execution; each thread accesses vectors of vector_bytes, and with local_stage loads all of them
// before it stores them. Copies between shared or global memory and the matrices of tensor cores become instructions
// for tiles. Shared memory gets strides with which the threads of a warp use different banks, except buffers whose
// pointers are used directly. Other copies stay, and so do the annotations.
//
// It is an error if an annotated block does not write one region and read one, or else one from wmma.accumulator, if
// annotations are not integers, or if the loops of the block are not those of such a copy. O(nodes), plus the
// simplification of indices.
//
// Source: TVM 0.18's pass of this name. There, loops that do not begin with 0, and parts of the stored value that are
// not the load, are lost in some of the copies.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/copies/block_copy.h"
#include "transform/tir/copies/cache_stage.h"
#include "transform/tir/copies/coalesced_access.h"
#include "transform/tir/copies/shared_memory_padding.h"
#include "transform/tir/copies/tensor_core_copy.h"
#include "transform/tir/copies/warp_accesses.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr std::string_view kWarpExecution = "warp_execution";
constexpr std::string_view kLocalStage = "local_stage";
constexpr std::string_view kVectorBytes = "vector_bytes";

// The value of an annotation; what it is without one. An error if it is not an integer.
int64_t Annotation(const tir::Block& block, std::string_view key, int64_t otherwise, DiagnosticEngine& diagnostics) {
  const Attr* value = block.annotations->Find(key);
  if (!value) return otherwise;
  if (const auto* integer = As<IntAttr>(value)) return integer->value;
  diagnostics.Error(Location(block), "pass-failed",
                    fmt::format("the annotation {} of the block '{}' must be an integer", key, block.name_hint));
  return otherwise;
}

// Facts that the copies of a function share: its threads, and the pointers that it uses directly.
class FunctionFacts : public tir::StmtExprVisitor {
 public:
  explicit FunctionFacts(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}

  ThreadExtents threads;
  LookupSet<const tir::Var*> pointers;

 protected:
  void VisitBlock(const tir::Block* block) override {
    if (Annotation(*block, kWarpExecution, 0, diagnostics_) != 0) threads[0] = kThreadsOfWarp;
    StmtExprVisitor::VisitBlock(block);
  }

  void VisitFor(const tir::For* loop) override {
    if (loop->for_kind == tir::ForKind::kThreadBinding) {
      const auto tag = std::ranges::find(kThreadTags, loop->thread_binding->thread_tag);
      const int64_t* extent = arith::AsInt(loop->extent);
      if (tag != kThreadTags.end() && extent) threads[static_cast<size_t>(tag - kThreadTags.begin())] = *extent;
    }
    StmtExprVisitor::VisitFor(loop);
  }

  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) pointers.insert(var);
  }

  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    pointers.insert(decl->buffer->data);
    StmtExprVisitor::VisitDeclBuffer(decl);
  }

 private:
  DiagnosticEngine& diagnostics_;
};

class CopyLowerer : public tir::StmtExprMutator {
 public:
  CopyLowerer(const FunctionFacts& facts, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), facts_(facts), diagnostics_(diagnostics) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // expressions contain no blocks

  // The statement with padded buffers, after all of its copies are lowered.
  const tir::Stmt* Pad(const tir::Stmt* stmt);

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    loops_.push_back(loop);
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    loops_.pop_back();
    return visited;
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    if (Annotation(*block, attr::kAutoCopy, 0, diagnostics_) != 0) visited = LowerCopy(*visited);
    allocs_.insert(allocs_.end(), visited->alloc_buffers.begin(), visited->alloc_buffers.end());
    return visited;
  }

 private:
  const tir::Block* Fail(const tir::Block& block, const std::string& problem) {
    diagnostics_.Error(Location(block), "pass-failed",
                       fmt::format("the copy in the block '{}' cannot be lowered: {}", block.name_hint, problem));
    return &block;
  }

  const tir::Block* LowerCopy(const tir::Block& block) {
    if (IsComputed(block)) return &block;
    const tir::BufferRegion* read = ReadOf(block);
    if (!read) return Fail(block, "it must read one region, or among others one from wmma.accumulator");
    if (block.writes.empty()) return &block;  // nobody reads the copy
    if (block.writes.size() != 1) return Fail(block, "it must write one region");
    const BlockCopy copy = {.threads = facts_.threads,
                            .outer_loops = loops_,
                            .read = read,
                            .write = block.writes[0],
                            .vector_bytes = Annotation(block, kVectorBytes, 1, diagnostics_),
                            .local_stage = Annotation(block, kLocalStage, 0, diagnostics_) == 1};
    CopyBuffers buffers;
    const Result<const tir::Stmt*> body = LowerBody(block.body, copy, buffers);
    if (!body) return Fail(block, body.error().message);
    CollectWarpAccesses(*body, copy, workspace(), accesses_);
    for (const CopyBuffers::Padding& padding : buffers.paddings) {
      int64_t& unit = accesses_[padding.buffer].padding_unit;
      unit = std::max(unit, padding.unit);
    }
    if (*body == block.body) return &block;
    auto* lowered = workspace().New<tir::Block>(block);
    buffers.allocs.insert(buffers.allocs.begin(), block.alloc_buffers.begin(), block.alloc_buffers.end());
    lowered->alloc_buffers = workspace().Copy(buffers.allocs);
    lowered->body = *body;
    return lowered;
  }

  // Returns whether the block has become a computation, as by inlining, of which no rule distributes the elements.
  static bool IsComputed(const tir::Block& block) {
    const auto is_plain = [](const tir::BufferRegion* region) {
      const StorageScope scope = StorageScope::Of(region->buffer->scope());
      return scope.base == "global" || scope.base == "local";
    };
    return block.reads.size() != 1 && std::ranges::all_of(block.reads, is_plain) &&
           std::ranges::all_of(block.writes, is_plain);
  }

  // Null if the block does not read one region that the copy is from.
  static const tir::BufferRegion* ReadOf(const tir::Block& block) {
    if (block.reads.size() == 1) return block.reads[0];
    const tir::BufferRegion* found = nullptr;
    for (const tir::BufferRegion* read : block.reads) {
      if (read->buffer->scope() == kAccumulator) found = read;
    }
    return found;
  }

  Result<const tir::Stmt*> LowerBody(const tir::Stmt* body, const BlockCopy& copy, CopyBuffers& buffers) {
    const StorageScope from = StorageScope::Of(copy.read->buffer->scope());
    const StorageScope to = StorageScope::Of(copy.write->buffer->scope());
    const bool to_global = to.rank == StorageRank::kGlobal;
    const bool to_shared = to.rank == StorageRank::kShared;
    const auto has_step = [](const tir::For* loop) { return loop->step != nullptr; };
    if (std::ranges::any_of(LoopNestOf(body).loops, has_step)) return CopyError("its loops must have steps of 1");
    if (from.rank == StorageRank::kGlobal && to_shared) {
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* coalesced, CoalesceAccess(body, copy, workspace()));
      return copy.local_stage ? StageLocally(coalesced, buffers, workspace()) : coalesced;
    }
    if (from.rank == StorageRank::kShared && to_global) {
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* inverted, InvertMapping(body, copy, workspace()));
      return CoalesceAccess(inverted, copy, workspace());
    }
    if (from.rank == StorageRank::kShared && (to.base == "wmma.matrix_a" || to.base == "wmma.matrix_b"))
      return LoadMatrix(body, copy, buffers, workspace());
    if (from.base == kAccumulator && to_global) return StoreMatrixToGlobal(body, copy, buffers, workspace());
    if (from.base == kAccumulator && to_shared) return StoreMatrix(body, copy, buffers, workspace());
    if (from.base == "m16n8k8.matrixC" && to_global) return StoreMmaToGlobal(body, copy, buffers, workspace());
    return body;
  }

  const FunctionFacts& facts_;
  DiagnosticEngine& diagnostics_;
  std::vector<const tir::For*> loops_;      // around the current statement
  std::vector<const tir::Buffer*> allocs_;  // of all blocks
  AccessesByBuffer accesses_;               // by the copies
};

// Replaces buffers where they are allocated and used.
class BufferReplacer : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::Remap;
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return VisitBufferUse(buffer); }
};

const tir::Stmt* CopyLowerer::Pad(const tir::Stmt* stmt) {
  BufferReplacer replacer(workspace());
  bool changed = false;
  for (const tir::Buffer* buffer : allocs_) {
    const auto* accesses = accesses_.Find(buffer);
    if (!accesses || facts_.pointers.contains(buffer->data)) continue;
    if (StorageScope::Of(buffer->scope()).rank != StorageRank::kShared) continue;
    const tir::Buffer* padded = PadSharedMemory(*buffer, *accesses, workspace());
    if (padded == buffer) continue;
    replacer.Remap(buffer, padded);
    changed = true;
  }
  return changed ? replacer.VisitStmt(stmt) : stmt;
}

bool NeedsLowerAutoCopy(const tir::Stmt* stmt) {
  const auto* block = As<tir::Block>(stmt);
  return block && (block->annotations->Find(attr::kAutoCopy) || block->annotations->Find(kWarpExecution));
}

}  // namespace

Pass CreateLowerAutoCopy(const PassOptions& options) {
  return CreateBodyPass(options.info(), {.needs = &NeedsLowerAutoCopy},
                        [](const PrimFunc& func, FunctionPassContext& context) {
                          FunctionFacts facts(context.diagnostics());
                          facts.VisitStmt(func.body);
                          CopyLowerer lowerer(facts, context.workspace(), context.diagnostics());
                          return lowerer.Pad(lowerer.VisitStmt(func.body));
                        });
}

}  // namespace iropt
