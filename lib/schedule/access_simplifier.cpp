#include "access_simplifier.h"

namespace iropt::schedule {

const tir::Stmt* AccessSimplifier::VisitBlock(const tir::Block* block) {
  return StmtExprMutatorWithAnalyzer::VisitBlock(block);
}

const tir::Stmt* AccessSimplifier::VisitBufferStore(const tir::BufferStore* store) {
  auto* copy =
      workspace().New<tir::BufferStore>(*To<tir::BufferStore>(StmtExprMutatorWithAnalyzer::VisitBufferStore(store)));
  copy->indices = workspace().Copy(SimplifyIndices(copy->indices));
  return copy;
}

const PrimExpr* AccessSimplifier::VisitBufferLoad(const tir::BufferLoad* load) {
  auto* copy =
      workspace().New<tir::BufferLoad>(*To<tir::BufferLoad>(StmtExprMutatorWithAnalyzer::VisitBufferLoad(load)));
  copy->indices = workspace().Copy(SimplifyIndices(copy->indices));
  return copy;
}

const tir::BufferRegion* AccessSimplifier::VisitBufferRegion(const tir::BufferRegion* region) {
  std::vector<const PrimExpr*> begins;
  for (const tir::Range* range : region->region) begins.push_back(range->min);
  begins = SimplifyIndices(workspace().Copy(begins));
  std::vector<const tir::Range*> ranges;
  for (size_t i = 0; i < begins.size(); ++i)
    ranges.push_back(workspace().New<tir::Range>(begins[i], analyzer().Simplify(region->region[i]->extent)));
  return workspace().New<tir::BufferRegion>(region->buffer, workspace().Copy(ranges));
}

const tir::Block* SimplifyAccesses(const tir::Block* block, arith::Analyzer& analyzer, Workspace& workspace) {
  return To<tir::Block>(AccessSimplifier(analyzer, workspace).VisitStmt(block));
}

}  // namespace iropt::schedule
