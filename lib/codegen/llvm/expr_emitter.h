// Generates code for scalar expressions.
//
// A vector expression is generated as an LLVM vector (lane kAll) if all its parts support it, else lane by lane, as in
// the interpreter. Operands of a Select or if_then_else that may fail are generated in branches.
#pragma once

#include <span>

#include "arithmetic.h"
#include "index_ranges.h"
#include "iropt/support/function_ref.h"
#include "scope.h"

namespace iropt::codegen {

// Looks up the generated functions of callees.
class FunctionTable {
 public:
  virtual ~FunctionTable() = default;
  // Null if the module has no such PrimFunc.
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
  int thread_axes = 0;  // the number of enclosing thread axes that run as plain loops

  llvm::Value* Emit(const PrimExpr* expr, int lane = kAll);
  // The value as a 64-bit integer.
  llvm::Value* EmitInt(const PrimExpr* expr, int lane = kAll);
  llvm::Value* EmitBool(const PrimExpr* expr, int lane = kAll);
  // The value of an expression; for a pointer, with its allocation if known.
  TypedValue EmitTyped(const PrimExpr* expr);
  // Returns whether the expression can be evaluated speculatively: it cannot fail and has no effects.
  bool IsSafe(const PrimExpr* expr);

  // ---- Buffers (buffers.cpp)
  llvm::Value* EmitLoad(const tir::BufferLoad& load, int lane);
  void EmitStore(const tir::BufferStore& store);
  void StoreElement(const tir::Buffer& buffer, List<const PrimExpr*> indices, llvm::Value* value);
  // Makes the view of a buffer whose dimensions have values.
  View ResolveView(const tir::Buffer& buffer);
  void Declare(const tir::Buffer& buffer) { scope_.Declare(&buffer, ResolveView(buffer)); }
  // Declares the buffer with a given view: binds variables without a value and checks the other dimensions.
  void DeclareAs(const tir::Buffer& buffer, View view);
  void MatchBuffer(const tir::MatchBufferRegion& match);
  // The product of non-negative extents. The generated code fails on overflow.
  llvm::Value* CountElements(llvm::ArrayRef<llvm::Value*> extents);
  // The strides of a row-major layout.
  std::vector<llvm::Value*> CompactStrides(llvm::ArrayRef<llvm::Value*> shape);

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
  llvm::Value* EmitChoice(const PrimExpr* condition, const PrimExpr* yes, const PrimExpr* no, int lane);
  llvm::Value* EmitLet(const tir::Let& let, int lane);
  llvm::Value* EmitRamp(const tir::Ramp& ramp, int lane);
  llvm::Value* EmitShuffle(const tir::Shuffle& shuffle, int lane);
  // The lane with a computed number, counted through the vectors.
  llvm::Value* EmitLaneAt(List<const PrimExpr*> vectors, llvm::Value* index);
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
  // With `bounded`, checks that the index is in range.
  llvm::Value* Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded);
  void CheckIndex(const tir::Buffer& buffer, const View& view, size_t dim, const PrimExpr* index, llvm::Value* value);
  // The number of contiguous lanes: all lanes of the access, or 1.
  bool IsContiguous(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LocateAll(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LoadFrom(llvm::Value* address, DataType dtype);
  void StoreTo(llvm::Value* address, llvm::Value* value, DataType dtype);
  // Stores to an element of the buffer, in all copies of its memory that belong to the threads of this statement.
  void StoreToCopies(const tir::Buffer& buffer, llvm::Value* address, llvm::Value* value, DataType dtype);
  void Match(const PrimExpr* expr, llvm::Value* actual, std::string_view what);
  // Returns whether all elements of the view are provably within the allocation.
  bool IsKnownInside(const tir::Buffer& buffer, const View& view);
  DataType ElementOf(const tir::Buffer& buffer) { return buffer.dtype.with_lanes(1); }

  Frame& frame_;
  FunctionTable& functions_;
  Arithmetic arithmetic_;
  Scope scope_;
  IndexRanges ranges_;
};

}  // namespace iropt::codegen
