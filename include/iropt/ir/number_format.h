// The formats of numbers that models are stored in and computed with: their codes, ranges, rounding and accumulators.
// One table, which conversions of narrow elements, mixed precision, quantization and the choice of precision share.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "iropt/ir/dtype.h"

namespace iropt {

// A format of floats, of integers, or of blocks of floats that share a power of two.
struct NumberFormat {
  std::string_view name;   // that of the dtype, or of the blocks: "float16", "mxfp4"
  std::string_view alias;  // as people write it on command lines: "fp16"; empty: none
  DataType dtype;          // of the elements
  // Of floats. `special` is the first code of the upper half that is not a finite number.
  int mantissa_bits = 0;
  int bias = 0;
  int special = 0;
  int infinity = 0;  // the code of it; 0: the format has none
  int nan = 0;
  bool has_negative_zero = true;
  // The dtype in which runtimes add products of such numbers.
  DataType accumulator = DataType::Float(32);
  int block = 0;  // the number of elements that share a scale, a power of two (float8_e8m0fnu); 0: none

  bool is_integer() const { return dtype.is_integer(); }
};

// All formats in the order of the table.
std::span<const NumberFormat> NumberFormats();
// The format of single elements of a dtype; null if the table does not have it.
const NumberFormat* FormatOfDType(DataType dtype);
// By name or alias; null if unknown.
const NumberFormat* FormatNamed(std::string_view name);

// The number of a finite code without a sign.
double MagnitudeOf(int code, const NumberFormat& format);
// The greatest and the least finite number; those of integers include both ends.
double GreatestOf(const NumberFormat& format);
double LeastOf(const NumberFormat& format);
// The least positive number that has all bits of precision, and the least positive number.
double LeastNormalOf(const NumberFormat& format);
double LeastPositiveOf(const NumberFormat& format);
// Half of the distance from 1 to the next number: the greatest relative error of rounding a normal number.
double UnitRoundoff(const NumberFormat& format);
// Returns whether a finite number is rounded to something beyond the range.
bool Overflows(double number, const NumberFormat& format);

// Rounds each number to the nearest one of the format, ties to even. Numbers beyond the range become infinite, NaN if
// the format has no infinity, and the nearest end if it has neither, as integers and blocks. `out` may be `in`; blocks
// begin at the first number. O(numbers).
void RoundTo(const NumberFormat& format, std::span<const float> in, float* out);

}  // namespace iropt
