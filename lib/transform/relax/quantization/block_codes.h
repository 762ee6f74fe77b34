// Numbers that share a scale, as integers of few bits.
#pragma once

#include <cstdint>
#include <span>

#include "iropt/ir/dtype.h"

namespace iropt {

// How a block of numbers becomes integers.
struct BlockFormat {
  int bits = 4;
  // Zero is the middle of the integers; else it is where the range of the block has it.
  bool symmetric = true;
  // Of a symmetric block: the number farthest from zero is the least integer, whose scale may be negative. The range
  // is used better than with a scale above zero.
  bool negative_scales = false;
  DataType scale_dtype = DataType::Float(32);  // float32, float16 or bfloat16

  int levels() const { return 1 << bits; }
  int middle() const { return 1 << (bits - 1); }
};

// number = scale * (code - zero), where codes are from 0 to 2^bits - 1.
struct BlockScale {
  float scale = 1;
  int zero = 0;
};

// The scale, which has the dtype's precision, for finite numbers. O(numbers).
BlockScale ScaleOf(std::span<const float> numbers, const BlockFormat& format);
// The codes nearest to the numbers, ties to even.
void CodesOf(std::span<const float> numbers, const BlockScale& scale, const BlockFormat& format, uint8_t* codes);
inline float NumberOf(int code, const BlockScale& scale) { return scale.scale * static_cast<float>(code - scale.zero); }

}  // namespace iropt
