// Makes a software pipeline of a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "iropt/analysis/tir/block_access.h"
#include "iropt/arith/analyzer.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/stmt.h"
#include "transform/tir/pipelines/buffer_versions.h"

namespace iropt {

// A statement of the loop, as an opaque block.
struct PipelineBlock {
  const tir::Block* block;
  int64_t stage;  // the number of iterations by which it lags behind
  int64_t order;  // its place in the new loop
  bool is_async;
};

// A body as an opaque block that states its accesses to the buffers in `known`; the block itself if the body is one.
const tir::Block* MakeOpaqueBlock(const tir::Stmt* body, const BuffersByPointer& known, Workspace& workspace);

// The loop as three blocks in one: the first iterations of the early stages, the pipelined loop, and the last
// iterations of the late stages. `blocks` have the orders 0, 1, ... and stages that are not negative; `allocs` are the
// buffers of the loop, `known` all buffers that are defined around its statements, of which Rewrite removes `allocs`.
class PipelineRewriter {
 public:
  PipelineRewriter(const tir::For& loop, std::vector<PipelineBlock> blocks, std::vector<const tir::Buffer*> allocs,
                   BuffersByPointer& known, const FragmentSizes& fragments, const DictAttr* annotations,
                   Workspace& workspace);

  // `doubled` are buffers of which at least two versions are wanted.
  const tir::Stmt* Rewrite(const std::unordered_set<const tir::Buffer*>& doubled);

 private:
  // A block of an emitted part.
  struct Emitted {
    int64_t stage;
    const PrimExpr* predicate;
    const tir::Block* block;
    const PrimExpr* iteration;  // counted from the first one of the loop
    bool is_async;
  };
  // Asynchronous writes of a stage in all parts so far.
  struct AsyncStage {
    std::unordered_set<const tir::Buffer*> written;
    const PrimExpr* head = nullptr;  // the last iteration that was written; null if unknown
  };
  // Asynchronous writes of a stage in one part.
  struct AsyncPart {
    size_t wait_before = 0;          // the block that waits
    const PrimExpr* wait = nullptr;  // how many writes may be in flight then; null: none waits
    std::unordered_set<const tir::Buffer*> seen;
    const PrimExpr* head = nullptr;
    const PrimExpr* predicate = nullptr;
    std::vector<std::vector<size_t>> groups;  // the blocks that are committed together
    bool is_consumed = false;
  };
  // A part in the making.
  struct Part {
    std::vector<Emitted> blocks = {};
    std::map<int64_t, AsyncPart> async = {};                       // by stage
    std::unordered_map<const tir::Buffer*, size_t> group_of = {};  // the group that writes a buffer
    const PrimExpr* start = nullptr;
    const PrimExpr* extent = nullptr;
    const PrimExpr* least = nullptr;  // earlier iterations are left out; null: none is
    const PrimExpr* index = nullptr;  // the variable of the new loop, or the value of the only iteration
    bool is_unit = false;
  };

  struct BufferUse {
    const PipelineBlock* block;
    const tir::BufferRegion* region;
  };
  struct BufferUses {
    std::vector<BufferUse> reads;
    std::vector<BufferUse> writes;
  };

  int64_t NumVersions(const BufferUses& uses, bool is_doubled) const;
  bool NeedsTwoVersions(const BufferUses& uses) const;
  const tir::Stmt* Emit(const PrimExpr* start, const PrimExpr* end, bool is_unrolled, const PrimExpr* least = nullptr);
  void EmitBlock(size_t position, Part& part, arith::Analyzer& normalized);
  // What a block of the stage `reader` reads is waited for: the next asynchronous write begins another group.
  void NoteReads(const tir::Block& block, int64_t reader, Part& part);
  void AddAsync(const Emitted& emitted, Part& part, arith::Analyzer& normalized);
  void FindWaits(Part& part, arith::Analyzer& normalized);
  const PrimExpr* CountInFlight(const Part& part, const Emitted& reader, int64_t stage, arith::Analyzer& normalized);
  std::vector<const tir::Stmt*> Complete(Part& part, arith::Analyzer& normalized);
  void AttachWait(Part& part, int64_t stage, const AsyncPart& async, arith::Analyzer& normalized);
  const tir::Stmt* WithAttr(std::string_view key, const PrimExpr* value, const tir::Stmt* body);
  const tir::Stmt* Realize(const tir::Block* block, const PrimExpr* predicate = nullptr);
  const tir::Stmt* NoOp();
  const PrimExpr* Int(int64_t value) const { return make_.Int(value, DataType::Int(32)); }

  Workspace& workspace_;
  const tir::For& loop_;
  const std::vector<PipelineBlock> blocks_;
  const std::vector<const tir::Buffer*> allocs_;
  BuffersByPointer& known_;
  const FragmentSizes& fragments_;
  const DictAttr* annotations_;
  const arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  StmtCopier copier_;
  VersionedBuffers versioned_;
  std::vector<const tir::Stmt*> ordered_;  // the blocks in their new order, with versions
  std::vector<size_t> position_;           // in blocks_, by order
  std::vector<bool> is_emitted_;
  int64_t max_stage_ = 0;
  std::map<int64_t, AsyncStage> async_stages_;
};

}  // namespace iropt
