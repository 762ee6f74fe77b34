// Functions of the C library and of LLVM that compute what intrinsics do. tir.LowerIntrin makes calls of them.
#pragma once

#include <cstdint>

#include "iropt/op/op.h"

namespace iropt {

// The intrinsic that a call by name computes, and the first of its operands in the call.
struct NamedIntrinsic {
  const OpInfo* op = nullptr;  // null: the call is another one
  uint32_t first_operand = 0;

  uint32_t num_operands() const;
};

// Instructions of x86 that calls of T.call_llvm_pure_intrin name. They are computed on any processor.
enum class VectorInstruction : uint8_t {
  kNone,
  kDotBytes,  // vpdpbusd: a sum of int32 and the products of four bytes, unsigned and signed, of the same lane
  kDotPairs,  // pmaddwd: the sum of the products of two int16 next to each other
};

struct NamedInstruction {
  VectorInstruction instruction = VectorInstruction::kNone;
  uint32_t first_operand = 0;
};
// The instruction of a call whose operands have the dtypes of the instruction. O(1).
NamedInstruction FindVectorInstruction(const tir::Call& call);

// For T.call_pure_extern("float32", "expf", x), T.call_llvm_pure_intrin("float32", "llvm.exp", T.uint32(1), x) and
// T.call_llvm_intrin. O(1).
NamedIntrinsic FindNamedIntrinsic(const tir::Call& call);

}  // namespace iropt
