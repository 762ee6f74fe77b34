// Generates code for scalar expressions.
//
// An expression with several lanes is generated as a vector where its parts can be (lane kAll), or lane by lane: what a
// lane of it is, is generated as the interpreter evaluates it. Branches of choices that could fail are only computed
// where they are chosen.
#pragma once

#include <span>

#include "arithmetic.h"
#include "index_ranges.h"
#include "iropt/support/function_ref.h"
#include "scope.h"

namespace iropt::codegen {

// Gives the code of functions that are called.
class FunctionTable {
 public:
  virtual ~FunctionTable() = default;
  // Null where the module has no such PrimFunc.
  virtual const PrimFunc* Find(const GlobalVar& var) = 0;
  virtual llvm::Function* Declare(const PrimFunc& func) = 0;
};

class ExprEmitter {
 public:
  static constexpr int kAll = -1;

  ExprEmitter(Frame& frame, FunctionTable& functions) : frame_(frame), functions_(functions), arithmetic_(frame) {}

  Frame& frame() { return frame_; }
  Scope& scope() { return scope_; }
  IndexRanges& ranges() { return ranges_; }
  FunctionTable& functions() { return functions_; }
  Arithmetic& arithmetic() { return arithmetic_; }
  int thread_axes = 0;  // of the threads that are running, not together

  llvm::Value* Emit(const PrimExpr* expr, int lane = kAll);
  // As an integer of 64 bits.
  llvm::Value* EmitInt(const PrimExpr* expr, int lane = kAll);
  llvm::Value* EmitBool(const PrimExpr* expr, int lane = kAll);
  // A pointer with what is known of its memory, or the value of any other expression.
  TypedValue EmitTyped(const PrimExpr* expr);
  // Whether computing it cannot fail and has no effect.
  bool IsSafe(const PrimExpr* expr);

  // ---- Buffers (buffers.cpp)
  llvm::Value* EmitLoad(const tir::BufferLoad& load, int lane);
  void EmitStore(const tir::BufferStore& store);
  void StoreElement(const tir::Buffer& buffer, List<const PrimExpr*> indices, llvm::Value* value);
  // Computes where the elements of a buffer are, now that its dimensions have values.
  View ResolveView(const tir::Buffer& buffer);
  void Declare(const tir::Buffer& buffer) { scope_.Declare(&buffer, ResolveView(buffer)); }
  // The same with its shape given: variables without a value are bound, all else must agree.
  void DeclareAs(const tir::Buffer& buffer, View view);
  void MatchBuffer(const tir::MatchBufferRegion& match);
  // The product of extents, which are not negative; fails where it overflows.
  llvm::Value* CountElements(llvm::ArrayRef<llvm::Value*> extents);
  // Row-major strides.
  std::vector<llvm::Value*> CompactStrides(llvm::ArrayRef<llvm::Value*> shape);

  // Adds values to the sums of a reduction, which are kept in memory.
  void Combine(const tir::CommReducer& combiner, std::span<const PrimExpr* const> values,
               llvm::ArrayRef<llvm::Value*> sums);

 private:
  llvm::Value* EmitNode(const PrimExpr* expr, int lane);
  llvm::Value* EmitVector(const PrimExpr* expr);
  llvm::Value* EmitVectorNode(const PrimExpr* expr);
  llvm::Value* EmitVar(const tir::Var* var, int lane);
  llvm::Value* EmitBinary(const tir::BinaryExpr& expr, int lane);
  llvm::Value* EmitLogic(const tir::BinaryExpr& expr, int lane);
  llvm::Value* EmitChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane);
  llvm::Value* EmitLet(const tir::Let& let, int lane);
  llvm::Value* EmitRamp(const tir::Ramp& ramp, int lane);
  llvm::Value* EmitShuffle(const tir::Shuffle& shuffle, int lane);
  llvm::Value* EmitReduce(const tir::Reduce& reduce);
  void ReduceOver(const tir::Reduce& reduce, size_t axis, llvm::ArrayRef<llvm::Value*> sums);
  bool IsSafeCall(const tir::Call& call);

  // ---- Calls (calls.cpp)
  llvm::Value* EmitCall(const tir::Call& call, int lane);
  llvm::Value* EmitLaneCall(const tir::Call& call, OpId id, int lane, bool* known);
  llvm::Value* EmitDotProduct(const tir::Call& call);
  llvm::Value* EmitReinterpret(const tir::Call& call, int lane);
  TypedValue EmitBuiltin(const tir::Call& call, OpId id);
  TypedValue EmitAddressOf(const tir::Call& call);
  TypedValue EmitAccessPtr(const tir::Call& call);
  TypedValue EmitMakeShape(const tir::Call& call);
  TypedValue EmitMakeArray(const tir::Call& call);
  TypedValue EmitStructGet(const tir::Call& call);
  llvm::Value* EmitAtomicAdd(const tir::Call& call);
  llvm::Value* ExchangeSum(llvm::Value* address, DataType dtype, llvm::Value* value);
  llvm::Value* EmitPacked(const tir::Call& call);
  llvm::Value* CallFunction(const tir::Call& call, const GlobalVar& callee);
  struct Callee;
  void BindCallee(Callee& callee, const tir::Call& call);
  void MatchDescriptor(const tir::Buffer& buffer, TypedValue& arg);
  TypedValue Advance(TypedValue pointer, llvm::Value* bytes);
  TypedValue UnsupportedCall(const tir::Call& call, std::string_view what);

  // ---- Buffers
  // With `bounded`, an index out of range fails.
  llvm::Value* Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded);
  void CheckIndex(const tir::Buffer& buffer, const View& view, size_t dim, const PrimExpr* index, llvm::Value* value);
  // How many lanes lie side by side from the first: all lanes of the access, or one.
  bool IsContiguous(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LocateAll(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LoadFrom(llvm::Value* address, DataType dtype);
  void StoreTo(llvm::Value* address, llvm::Value* value, DataType dtype);
  void Match(const PrimExpr* expr, llvm::Value* actual, std::string_view what);
  // Whether all elements of the view lie in the memory, whatever the values that are not known.
  bool IsKnownInside(const tir::Buffer& buffer, const View& view);
  DataType ElementOf(const tir::Buffer& buffer) { return buffer.dtype.with_lanes(1); }

  Frame& frame_;
  FunctionTable& functions_;
  Arithmetic arithmetic_;
  Scope scope_;
  IndexRanges ranges_;
};

}  // namespace iropt::codegen
