// Where the results of reductions are initialized.
//
// A reduction block initializes its result in the iteration in which all its reduction axes have their first value. In
//
//   for i: for k: with block: vi, vk = i, k; with init: C[vi] = 0; C[vi] += A[vi, vk]
//
// this is the first iteration of k, so that the initialization can be hoisted out of the loop of k, where it costs
// nothing and does not prevent vectorization. Loops over other axes inside of it are duplicated for the initialization.
// This requires that the block accesses its result only at the initialized elements. Where it stays in the block, it
// takes the place of loops that turn out to have no iteration.
#pragma once

#include <unordered_set>
#include <vector>

#include "expr_emitter.h"
#include "iropt/ir/tir/reduction_nest.h"
#include "iropt/support/function_ref.h"
#include "loop_emitter.h"

namespace iropt::codegen {

class StmtEmitter;

class ReductionInit {
 public:
  ReductionInit(StmtEmitter& stmts, ExprEmitter& exprs, LoopEmitter& loops)
      : stmts_(stmts), exprs_(exprs), frame_(exprs.frame()), loops_(loops) {}

  // Generates what the loop must find initialized, and the loop.
  void Around(const tir::For& loop, FunctionRef<void()> emit_loop);
  // Returns whether the loop is of reductions, and may turn out to have no iteration.
  bool MayBeEmpty(const tir::For& loop) const;
  // Initializes their results then.
  void EmitIfEmpty(const tir::For& loop);
  // Returns whether the initialization was hoisted out of an enclosing loop.
  bool IsDone(const tir::Block& block) const { return done_.contains(&block); }
  // The part of a loop in a function of its own has the same hoisted initializations.
  void Continue(const ReductionInit& outer) { done_ = outer.done_; }

 private:
  // Those whose blocks are yet to be initialized.
  std::vector<tir::ReductionNest> NestsOf(const tir::For& loop) const;
  void EmitBefore(const tir::ReductionNest& nest);
  // Returns whether one of the loops of the reduction has no iteration; null if all have some.
  llvm::Value* HasNoIteration(const tir::ReductionNest& nest);
  // Initializes as in the first iteration.
  void EmitFirst(const tir::ReductionNest& nest);
  void EmitEmpty(const tir::ReductionNest& nest);
  // Generates the body for all iterations of loops that are not of the reduction, from the one at `depth`.
  void ForFirstIterations(const tir::ReductionNest& nest, size_t depth, FunctionRef<void()> body);

  StmtEmitter& stmts_;
  ExprEmitter& exprs_;
  Frame& frame_;
  LoopEmitter& loops_;
  std::unordered_set<const tir::Block*> done_;
};

}  // namespace iropt::codegen
