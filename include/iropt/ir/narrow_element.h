// Element types that are stored and moved, but not computed with: integers of 2 and 4 bits, and formats of 4 and 8
// bits. Host tensors have one element in a byte, integers with their sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "iropt/ir/dtype.h"
#include "iropt/ir/element.h"
#include "iropt/ir/ndarray.h"

namespace iropt {

// The rounding of numbers without an own code.
struct NarrowRounding {
  // Numbers beyond the range become the greatest ones, not infinity or NaN.
  bool saturates = true;
  // For e8m0, which has powers of two.
  enum class Mode : uint8_t { kUp, kDown, kNearest } mode = Mode::kUp;
};

// Returns whether the type is an integer of 2 or 4 bits, or a format of 4 or 8 bits.
bool IsNarrow(DataType dtype);

// Returns whether host tensors can hold elements of this dtype.
inline bool IsStoredType(DataType dtype) { return IsElementType(dtype) || IsNarrow(dtype); }

double LoadNarrow(std::byte code, DataType dtype);
// Rounds to the nearest number, ties to even codes; fractions of integers are cut off, and their high bits.
std::byte StoreNarrow(double number, DataType dtype, const NarrowRounding& rounding);

// The numbers of a tensor whose elements nothing computes with, as int32 or float32; null for other tensors.
std::shared_ptr<const NDArray> Widened(const NDArray& tensor);

}  // namespace iropt
