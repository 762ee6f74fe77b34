// The elements that a slice takes from an axis, by Python's rules: negative indices count from the end, and indices
// beyond the axis are clamped. Type rules, kernels and legalizations ask here, so that they agree.
#pragma once

#include <cstdint>

#include "iropt/ir/tir/expr.h"

namespace iropt {

struct SliceRange {
  int64_t first;
  int64_t length;
};
// All indices are allowed; `stride` is not 0, `extent` is not negative.
SliceRange RangeOfSlice(int64_t begin, int64_t end, int64_t stride, int64_t extent);

// A range of an axis whose length is a dimension of a type. `first` means nothing if the slice is empty.
struct SymbolicSliceRange {
  const PrimExpr* first;
  const PrimExpr* length;
};
// With `assume_inbound`, indices that are not constants are between 0 and `extent`, and the slice does not run
// backwards.
SymbolicSliceRange RangeOfSlice(const PrimExpr* begin, const PrimExpr* end, const PrimExpr* stride,
                                const PrimExpr* extent, bool assume_inbound);

}  // namespace iropt
