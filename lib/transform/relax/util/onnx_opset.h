// The operator set of ONNX that a module is written with.
#pragma once

#include <cstdint>

#include "iropt/ir/module.h"

namespace iropt {

inline constexpr int64_t kOpsetOfBlocks = 21;  // of scales of blocks, and of integers of 4 bits
inline constexpr int64_t kOpsetOfAxes = 13;    // of scales along an axis
inline constexpr int64_t kOpsetOfBfloat = 22;  // of bfloat16 in nearly all operators

// A module that was read from ONNX will be written with an operator set of at least this version, and, if it
// `contributes`, with that of onnxruntime.
void RequireOpset(Module& module, int64_t version, bool contributes);

}  // namespace iropt
