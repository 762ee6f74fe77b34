// The conditions of primitives. Where one does not hold, the state notes the refusal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/schedule/state.h"

namespace iropt::schedule {

// The block around it, which must exist.
Result<Ref*> RequireScope(State& state, const Ref* ref, bool stage_pipeline);
// Refuses a scope with statements that are not in a block: they may access what its blocks access. With a buffer, only
// if they access that one.
Status CheckOnlyBlocks(State& state, Ref* scope, const tir::Buffer* buffer = nullptr);

// ---- Kinds of blocks, with respect to the dependences under `root`, a block or loop

// 0, or the number of the first condition that does not hold.
int CompleteBlockError(State& state, const Ref* block, Ref* root);
int ReductionBlockError(State& state, const Ref* block, Ref* root);
inline bool IsCompleteBlock(State& state, const Ref* block, Ref* root) {
  return CompleteBlockError(state, block, root) == 0;
}
inline bool IsReductionBlock(State& state, const Ref* block, Ref* root) {
  return ReductionBlockError(state, block, root) == 0;
}
Status CheckCompleteBlock(State& state, const Ref* block, Ref* root);
Status CheckReductionBlock(State& state, const Ref* block, Ref* root);
Status CheckCompleteOrReductionBlock(State& state, const Ref* block, Ref* root);
// All blocks directly under the subtree are complete or reduction blocks in it.
Status CheckCompactDataflow(State& state, Ref* subtree);
// Returns whether the block writes to a buffer that is not allocated in its scope.
bool IsOutputBlock(const Ref* block, const Ref* scope);
Status CheckNotOutputBlock(State& state, const Ref* block, const Ref* scope);
// Refuses a block that uses loops around it not by axes alone, as one without axes may: only there it has a meaning.
Status CheckUsesOnlyAxes(State& state, const Ref* block);
// Returns whether each iteration of a loop around the block has memory of its own for what the block writes: only
// blocks in the loop read it, or, if threads run the iterations (else their tag is empty), it is in memory that they do
// not share.
bool HasOwnMemory(State& state, Ref* block, const Ref* loop, std::string_view thread);
// All axes are data parallel.
bool IsSpatial(const tir::Block& block);
// Returns whether iterations that compute the same elements in the block may run at the same time: neither it nor a
// block in it reads what they have stored.
bool MayRunAtOnce(const tir::Block& block);
bool HasOnlySpatialAndReductionAxes(const tir::Block& block);

// ---- Bindings

// Affine in the loops below `high` (null: in all loops of the scope).
Status CheckAffineBinding(State& state, const Ref* block, const Ref* high = nullptr);
// A block in loops, with what its binding says in the variables of these.
struct BlockInLoops {
  const tir::BlockRealize* realize;
  std::vector<const PrimExpr*> values;
  const PrimExpr* condition;
  bool writes_own_buffers;                     // that blocks around it in the statement allocate
  std::vector<const PrimExpr*> values_around;  // of the blocks around it in the statement
};
struct BlocksInLoops {
  std::vector<BlockInLoops> found;  // in pre-order
  arith::IterRanges loops;          // those in the statement, and those around
};
// Returns whether the condition of the block holds for the first iteration of one of the loops at most.
bool RunsOnceIn(State& state, const Ref* loop, const BlockInLoops& block, const BlocksInLoops& blocks);
// All blocks in a statement. Bindings of blocks in blocks are followed outwards.
BlocksInLoops FindBlocksInLoops(const tir::Stmt* stmt, arith::IterRanges around, Workspace& workspace);
// Returns whether the values, where the condition holds, determine the variables of the loops that they use: they are
// never the same for two iterations.
bool DetermineLoops(State& state, std::span<const PrimExpr* const> values, const arith::IterRanges& loops,
                    const PrimExpr* condition);
// Returns whether the values determine the variables of the inner loops in each iteration of the loops from `outer`
// outwards: those values that concern the inner loops determine them whatever the outer ones are, or all values
// determine all loops, such as those of parts of loops that were fused.
bool DetermineInnerLoops(State& state, std::span<const PrimExpr* const> concerned,
                         std::span<const PrimExpr* const> values, const arith::IterRanges& inner, const Ref* outer,
                         const PrimExpr* condition);
// Returns whether the values of the axes are the variables of the loops in their order.
bool IsTrivialBinding(State& state, const Ref* block);
Status CheckTrivialBinding(State& state, const Ref* block);
// Returns whether one of the indices is a vector: several elements are accessed at once.
bool IsVectorAccess(List<const PrimExpr*> indices);
Status CheckStartsWithZero(State& state, const Ref* loop, arith::Analyzer& analyzer);
// Neither annotations nor a thread.
Status CheckPlainLoop(State& state, const Ref* loop);

// ---- Blocks and buffers

Result<const tir::BlockRealize*> RequireSingleChild(State& state, const Ref* ref);
Result<const tir::BufferRegion*> RequireAccess(State& state, const Ref* block, int64_t index, bool is_write);
// The block around `ref` that allocates the buffer or matches it to a region; null if it is of a parameter.
struct DefiningSite {
  Ref* site = nullptr;
  bool is_allocated = false;
};
DefiningSite FindDefiningSite(Ref* ref, const tir::Buffer* buffer);
// The region does not depend on the axes of the block.
Status CheckWithoutAxes(State& state, const tir::Block& block, const tir::BufferRegion& region);
Status CheckStorageScope(State& state, std::string_view scope);

// Places for a block between statements: after the last of its producers and up to the first of its consumers.
struct ProducerConsumerSplit {
  int last_producer = -1;
  int first_consumer = 0;
  int producers_visited = 0;
  int consumers_visited = 0;
};
Result<ProducerConsumerSplit> SplitByDependences(State& state, std::span<const tir::Stmt* const> statements,
                                                 std::span<Ref* const> producers, std::span<Ref* const> consumers);

}  // namespace iropt::schedule
