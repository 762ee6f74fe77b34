// The body of a vectorized loop, for all values of the loop variable at once.
#pragma once

#include <string>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/support/lookup.h"

namespace iropt {

// Expressions that depend on the variable become vectors. Statements that cannot be vectorized run in a serial loop.
// One object for each loop.
class Vectorizer : public tir::StmtExprMutator {
 public:
  struct Options {
    bool predicate_accesses = false;  // a condition i < n around accesses becomes a predicate of these
    bool all_functions = false;       // also erf and rsqrt of vectors
  };
  // The variable runs from 0; `extent` is a constant greater than 1, or a multiple of T.vscale().
  Vectorizer(const tir::Var* var, const PrimExpr* extent, const Options& options, Workspace& workspace,
             DiagnosticEngine& diagnostics);

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override;

 protected:
  using StmtExprMutator::VisitExpr;

  const PrimExpr* VisitVar(const tir::Var* var) override;
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override;
  const PrimExpr* VisitAdd(const tir::Add* expr) override { return VisitSum(*expr); }
  const PrimExpr* VisitSub(const tir::Sub* expr) override { return VisitSum(*expr); }
  const PrimExpr* VisitMul(const tir::Mul* expr) override;
  const PrimExpr* VisitNot(const tir::Not* expr) override;
  const PrimExpr* VisitRamp(const tir::Ramp* expr) override;
  const PrimExpr* VisitBroadcast(const tir::Broadcast* expr) override;
  const PrimExpr* VisitSelect(const tir::Select* expr) override;
  const PrimExpr* VisitCast(const tir::Cast* expr) override;
  const PrimExpr* VisitCall(const tir::Call* expr) override;
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* expr) override;
  const PrimExpr* VisitLet(const tir::Let* expr) override;

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* stmt) override;
  const tir::Stmt* VisitPrefetch(const tir::Prefetch* stmt) override;
  const tir::Stmt* VisitFor(const tir::For* stmt) override;
  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override;
  const tir::Stmt* VisitWhile(const tir::While* stmt) override;
  const tir::Stmt* VisitAssertStmt(const tir::AssertStmt* stmt) override;
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* stmt) override;
  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override;
  // Iteration variables stay scalar: a block whose variables depend on the loop runs in a serial loop.
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* stmt) override;
  const tir::BufferRegion* VisitBufferRegion(const tir::BufferRegion* region) override;
  const tir::MatchBufferRegion* VisitMatchBufferRegion(const tir::MatchBufferRegion* match) override;

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  void Error(const Node& at, const std::string& message);

  const PrimExpr* VisitSum(const tir::BinaryExpr& expr);
  const PrimExpr* WidenRamp(const tir::Ramp& ramp, DataType dtype) const;
  const PrimExpr* VisitIf(const tir::Call& call);
  const PrimExpr* VisitScalarCall(const tir::Call& call);
  const PrimExpr* VisitVectorCall(const tir::Call& call);
  // The value in so many lanes (negative: scalable).
  const PrimExpr* BroadcastTo(const PrimExpr* value, int lanes);
  // The lanes of a result with these operands: the most of either.
  int CommonLanes(const PrimExpr* a, const PrimExpr* b) { return CommonLanes(a->dtype.lanes, b->dtype.lanes, *a); }
  int CommonLanes(int a, int b, const Node& at);
  const PrimExpr* Lane(const PrimExpr* vector, const PrimExpr* index);

  // The variable that is bound to this value instead of `var`.
  const tir::Var* BoundVar(const tir::Var* var, const PrimExpr* value);
  // A serial loop over the statement as it was.
  const tir::Stmt* Scalarize(const tir::Stmt* stmt);

  const tir::Var* var_;
  const PrimExpr* extent_;
  const Options options_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  const PrimExpr* ramp_;  // all values of the variable
  // Set by an expression that cannot be vectorized: the statement around it must be scalar.
  bool need_scalar_ = false;
  // The vectors for variables that are bound inside.
  LookupMap<const tir::Var*, const tir::Var*> vectors_;
  std::vector<const tir::Var*> bound_;  // the variables in vectors_, in order
  size_t bound_outside_ = 0;            // how many of them are bound outside of the current statement
};

}  // namespace iropt
