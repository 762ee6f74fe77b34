// Support for passes that change the dtypes of index arithmetic: the places that hold indices (indices of buffers,
// shapes, bounds of loops, axes of blocks), and the operands that must match again after some of them have changed.
#pragma once

#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/support/lookup.h"

namespace iropt::arith {

// Sets a variable for the life of the scope.
template <class T>
class [[nodiscard]] ScopedValue {
 public:
  ScopedValue(T& variable, T value) : variable_(variable), old_(std::exchange(variable, std::move(value))) {}
  ~ScopedValue() { variable_ = std::move(old_); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
  T old_;
};

// A subclass decides the dtypes of constants, casts and variables; definitions of variables are visited as their uses
// are. This class brings the operands of each operation to one dtype again, by TVM's rules for operands, and folds
// constants where it does. Buffers become others where their shapes change.
class IndexDTypeRewriter : public tir::StmtExprMutator {
 public:
  // The text of TVM 0.18 has no dtype for the offset 0 of a buffer: it is that of the first dimension. Without
  // `zero_offsets_follow`, it is rewritten as any constant.
  explicit IndexDTypeRewriter(Workspace& workspace, bool zero_offsets_follow = true)
      : StmtExprMutator(workspace), make_(workspace), zero_offsets_follow_(zero_offsets_follow) {}

 protected:
  // Return whether the expression that is being visited is part of an index, and of a condition.
  bool in_index() const { return in_index_; }
  bool in_condition() const { return in_condition_; }
  [[nodiscard]] ScopedValue<bool> InIndex(bool value = true) { return {in_index_, value}; }
  const PrimBuilder& make() const { return make_; }
  const tir::Var* VarWithBits(const tir::Var* var, int bits);

  // The variable whose dtype does not depend on its value, instead of one that is bound to a value; null if there is
  // none.
  virtual const tir::Var* DecidedVar(const tir::Var*) const { return nullptr; }
  const tir::Var* VisitVarDef(const tir::Var* var) override { return To<tir::Var>(VisitExpr(var)); }
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override;
  const PrimExpr* VisitSelect(const tir::Select* select) override;
  const PrimExpr* VisitRamp(const tir::Ramp* ramp) override;
  const PrimExpr* VisitBroadcast(const tir::Broadcast* broadcast) override;
  const PrimExpr* VisitLet(const tir::Let* let) override;
  const PrimExpr* VisitCall(const tir::Call* call) override;
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override;
  const tir::IterVar* VisitIterVar(const tir::IterVar* iter_var) override;
  const tir::CommReducer* VisitCommReducer(const tir::CommReducer* reducer) override;

  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override;
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override;
  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override;
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override;
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* branch) override;
  const tir::Stmt* VisitFor(const tir::For* loop) override;
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override;
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override;
  // A buffer that no statement declares is rewritten where it is used, if variables in its shape are.
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override;
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override;

  // The list with its expressions visited as indices.
  List<const PrimExpr*> VisitIndices(List<const PrimExpr*> indices);
  const PrimExpr* VisitCondition(const PrimExpr* condition);

 private:
  // A variable that is bound to a value, and the value, both rewritten.
  std::pair<const tir::Var*, const PrimExpr*> VisitBinding(const tir::Var* var, const PrimExpr* value);
  const PrimExpr* VisitKeepingDType(const PrimExpr* value);
  // Returns whether a variable in one of the expressions is replaced.
  bool AnyVarReplaced(List<const PrimExpr*> exprs);
  // Brings both values to the wider of their dtypes.
  void MatchBits(const PrimExpr*& a, const PrimExpr*& b) const;

  PrimBuilder make_;
  const bool zero_offsets_follow_;
  bool in_index_ = false;
  bool in_condition_ = false;
};

// Computes indices in one dtype, that of `target`: all variables that occur in an index, in a bound of a loop or in an
// axis of a block, and constants there. O(nodes).
class IndexDTypeNormalizer : public IndexDTypeRewriter {
 public:
  // The variables that change, and what replaces them.
  using Vars = LookupMap<const tir::Var*, const tir::Var*>;

  // `vars` are those that FindVars of another normalizer has found.
  IndexDTypeNormalizer(DataType target, Vars& vars, Workspace& workspace)
      : IndexDTypeRewriter(workspace), target_(target), vars_(vars) {}

  // Finds the variables of a body that occur in an index, or in the value of another one that does. They may be used
  // elsewhere first.
  void FindVars(const tir::Stmt* body);
  // The type of the result is that of the function.
  const PrimFunc* Rewrite(const PrimFunc* func);

 protected:
  // Sees every buffer that the function defines.
  virtual void CheckBuffer(const tir::Buffer&) {}

  const tir::Var* DecidedVar(const tir::Var* var) const override { return vars_.Lookup(var); }
  const PrimExpr* VisitVar(const tir::Var* var) override;
  const PrimExpr* VisitIntImm(const tir::IntImm* constant) override;
  const PrimExpr* VisitCast(const tir::Cast* cast) override;
  const PrimExpr* VisitLet(const tir::Let* let) override;
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override;
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override;
  const tir::Stmt* VisitBlock(const tir::Block* block) override;

 private:
  bool IsOther(DataType dtype) const { return dtype.is_int() && dtype.bits >= 32 && dtype.bits != target_.bits; }

  const DataType target_;
  Vars& vars_;
  bool finds_ = false;
};

}  // namespace iropt::arith
