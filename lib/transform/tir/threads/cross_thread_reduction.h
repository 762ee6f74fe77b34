// The statements of a reduction over threads. For tir.LowerCrossThreadReduction.
#pragma once

#include <string_view>
#include <vector>

#include "iropt/analysis/tir/commutative_reducer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

class CrossThreadReduction {
 public:
  // The loops of the reduction, outermost first.
  CrossThreadReduction(const tir::BlockRealize& realize, const BlockReduction& reduction,
                       const std::vector<const tir::For*>& loops, const arith::PrimBuilder& make, Workspace& workspace);

  // The value of the attribute reduce_scope is an integer, not a null pointer.
  void set_integer_scope(bool is_integer) { integer_scope_ = is_integer; }

  // Makes the statement that replaces the first loop. `path` are the statements from it to the block, both included:
  // loops of the reduction and sequences.
  const tir::Stmt* Make(const std::vector<const tir::Stmt*>& path);
  // The buffers that it needs.
  const std::vector<const tir::Buffer*>& scratchpads() const { return scratchpads_; }

 private:
  std::vector<const tir::Buffer*> MakeScratchpads(std::string_view prefix);
  List<const tir::BufferRegion*> RegionsOf(const std::vector<const tir::Buffer*>& buffers);
  const tir::Stmt* Realize(const tir::Block& block, List<const PrimExpr*> values, const PrimExpr* predicate);
  const tir::Stmt* MakeInit();
  const tir::BlockRealize* MakeInThread();
  const tir::Stmt* MakeLoops(const std::vector<const tir::Stmt*>& path);
  const tir::Stmt* KeepThreadLoop(const tir::For& loop, const tir::Stmt* body);
  const tir::Stmt* MakeAllReduce();
  const tir::Stmt* MakeWriteBack();
  const PrimExpr* WriteBackCondition();
  const tir::Block& block() const { return *realize_.block; }

  const tir::BlockRealize& realize_;
  const BlockReduction& reduction_;
  const std::vector<const tir::For*>& loops_;
  const arith::PrimBuilder& make_;
  Workspace& workspace_;
  std::vector<const tir::Buffer*> cross_thread_;
  std::vector<const tir::Buffer*> in_thread_;  // empty if a thread has nothing to reduce by itself
  std::vector<const tir::Buffer*> scratchpads_;
  bool integer_scope_ = false;
};

}  // namespace iropt
