// Operations on values, with the meaning that their dtypes give them (iropt/ir/element.h): integers wrap around, floats
// are rounded once per operation, quotients of integers are rounded down or cut off, comparisons with NaN are false.
#pragma once

#include "frame.h"
#include "iropt/ir/node.h"
#include "iropt/op/op_id.h"

namespace iropt::codegen {

// What is known of the operands of an operation on integers.
struct OperandFacts {
  bool nonnegative = false;  // both are, in the sense of their dtype
  bool fits = false;         // the result does not leave the range of the dtype
};

class Arithmetic {
 public:
  explicit Arithmetic(Frame& frame) : frame_(frame) {}

  // kAdd to kMax. `dtype` is that of the operands; the lanes are those of the values.
  llvm::Value* Binary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b, OperandFacts facts = {});
  // kEQ to kGE, of operands that may have different dtypes.
  llvm::Value* Compare(NodeKind kind, DataType a_dtype, llvm::Value* a, DataType b_dtype, llvm::Value* b);
  llvm::Value* Cast(llvm::Value* value, DataType from, DataType to);

  // An intrinsic that computes a scalar from scalars, lane by lane; null where it is not one, or not one of vectors
  // where the operands are vectors.
  llvm::Value* Intrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                         llvm::ArrayRef<DataType> arg_dtypes);
  static bool IsIntrinsic(OpId id, size_t arity);

 private:
  llvm::IRBuilder<>& b() { return frame_.b(); }
  llvm::Constant* Constant(llvm::Value* like, int64_t value);
  llvm::Value* AnyLane(llvm::Value* condition);
  void FailIfAny(llvm::Value* condition, std::string_view what);

  llvm::Value* FloatBinary(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* FloorDivide(DataType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* FloorModFloat(llvm::Value* a, llvm::Value* b);
  llvm::Value* Division(NodeKind kind, DataType dtype, llvm::Value* a, llvm::Value* b, OperandFacts facts);
  llvm::Value* RoundDown(NodeKind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* IntToFloat(llvm::Value* value, DataType from, DataType to);

  llvm::Value* FloatIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* IntIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* AnyIntrinsic(OpId id, DataType dtype, llvm::ArrayRef<llvm::Value*> args,
                            llvm::ArrayRef<DataType> arg_dtypes);
  llvm::Value* Shift(OpId id, DataType dtype, llvm::Value* a, llvm::Value* by);
  llvm::Value* Power(DataType dtype, llvm::Value* base, llvm::Value* exponent);
  llvm::Value* Reinterpret(llvm::Value* value, DataType from, DataType to);
  // x * y / 2^(q + right) after a shift to the left, in 64 bits, with halves rounded up.
  llvm::Value* MultiplyShift(llvm::Value* x, llvm::Value* y, llvm::Value* q, llvm::Value* left, llvm::Value* right);
  llvm::Value* CallMath(const char* name, llvm::ArrayRef<llvm::Value*> args);

  Frame& frame_;
};

}  // namespace iropt::codegen
