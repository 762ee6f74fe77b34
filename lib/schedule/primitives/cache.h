// Support for primitives that copy buffers.
#pragma once

#include <unordered_set>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/schedule/state.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

// A copy from one buffer to another, one of which is new.
struct CopyStage {
  const tir::Buffer* read_buffer = nullptr;
  const tir::Buffer* write_buffer = nullptr;
  const tir::Buffer* alloc = nullptr;         // the new one, to be allocated in the scope; null if it is already
  const tir::BufferRegion* region = nullptr;  // what is copied
  bool full_region = true;                    // the new buffer has the indices of the old one, not those of the region
  const std::vector<const PrimExpr*>* indices = nullptr;  // of the new buffer, if the block decides them
  const tir::Block* block = nullptr;                      // the one that copies
  const tir::Stmt* stmt = nullptr;                        // with the loops around it
  Ref* location = nullptr;                                // in whose body it is inserted
  int position = 0;
  std::unordered_set<const tir::Stmt*> consumers;  // the blocks that use the copy; empty: all
};

// The block that copies one element from one buffer to the other, without nested loops.
const tir::Block* MakeCopyBlock(const CopyStage& stage, const std::vector<const tir::IterVar*>& axes,
                                const std::vector<const PrimExpr*>& read_indices,
                                const std::vector<const PrimExpr*>& write_indices, const std::string& name,
                                Workspace& workspace);

// The statements of the body with one more at a position.
const tir::Stmt* InsertStage(const tir::Stmt* body, int position, const tir::Stmt* stage, Workspace& workspace);

// Replaces accesses to a buffer by accesses to its copy, and inserts the copy at its place. Of the loops and blocks in
// the scope only those on the paths are entered, and all that is in such blocks.
class AccessRewriter : public tir::StmtExprMutator {
 public:
  AccessRewriter(const CopyStage& stage, const tir::Buffer* from, const tir::Buffer* to, const tir::Block* scope,
                 const PathSet& paths, Workspace& workspace);

  BlockReuse reuse;  // the blocks that became others

 protected:
  const CopyStage& stage() const { return stage_; }
  const tir::Block* scope() const { return scope_; }
  const PrimExpr* MapLoad(const tir::BufferLoad* load);
  const tir::Stmt* MapStore(const tir::BufferStore* store);
  // The visited block with the copy in it, if this is its place, with the allocation, if it is the scope, and with
  // other regions if it accesses the copy.
  const tir::Block* Finish(const tir::Block* block, const tir::Block* visited, bool accesses_copy);

  const PrimExpr* VisitVar(const tir::Var* var) override;
  // What is matched to the buffer is in the memory of its copy then.
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override;
  const tir::Stmt* VisitFor(const tir::For* loop) override;
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override;

 private:
  std::vector<const PrimExpr*> MapIndices(List<const PrimExpr*> indices);
  const tir::BufferRegion* MapRegion(const tir::BufferRegion* region);
  List<const tir::BufferRegion*> MapRegions(List<const tir::BufferRegion*> regions);
  List<const tir::MatchBufferRegion*> MapMatches(List<const tir::MatchBufferRegion*> matches);

  const CopyStage& stage_;
  const tir::Buffer* from_;
  const tir::Buffer* to_;
  const tir::Block* scope_;
  const PathSet& paths_;
  bool is_outside_ = true;  // of the children of the scope
  arith::Analyzer analyzer_;
};

// The region of the buffer in a list; null if there is none.
const tir::BufferRegion* FindRegion(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer);
// The only block of the scope that writes the buffer; null if none does. Refused if several do, or if only a part of
// the scope can access the buffer.
Result<Ref*> OnlyWriter(State& state, Ref* scope, const tir::Buffer* buffer);
// Requires that a block whose results go to a copy of the buffer reads nothing of the buffer that it has not written:
// it initializes its reduction, or the scope allocates the buffer.
Status CheckReadsOwnValues(State& state, const Ref* scope, const Ref* block, const tir::Buffer* buffer);
// Finds where a copy of what the writer writes (null: of a parameter) is inserted.
void FindLocation(State& state, Ref* writer, Ref* scope, bool is_read, CopyStage& stage);
// Inserts the copy and lets the consumers read it, or the writer write it. The block that copies.
Ref* InsertRead(State& state, Ref* scope, const CopyStage& stage);
Ref* InsertWrite(State& state, Ref* scope, Ref* writer, const CopyStage& stage);

}  // namespace iropt::schedule
