#include "transform/tir/threads/reduction_block.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class WriterCounter : public tir::StmtExprVisitor {
 public:
  WriterCounts counts;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBlock(const tir::Block* block) override {
    for (const tir::BufferRegion* write : block->writes) ++counts[write->buffer];
  }
};

// Checks whether the stores of a block select their element by a reduction axis.
class StoreChecker : public tir::StmtExprVisitor {
 public:
  explicit StoreChecker(const tir::Block& block) {
    for (const tir::IterVar* axis : block.iter_vars) {
      if (axis->iter_type == tir::IterVarType::kCommReduce) axes_.insert(axis->var);
    }
    for (const tir::BufferRegion* write : block.writes) written_.insert(write->buffer);
    for (const tir::Buffer* buffer : block.alloc_buffers) written_.insert(buffer);
    AddMatches(block);
  }

  bool uses_reduction = false;
  const tir::Buffer* unknown = nullptr;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitBlock(const tir::Block* block) override {
    AddMatches(*block);
    StmtExprVisitor::VisitBlock(block);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    if (!written_.contains(store->buffer) && !unknown) unknown = store->buffer;
    for (const PrimExpr* index : store->indices)
      tir::ForEachVar(index, [this](const tir::Var* var) { uses_reduction |= axes_.contains(var); });
  }

 private:
  void AddMatches(const tir::Block& block) {
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      if (written_.contains(match->source->buffer)) written_.insert(match->buffer);
    }
  }

  LookupSet<const tir::Var*> axes_;
  LookupSet<const tir::Buffer*> written_;
};

bool IsSpatialOrReduction(const tir::IterVar* axis) {
  return axis->iter_type == tir::IterVarType::kDataPar || axis->iter_type == tir::IterVarType::kCommReduce;
}

}  // namespace

WriterCounts CountWriters(const tir::Block& scope) {
  WriterCounter counter;
  counter.VisitStmt(scope.body);
  return std::move(counter.counts);
}

std::string_view WhyNotReduction(const tir::BlockRealize& realize, const arith::IterRanges& loops,
                                 const WriterCounts& writers, arith::Analyzer& analyzer, const tir::Buffer*& unknown) {
  const tir::Block& block = *realize.block;
  if (!block.init) return "it has no initialization";
  if (!std::ranges::all_of(block.iter_vars, IsSpatialOrReduction))
    return "not all of its axes are spatial or reductions";
  const PrimExpr* condition = arith::IsInt(realize.predicate, 1) ? nullptr : realize.predicate;
  if (!arith::AreIndependentIterMaps(realize.iter_values, loops, condition, analyzer))
    return "its axes are not known to be independent parts of the loops";
  const auto is_only_writer = [&](const tir::BufferRegion* write) {
    const auto* count = writers.Find(write->buffer);
    return count && *count == 1;
  };
  if (!std::ranges::all_of(block.writes, is_only_writer)) return "another block writes to its result";
  StoreChecker checker(block);
  checker.VisitStmt(block.body);
  unknown = checker.unknown;
  return checker.uses_reduction ? "a reduction axis selects what it writes" : std::string_view();
}

}  // namespace iropt
