// Statements and buffers as primitives take them apart and put them together.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
#include "iropt/schedule/ref.h"
#include "iropt/support/lookup.h"

namespace iropt::schedule {

// Walks statements, not their expressions, and not the initializations of blocks: what is in those cannot be scheduled.
class StmtWalker : public tir::StmtExprVisitor {
 public:
  void VisitExpr(const PrimExpr*) final {}

 protected:
  void VisitBlock(const tir::Block* block) override { VisitStmt(block->body); }
};

// ---- Parts

// The body of a block or loop, and the same statement with another one.
const tir::Stmt* BodyOf(const tir::Stmt& block_or_loop);
const tir::Stmt* WithBody(const tir::Stmt& block_or_loop, const tir::Stmt* body, Workspace& workspace);
// The realizations of the blocks directly inside the block or loop, in the order of execution.
std::vector<const tir::BlockRealize*> ChildRealizes(const tir::Stmt& block_or_loop);
// The realizations of the outermost blocks in a statement, which may be such a realization itself.
std::vector<const tir::BlockRealize*> RealizesIn(const tir::Stmt* stmt);
// Returns whether something is done in the block or loop outside of the blocks directly inside it.
bool HasBareStmts(const tir::Stmt& block_or_loop);
// The statements of a sequence, or the statement alone.
std::vector<const tir::Stmt*> StatementsOf(const tir::Stmt* body);
// A body without the declarations of constants and buffers that it begins with, which all of its statements can use;
// and the same declarations around other statements.
const tir::Stmt* BelowDeclarations(const tir::Stmt* body);
const tir::Stmt* WithBelowDeclarations(const tir::Stmt* body, const tir::Stmt* below, Workspace& workspace);
// All blocks of the tree that can be scheduled, in pre-order.
std::vector<const tir::Block*> BlocksOf(const tir::Stmt* stmt);
// Pairs the blocks of two trees of the same structure, as far as they differ.
BlockReuse PairBlocks(const tir::Stmt* old_stmt, const tir::Stmt* new_stmt);
// The values of the axes of the block, in the dtypes of the axes.
tir::VarValues BindingsOf(const tir::BlockRealize& realize, Workspace& workspace);
// Returns whether the condition is the constant true.
bool IsTrue(const PrimExpr* condition);
// The buffers that are read or written by the region lists.
bool UsesBuffer(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer);
std::string_view KindWord(const tir::Stmt& block_or_loop);

// ---- Construction

// A serial loop from 0. Constants take the dtype of the variable.
const tir::For* MakeLoop(const tir::Var* var, const PrimExpr* extent, const tir::Stmt* body, Workspace& workspace);
const tir::BlockRealize* MakeRealize(std::span<const PrimExpr* const> values, const PrimExpr* predicate,
                                     const tir::Block* block, Workspace& workspace);
const tir::BufferRegion* MakeRegion(const tir::Buffer* buffer, std::span<const tir::Range* const> ranges,
                                    Workspace& workspace);
// Of one element.
std::vector<const tir::Range*> Points(std::span<const PrimExpr* const> indices, Workspace& workspace);
const tir::BufferRegion* PointRegion(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                                     Workspace& workspace);
const tir::BufferRegion* FullRegion(const tir::Buffer* buffer, Workspace& workspace);
const tir::Block* CopyBlock(const tir::Block& block, Workspace& workspace,
                            const std::function<void(tir::Block&)>& change);
const tir::Var* CopyVar(const tir::Var& var, Workspace& workspace, std::string_view suffix = {});
template <class T>
List<T> With(List<T> list, T item, Workspace& workspace) {
  std::vector<T> items(list.begin(), list.end());
  items.push_back(item);
  return workspace.Copy(items);
}

// ---- Buffers

// A copy of the buffer with a pointer of its own: new memory, or another view of memory.
struct BufferChange {
  std::string name = {};                                // empty: the same
  std::string_view scope = {};                          // empty: the same
  DataType dtype = DataType::Void();                    // void: the same
  const std::vector<const PrimExpr*>* shape = nullptr;  // null: the same; else without strides
  bool is_view = false;                                 // strides and offset may be variables that a match binds
};
const tir::Buffer* CopyBuffer(const tir::Buffer& buffer, const BufferChange& change, Workspace& workspace);
// Replaces buffers in statements, regions and matched regions; also in the lists of allocated buffers. What is matched
// to a region of one is in the memory of the new one.
using BufferMap = LookupMap<const tir::Buffer*, const tir::Buffer*>;
const tir::Stmt* ReplaceBuffers(const tir::Stmt* stmt, const BufferMap& buffers, Workspace& workspace);
List<const tir::BufferRegion*> ReplaceBuffers(List<const tir::BufferRegion*> regions, const BufferMap& buffers,
                                              Workspace& workspace);
// The list of regions with the regions of a buffer replaced.
List<const tir::BufferRegion*> ReplaceRegion(List<const tir::BufferRegion*> regions, const tir::Buffer* buffer,
                                             const tir::BufferRegion* region, Workspace& workspace);
List<const tir::MatchBufferRegion*> ReplaceRegion(List<const tir::MatchBufferRegion*> matches,
                                                  const tir::Buffer* buffer, const tir::BufferRegion* region,
                                                  Workspace& workspace);

// ---- Expressions

// Returns whether the values are an affine map of the iterators of which each counts by one. TVM's IsAffineBinding.
bool IsAffineBinding(const tir::BlockRealize& realize, const arith::IterRanges& iters, arith::Analyzer& analyzer);
// Simplifies the bindings of the blocks in the tree, and of those in blocks without axes, by the loops around them.
const tir::Stmt* SimplifyBindings(const tir::Stmt* stmt, arith::IterRanges loops, bool preserve_unit_iters,
                                  Workspace& workspace);
// The values of variables, converted to their dtypes.
const tir::Stmt* SubstituteCast(const tir::Stmt* stmt, const tir::VarValues& values, Workspace& workspace);
// Returns whether an annotation names the buffer of the load. All others are accesses.
inline bool IsMention(const tir::BufferLoad& load) { return load.dtype.is_handle() && load.indices.empty(); }
// Returns whether the expression binds a variable (T.Let).
bool BindsVar(const PrimExpr* expr);
// Gives copies of expressions that bind variables variables of their own: the first one that is visited keeps those
// that it has.
class BindingRenewer : public tir::StmtExprMutator {
 public:
  explicit BindingRenewer(Workspace& workspace) : StmtExprMutator(workspace) {}

 protected:
  const PrimExpr* VisitLet(const tir::Let* let) override;
  const PrimExpr* VisitVar(const tir::Var* var) override {
    const tir::Var* renewed = current_.Lookup(var);
    return renewed ? renewed : var;
  }

 private:
  LookupSet<const tir::Var*> known_;
  LookupMap<const tir::Var*, const tir::Var*> current_;
};
// The free variables of an expression, each once.
std::vector<const tir::Var*> VarsOf(const PrimExpr* expr);
// The expression with simplification, unless that makes it a constant.
const PrimExpr* SimplifyUnlessConstant(const PrimExpr* expr, arith::Analyzer& analyzer);

bool IsCallTo(const PrimExpr* expr, OpId op);
const PrimExpr* Intrinsic(OpId op, DataType dtype, std::initializer_list<const PrimExpr*> args, Workspace& workspace);

// ---- Trees

// The blocks and loops that lead from a scope to some of its parts: what a rewriter of the scope has to enter.
class PathSet {
 public:
  // A block or loop, and those around it up to `scope`, which is not in the set.
  void Add(const Ref* ref, const Ref* scope) {
    for (; ref && ref != scope && stmts_.insert(ref->stmt); ref = ref->parent) continue;
  }
  bool contains(const tir::Stmt* stmt) const { return stmts_.contains(stmt); }

 private:
  LookupSet<const tir::Stmt*> stmts_;
};

// The scope with its parts replaced, where each part is a block or a loop directly in it, or nested in its loops. Other
// blocks are not entered.
class ScopeRewriter : public tir::StmtExprMutator {
 public:
  ScopeRewriter(const tir::Block* scope, Workspace& workspace) : StmtExprMutator(workspace), scope_(scope) {}
  const PrimExpr* VisitExpr(const PrimExpr* expr) final { return expr; }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override { return block == scope_ ? VisitScope(block) : block; }
  virtual const tir::Stmt* VisitScope(const tir::Block* block) {
    const tir::Stmt* body = VisitStmt(block->body);
    return body == block->body ? block : WithBody(*block, body, workspace());
  }

  const tir::Block* scope_;
};

}  // namespace iropt::schedule
