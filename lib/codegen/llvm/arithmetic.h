// Generates arithmetic with the semantics of the dtypes (iropt/ir/element.h): integers wrap around, floats are rounded
// once per operation, integer division floors or truncates, comparisons with NaN are false.
#pragma once

#include "frame.h"
#include "iropt/ir/node.h"
#include "iropt/op/op_id.h"

namespace iropt::codegen {

// Facts about an operation, those of integers from IndexRanges.
struct OperandFacts {
  bool nonnegative = false;   // both operands, as values of their dtype
  bool fits = false;          // the result is in the range of the dtype
  bool in_any_order = false;  // a step of a reduction whose steps may be made in any order
};

class Arithmetic {
 public:
  explicit Arithmetic(Frame& frame) : frame_(frame) {}

  // kAdd to kMax. `dtype` is that of the operands; the lanes are those of the values.
  llvm::Value* Binary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b, OperandFacts facts = {});
  // kEQ to kGE, of operands that may have different dtypes.
  llvm::Value* Compare(NodeKind kind, DataType a_dtype, llvm::Value* a, DataType b_dtype, llvm::Value* b);
  llvm::Value* Cast(llvm::Value* value, DataType from, DataType to);

  // Generates an elementwise intrinsic. Null for other intrinsics, and for those that do not support vectors if the
  // operands are vectors.
  llvm::Value* Intrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                         llvm::ArrayRef<DataType> arg_dtypes);
  static bool IsIntrinsic(OpId id, size_t arity);

 private:
  llvm::IRBuilder<>& b() { return frame_.b(); }
  llvm::Constant* Constant(llvm::Value* like, int64_t value);
  llvm::Value* AnyLane(llvm::Value* condition);
  void FailIfAny(llvm::Value* condition, std::string_view what);

  llvm::Value* FloatBinary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b, bool in_any_order = false);
  llvm::Value* FloatExtremum(NodeKind kind, llvm::Value* a, llvm::Value* c, bool in_any_order);
  llvm::Value* FloorDivide(DataType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* FloorModFloat(llvm::Value* a, llvm::Value* b);
  llvm::Value* Division(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b, OperandFacts facts);
  llvm::Value* RoundDown(NodeKind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* IntToFloat(llvm::Value* value, DataType from, DataType to);

  llvm::Value* FloatIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* FloatFunction(OpId id, llvm::Value* x);
  llvm::Value* IntIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* AnyIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                            llvm::ArrayRef<DataType> arg_dtypes);
  llvm::Value* Shift(OpId id, DataType dtype, llvm::Value* a, llvm::Value* by);
  llvm::Value* Power(DataType dtype, llvm::Value* base, llvm::Value* exponent);
  llvm::Value* NextOfTwoBytes(DataType dtype, llvm::Value* x, llvm::Value* y);
  llvm::Value* Reinterpret(llvm::Value* value, DataType from, DataType to);
  // Returns (x << left) * y / 2^(q + right), computed in 64 bits and rounded half up.
  llvm::Value* MultiplyShift(llvm::Value* x, llvm::Value* y, llvm::Value* q, llvm::Value* left, llvm::Value* right);
  llvm::Value* CallMath(const char* name, llvm::ArrayRef<llvm::Value*> args);

  Frame& frame_;
};

}  // namespace iropt::codegen
