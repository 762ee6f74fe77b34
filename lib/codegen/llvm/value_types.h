// The LLVM types of dtypes in registers and in memory.
//
// Integers have LLVM's type of the same width. Booleans are i1 in registers and i8 in memory. 16-bit and 8-bit floats
// are float in registers, which represents them exactly; results are rounded to the format after every operation.
// Vectors are LLVM vectors of these types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "iropt/ir/dtype.h"

namespace iropt::codegen {

class ValueTypes {
 public:
  // `has_half`: the CPU has instructions to convert float16.
  ValueTypes(llvm::IRBuilder<>& builder, bool has_half) : b_(builder), has_half_(has_half) {}

  // Returns whether values of the dtype are supported. Scalable vectors and formats of less than a byte are not.
  static bool IsSupported(DataType dtype);
  // Returns whether buffers can have elements of the dtype, with values of all operations.
  static bool IsElement(DataType dtype);
  // Returns whether buffers can have such elements, though their values may only be moved (IsStoredType).
  static bool IsStored(DataType dtype);

  llvm::Type* Register(DataType dtype);
  llvm::Type* Memory(DataType dtype);

  llvm::Value* FromMemory(llvm::Value* stored, DataType dtype);
  llvm::Value* ToMemory(llvm::Value* value, DataType dtype);
  // Rounds a float or double to a floating-point dtype, to nearest even. The result is correctly rounded, also from
  // double to narrow formats, where it takes two steps.
  llvm::Value* RoundTo(llvm::Value* value, DataType dtype);

  // The scalar type, or the vector type with the lanes of `like`.
  static llvm::Type* LanesLike(llvm::Type* scalar, llvm::Type* like);

 private:
  // Integers of fewer bits that have a byte each in memory.
  static bool IsByte(DataType dtype);
  // Numbers that are only moved, as a byte.
  static bool IsCode(DataType dtype);
  // 1 + exponent + mantissa bits.
  struct Format {
    int exponent;
    int mantissa;
    bool nan_only;  // the highest exponent encodes numbers, except for NaN
    int bias() const { return (1 << (exponent - 1)) - 1; }
    uint32_t nan() const;
    uint32_t first_special() const;  // the least code of a value that is not finite
  };
  static Format FormatOf(DataType dtype);
  bool UsesHalf(DataType dtype) const { return has_half_ && dtype.code == TypeCode::kFloat; }
  llvm::Value* Encode(llvm::Value* value, Format format, llvm::Type* code_type);
  llvm::Value* Decode(llvm::Value* code, Format format);
  llvm::Value* RoundToOdd(llvm::Value* wide);

  llvm::IRBuilder<>& b_;
  bool has_half_;
};

}  // namespace iropt::codegen
