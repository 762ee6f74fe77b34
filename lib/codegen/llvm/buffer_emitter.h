// Generates the addresses of buffer elements, loads and stores, and the views of buffers.
#pragma once

#include <string_view>
#include <vector>

#include "arithmetic.h"
#include "index_ranges.h"
#include "scope.h"

namespace iropt::codegen {

class ExprEmitter;

class BufferEmitter {
 public:
  BufferEmitter(ExprEmitter& exprs, Frame& frame, Arithmetic& arithmetic, Scope& scope, IndexRanges& ranges)
      : exprs_(exprs), frame_(frame), arithmetic_(arithmetic), scope_(scope), ranges_(ranges) {}

  static DataType ElementOf(const tir::Buffer& buffer) { return buffer.dtype.with_lanes(1); }

  llvm::Value* EmitLoad(const tir::BufferLoad& load, int lane);
  void EmitStore(const tir::BufferStore& store);
  void StoreElement(const tir::Buffer& buffer, List<const PrimExpr*> indices, llvm::Value* value);
  // The address of an element. With `bounded`, checks that the index is in range.
  llvm::Value* Locate(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lane, bool bounded);

  // ---- Views
  // Makes the view of a buffer whose dimensions have values.
  View ResolveView(const tir::Buffer& buffer);
  void Declare(const tir::Buffer& buffer) { scope_.Declare(&buffer, ResolveView(buffer)); }
  // Declares the buffer with a given view: binds variables without a value and checks the other dimensions.
  void DeclareAs(const tir::Buffer& buffer, View view);
  // Binds a variable without a value to the actual value, or checks that the expression has it.
  void Match(const PrimExpr* expr, llvm::Value* actual, std::string_view what);
  void MatchBuffer(const tir::MatchBufferRegion& match);
  // The product of non-negative extents. The generated code fails on overflow.
  llvm::Value* CountElements(llvm::ArrayRef<llvm::Value*> extents);
  // The strides of a row-major layout.
  std::vector<llvm::Value*> CompactStrides(llvm::ArrayRef<llvm::Value*> shape);

 private:
  void CheckIndex(const tir::Buffer& buffer, const View& view, size_t dim, const PrimExpr* index, llvm::Value* value);
  // The number of contiguous lanes: all lanes of the access, or 1.
  bool IsContiguous(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LocateAll(const tir::Buffer& buffer, List<const PrimExpr*> indices, int lanes);
  llvm::Value* LoadFrom(llvm::Value* address, DataType dtype);
  void StoreTo(llvm::Value* address, llvm::Value* value, DataType dtype);
  // Stores to an element of the buffer, in all copies of its memory that belong to the threads of this statement.
  void StoreToCopies(const tir::Buffer& buffer, llvm::Value* address, llvm::Value* value, DataType dtype);
  // Returns whether all elements of the view are provably within the allocation.
  bool IsKnownInside(const tir::Buffer& buffer, const View& view);
  // Returns whether a compact buffer provably takes no more bytes than the memory.
  bool IsNoLonger(const tir::Buffer& buffer, const TypedValue& data);

  ExprEmitter& exprs_;
  Frame& frame_;
  Arithmetic& arithmetic_;
  Scope& scope_;
  IndexRanges& ranges_;
};

}  // namespace iropt::codegen
