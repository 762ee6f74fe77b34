// How dtypes are kept in registers and in memory.
//
// Integers are LLVM's integers of the same width, booleans i1 in registers and i8 in memory. Floats of 16 and 8 bits
// are kept in registers as float, which holds each of their values exactly; what is computed is rounded to the format
// once per operation. Vectors are LLVM's vectors of these.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "iropt/ir/dtype.h"

namespace iropt::codegen {

class ValueTypes {
 public:
  // `has_half`: the processor converts float16 itself.
  ValueTypes(llvm::IRBuilder<>& builder, bool has_half) : b_(builder), has_half_(has_half) {}

  // Whether values of the dtype can be computed with. Vectors of unknown length and formats of less than a byte cannot.
  static bool IsSupported(DataType dtype);
  // Whether buffers can have such elements.
  static bool IsElement(DataType dtype);

  llvm::Type* Register(DataType dtype);
  llvm::Type* Memory(DataType dtype);

  llvm::Value* FromMemory(llvm::Value* stored, DataType dtype);
  llvm::Value* ToMemory(llvm::Value* value, DataType dtype);
  // A value of type float or double to the nearest of the dtype, which is floating. Only double to a narrower format
  // needs more than one rounding; the steps in between do not show.
  llvm::Value* RoundTo(llvm::Value* value, DataType dtype);

  // The type with as many lanes as `like` has.
  static llvm::Type* LanesLike(llvm::Type* scalar, llvm::Type* like);

 private:
  // 1 + exponent + mantissa bits.
  struct Format {
    int exponent;
    int mantissa;
    bool nan_only;  // the highest codes are numbers but for NaN
    int bias() const { return (1 << (exponent - 1)) - 1; }
    uint32_t nan() const;
    uint32_t first_special() const;  // the least code that stands for no finite number
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
