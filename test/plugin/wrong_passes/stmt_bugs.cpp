// Wrong changes of single loops, blocks, conditions and stores.
#include <vector>

#include "bugs.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::wrong {

namespace {

using arith::PrimBuilder;

bool IsReduction(const tir::Block& block) {
  for (const tir::IterVar* axis : block.iter_vars) {
    if (axis->iter_type == tir::IterVarType::kCommReduce) return true;
  }
  return false;
}

// Whether the body of a loop is the realization of one block that reduces.
bool IsReductionLoop(const tir::For& loop) {
  const auto* realize = As<tir::BlockRealize>(loop.body);
  return realize && IsReduction(*realize->block);
}

class LastIterationLoser : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (!IsReductionLoop(*loop)) return visited;
    const PrimBuilder make(workspace());
    auto* shorter = workspace().New<tir::For>(*visited);
    shorter->extent = make.Sub(visited->extent, make.Int(1, visited->extent->dtype));
    return shorter;
  }
};

// The loop over what is left after the last whole tile of four.
class TailLoser : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    const PrimBuilder make(workspace());
    const PrimExpr* tile = make.Int(4, visited->extent->dtype);
    auto* whole = workspace().New<tir::For>(*visited);
    whole->extent = make.Mul(make.FloorDiv(visited->extent, tile), tile);
    return whole;
  }
};

class InitDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    if (!visited->init) return visited;
    auto* copy = workspace().New<tir::Block>(*visited);
    copy->init = nullptr;
    return copy;
  }
};

// The first value of a reduction becomes 0, also that of a maximum.
class ZeroInit : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    const auto* store = visited->init ? As<tir::BufferStore>(visited->init) : nullptr;
    if (!store) return visited;
    auto* zero = workspace().New<tir::BufferStore>(*store);
    zero->value = PrimBuilder(workspace()).Float(0, store->value->dtype);
    auto* copy = workspace().New<tir::Block>(*visited);
    copy->init = zero;
    return copy;
  }
};

class ReductionParallelizer : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (!IsReductionLoop(*loop)) return visited;
    auto* parallel = workspace().New<tir::For>(*visited);
    parallel->for_kind = tir::ForKind::kParallel;
    return parallel;
  }
};

// Every innermost loop, whatever its iterations depend on.
class Vectorizer : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (!Is<tir::BufferStore>(visited->body)) return visited;
    auto* vectorized = workspace().New<tir::For>(*visited);
    vectorized->for_kind = tir::ForKind::kVectorized;
    return vectorized;
  }
};

class PredicateDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override { return VisitStmt(branch->then_case); }
};

// if x == c: a, else: b -> b.
class RareBranchDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    const bool is_rare = Is<tir::EQ>(branch->condition) && branch->else_case;
    return is_rare ? VisitStmt(branch->else_case) : StmtExprMutator::VisitIfThenElse(branch);
  }
};

class AssertDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* assertion) override { return VisitStmt(assertion->body); }
};

// Conditions on large sizes never hold.
class LargeSizeDropper : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override {
    const auto* greater = As<tir::GT>(branch->condition);
    const auto* bound = greater ? As<tir::IntImm>(greater->b) : nullptr;
    const bool is_large = bound && bound->value >= 1000 && branch->else_case;
    return is_large ? VisitStmt(branch->else_case) : StmtExprMutator::VisitIfThenElse(branch);
  }
};

}  // namespace

std::span<const LoopBug> StmtBugs() {
  static const std::vector<LoopBug> bugs = {
      MutateLoops<LastIterationLoser>("LoseLastIteration", "end reductions one iteration earlier"),
      MutateLoops<TailLoser>("LoseTail", "drop the iterations after the last whole tile"),
      MutateLoops<InitDropper>("DropInit", "drop the initialization of reductions"),
      MutateLoops<ZeroInit>("ZeroInit", "begin all reductions at 0"),
      MutateLoops<ReductionParallelizer>("ParallelReduction", "make reductions parallel"),
      MutateLoops<Vectorizer>("VectorizeDependence", "vectorize loops whose iterations depend on each other"),
      MutateLoops<PredicateDropper>("DropPredicate", "drop conditions of statements"),
      MutateLoops<RareBranchDropper>("DropRareBranch", "drop branches for equal numbers"),
      MutateLoops<AssertDropper>("DropAssert", "drop assertions"),
      MutateLoops<LargeSizeDropper>("DropLargeSizes", "drop branches for large sizes"),
  };
  return bugs;
}

}  // namespace iropt::wrong
