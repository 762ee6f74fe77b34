// Generates loops and binds their variables.
#pragma once

#include "expr_emitter.h"
#include "iropt/support/function_ref.h"

namespace iropt::codegen {

struct LoopRange {
  const tir::Var* var;
  llvm::Value* min;     // of 64 bits
  llvm::Value* extent;  // of 64 bits
  const PrimExpr* min_expr;
  const PrimExpr* extent_expr;
};

LoopHint HintOf(const tir::For& loop);

class LoopEmitter {
 public:
  explicit LoopEmitter(ExprEmitter& exprs) : exprs_(exprs), frame_(exprs.frame()) {}

  // `min` is null for 0.
  LoopRange RangeOf(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent);
  void EmitLoop(const LoopRange& range, LoopHint hint, FunctionRef<void()> body, LoopKind kind = LoopKind::kOther);
  // Emits a loop whose iterations follow one another, also one with a step, which must be positive.
  void EmitSerial(const tir::For& loop, FunctionRef<void()> body, LoopKind kind = LoopKind::kOther);
  // The same with a step, a value of 64 bits that is checked.
  void EmitSteps(const LoopRange& range, llvm::Value* step, LoopHint hint, FunctionRef<void()> body,
                 LoopKind kind = LoopKind::kOther);
  // The number of iterations; the step, which is checked, may be null.
  llvm::Value* CountSteps(llvm::Value* extent, llvm::Value* step);
  // The value of the variable in the iteration with the number `i`.
  void BindLoopVar(const LoopRange& range, llvm::Value* i);

 private:
  bool FitsVariable(const LoopRange& range);

  ExprEmitter& exprs_;
  Frame& frame_;
};

}  // namespace iropt::codegen
