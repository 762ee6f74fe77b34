// Conversions between float formats, written as operations on their bits.
#pragma once

#include "iropt/arith/prim_builder.h"

namespace iropt {

// The unsigned integers with as many bits and lanes.
constexpr DataType BitsDType(DataType dtype) { return DataType::UInt(dtype.bits, dtype.lanes); }

// The bits of the value as another dtype of the same size.
const PrimExpr* Reinterpret(DataType dtype, const PrimExpr* value, const arith::PrimBuilder& make);

// A float with the given bits in another format. Rounds to the nearest value, ties to even. As in TVM 0.18, only values
// that are normal in both formats are exact: zeros, denormal numbers, infinities and NaNs become other numbers if the
// formats have exponents of different sizes, and rounding up the largest values or NaNs can overflow. O(1).
const PrimExpr* ConvertFloatBits(const PrimExpr* bits, DataType from, DataType to, const arith::PrimBuilder& make);

// Converts a float to another format, as ConvertFloatBits does.
inline const PrimExpr* ConvertFloat(const PrimExpr* value, DataType to, const arith::PrimBuilder& make) {
  return ConvertFloatBits(Reinterpret(BitsDType(value->dtype), value, make), value->dtype, to, make);
}

}  // namespace iropt
