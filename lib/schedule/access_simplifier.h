// Simplification of the indices and regions of buffers.
#pragma once

#include "iropt/arith/mutator.h"

namespace iropt::schedule {

// Brings indices of buffers, and the regions that blocks state, to normal forms of maps of the loops and axes around.
class AccessSimplifier : public arith::StmtExprMutatorWithAnalyzer {
 public:
  AccessSimplifier(arith::Analyzer& analyzer, Workspace& workspace)
      : StmtExprMutatorWithAnalyzer(analyzer, workspace, {.mutator = {}}) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override;
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override;
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override;
  // In the regions of a block, its axes are known.
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override;
};

// Simplifies the accesses in a block, whose references the new one takes over.
const tir::Block* SimplifyAccesses(const tir::Block* block, arith::Analyzer& analyzer, Workspace& workspace);

}  // namespace iropt::schedule
