// The state of a schedule of one PrimFunc: its statements, and references to its blocks and loops that stay valid while
// primitives replace parts of it.
//
//   schedule::State state(func, storage);
//   schedule::Ref* block = state.RefOf(...);
//   state.Replace(block->parent, new_loop);            // *block still refers to its block
//   const PrimFunc* result = state.func();
//
// A replacement costs the size of what is replaced, except for parts that occur in both trees, and the path from there
// to the root of the function; statements of a body before and after all that differ are not looked at. What is known
// about a block (its dependences, whether its bindings are affine) is computed when it is first asked for, and
// dependences follow replacements.
//
// Source: TVM's schedule state and its references (src/tir/schedule/state.cc).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/block_scope.h"
#include "iropt/support/lookup.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

// Why a primitive was refused: "{0}" and so on in the message stand for the statements.
struct Refusal {
  std::string message;
  std::vector<const Node*> parts;
};

class State {
 public:
  // A function of the module. Its body is a block with its realization, as in every function that can be scheduled.
  State(const Module& module, const PrimFunc* func, const FuncStorageRef& storage);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static bool CanSchedule(const PrimFunc& func) { return Is<tir::BlockRealize>(func.body); }

  const PrimFunc* func() const { return func_; }
  void SetFunc(const PrimFunc* func) { func_ = func; }
  Workspace& workspace() { return workspace_; }
  arith::PrimBuilder make() { return arith::PrimBuilder(workspace_); }
  Ref* root() const { return root_; }

  // The reference to a block or loop of the function; Find gives null for other statements.
  Ref* RefOf(const tir::Stmt* stmt) const;
  Ref* Find(const tir::Stmt* stmt) const;
  // The statement that executes the block.
  const tir::BlockRealize* RealizeOf(const Ref* block) const;
  // The block around it; null for the root.
  Ref* ScopeOf(const Ref* ref) const;
  // The loops around the block or loop up to the block around it, outermost first.
  std::vector<Ref*> LoopsOf(const Ref* ref) const;
  // The blocks directly inside the block or loop.
  std::vector<Ref*> ChildrenOf(const Ref* ref) const;
  // The blocks of this name, in any order.
  std::vector<Ref*> BlocksNamed(std::string_view name);
  // The names of all blocks, sorted.
  std::vector<std::string_view> BlockNames() const;

  // Replaces a loop by a loop or the realization of a block, or a block by a block. References to statements that occur
  // in the new tree as well stay valid, so do those to loops over the same variables, and those to blocks of `reuse`.
  // The others are removed.
  void Replace(Ref* at, const tir::Stmt* target, const BlockReuse& reuse = {});
  // Replaces the realization of a block, for new bindings of the same block.
  void ReplaceRealize(Ref* block, const tir::BlockRealize* realize);
  // Replaces the realization of a block by a loop around it; gives the reference to the loop.
  Ref* WrapRealize(Ref* block, const tir::For* loop);

  // Facts about the function as it is now; references hold until the next replacement. Three of them are kept from the
  // first function on, because primitives keep them even where that can no longer be shown: that bindings are affine,
  // that blocks read only what has been written, and that scopes are stage pipelines. For a new block the second is
  // taken for granted.
  const BlockScope& ScopeInfo(Ref* block);
  // Each child of the block reads only what others before it have written, and no child writes what another one before
  // it reads.
  bool IsStagePipeline(Ref* block);
  // Returns whether all statements of the block that store or have effects are in the blocks in it, so that the
  // dependences between these are all that there are.
  bool HasOnlyBlocks(Ref* block);
  // Returns whether the bindings of the block are an affine map of the loops around it.
  bool IsAffine(const Ref* block);
  // Returns whether what the block reads has been written before, by blocks of its scope if any of them writes it.
  bool IsRegionCovered(Ref* block);
  // Finds these facts again for the scope and the blocks in it.
  void Recheck(Ref* scope);
  // Finds them again for what is in the blocks of the scope, and takes for granted that these read only what has been
  // written, which holds if a primitive has only taken blocks apart.
  void RecheckBlocks(Ref* scope);
  // States all of them for a block that a primitive has made.
  void Trust(const Ref* block) { kept_[block] = {true, true, true, std::nullopt}; }
  // For a block whose bindings a primitive has made.
  void RecheckAffine(const Ref* block) {
    kept_[block].affine.reset();
    IsAffine(block);
  }

  // Notes why a primitive was refused; returned in its place.
  Failure Refuse(std::string message, std::vector<const Node*> parts = {});
  Refusal TakeRefusal() { return std::exchange(refusal_, {}); }

 private:
  class Builder;
  // The parts of a block or loop and of its replacement in which they differ.
  struct Difference;
  struct Kept {
    std::optional<bool> affine;
    std::optional<bool> covered;
    std::optional<bool> stage_pipeline;
    std::optional<bool> only_blocks;
  };

  Ref* NewRef(const tir::Stmt* stmt, Ref* parent);
  void Renew(Ref* ref, const tir::Stmt* stmt);
  void ReplaceInAncestors(Ref* parent, const tir::Stmt* old_child, const tir::Stmt* new_child);
  Difference DifferenceOf(const Ref* at, const tir::Stmt* target, const BlockReuse& reuse) const;
  // The blocks directly inside the statements.
  std::vector<Ref*> ChildrenIn(const std::vector<const tir::Stmt*>& stmts) const;
  // Lets what is known about scopes follow a replacement.
  void UpdateInfos(Ref* scope, const std::vector<Ref*>& before, const std::vector<Ref*>& after);
  void CheckCover(Ref* scope, const BlockScope& info);
  bool CoversReads(Ref* consumer, const std::vector<Ref*>& producers, Ref* lca, arith::Analyzer& analyzer);

  const PrimFunc* func_;
  Workspace workspace_;
  std::deque<Ref> refs_;
  LookupMap<const tir::Stmt*, Ref*> by_stmt_;
  Ref* root_ = nullptr;
  LookupMap<std::string_view, std::vector<Ref*>> by_name_;  // of blocks that have or had the name
  LookupMap<const Ref*, std::unique_ptr<BlockScope>> infos_;
  LookupMap<const Ref*, Kept> kept_;
  Refusal refusal_;
};

// The ranges of the loops from `low` up to below `high` (null: to the root), as long as no block lies between; and
// of the loops over threads further out which all see the same memory of `scope`.
arith::IterRanges LoopDomain(const Ref* low, const Ref* high = nullptr, std::string_view scope = "global");

}  // namespace iropt::schedule
