// Generates code for scalar expressions.
//
// A vector expression is generated as an LLVM vector (lane kAll) if all its parts support it, else lane by lane, as in
// the interpreter. Operands of a Select or if_then_else that may fail are generated in branches.
#pragma once

#include <span>

#include "arithmetic.h"
#include "buffer_emitter.h"
#include "call_emitter.h"
#include "index_ranges.h"
#include "iropt/support/function_ref.h"
#include "scope.h"

namespace iropt::codegen {

class ExprEmitter {
 public:
  static constexpr int kAll = -1;

  ExprEmitter(Frame& frame, FunctionTable& functions)
      : frame_(frame),
        functions_(functions),
        arithmetic_(frame),
        buffers_(*this, frame, arithmetic_, scope_, ranges_),
        calls_(*this, buffers_, frame, functions, arithmetic_, scope_) {}
  ExprEmitter(const ExprEmitter&) = delete;
  ExprEmitter& operator=(const ExprEmitter&) = delete;

  Frame& frame() { return frame_; }
  Scope& scope() { return scope_; }
  IndexRanges& ranges() { return ranges_; }
  FunctionTable& functions() { return functions_; }
  Arithmetic& arithmetic() { return arithmetic_; }
  BufferEmitter& buffers() { return buffers_; }
  int thread_axes = 0;                     // the number of enclosing thread axes that run as plain loops
  const PrimExpr* in_any_order = nullptr;  // the step of a reduction whose steps may be made in any order

  llvm::Value* Emit(const PrimExpr* expr, int lane = kAll);
  // The value as a 64-bit integer.
  llvm::Value* EmitInt(const PrimExpr* expr, int lane = kAll);
  llvm::Value* EmitBool(const PrimExpr* expr, int lane = kAll);
  // The value of an expression; for a pointer, with its allocation if known.
  TypedValue EmitTyped(const PrimExpr* expr) { return calls_.EmitTyped(expr); }
  // One of two values. Only that one is computed if the other one may fail.
  llvm::Value* EmitChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane);
  // Returns whether the expression can be evaluated speculatively: it cannot fail and has no effects.
  bool IsSafe(const PrimExpr* expr);

  // Combines values with the accumulators of a reduction, which are in memory.
  void Combine(const tir::CommReducer& combiner, std::span<const PrimExpr* const> values,
               llvm::ArrayRef<llvm::Value*> sums);

 private:
  llvm::Value* EmitNode(const PrimExpr* expr, int lane);
  llvm::Value* EmitVector(const PrimExpr* expr);
  llvm::Value* EmitVectorNode(const PrimExpr* expr);
  llvm::Value* EmitVar(const tir::Var* var, int lane);
  llvm::Value* EmitBinary(const tir::BinaryExpr& expr, int lane);
  llvm::Value* EmitLogic(const tir::BinaryExpr& expr, int lane);
  llvm::Value* EmitLet(const tir::Let& let, int lane);
  llvm::Value* EmitRamp(const tir::Ramp& ramp, int lane);
  llvm::Value* EmitShuffle(const tir::Shuffle& shuffle, int lane);
  // The lane with a computed number, counted through the vectors.
  llvm::Value* EmitLaneAt(List<const PrimExpr*> vectors, llvm::Value* index);
  llvm::Value* EmitReduce(const tir::Reduce& reduce);
  void ReduceOver(const tir::Reduce& reduce, size_t axis, llvm::ArrayRef<llvm::Value*> sums);
  bool IsSafeCall(const tir::Call& call);

  Frame& frame_;
  FunctionTable& functions_;
  Arithmetic arithmetic_;
  Scope scope_;
  IndexRanges ranges_;
  BufferEmitter buffers_;
  CallEmitter calls_;
};

}  // namespace iropt::codegen
