// Comparison of tensors that should hold the same numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iropt/ir/ndarray.h"

namespace iropt {

// An element x may differ from the expected y by `absolute` + `relative` * |y|. Integers and booleans must be equal.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  // What results of the dtype may differ by where sums are added up in another order.
  static Tolerance Of(DataType dtype);
};

struct Comparison {
  bool same_type = true;  // dtype and shape; without, nothing else is known
  int64_t num_elements = 0;
  int64_t num_differing = 0;
  int64_t first = -1;  // the place of the first differing element, in row-major order
  double got = 0;      // that element
  double expected = 0;
  double max_absolute = 0;  // of all elements that are finite in both
  double max_relative = 0;
  int64_t num_nan_mismatches = 0;  // NaN in one of the two

  bool ok() const { return same_type && num_differing == 0; }
};

// NaNs are equal to each other, as are infinities of one sign. O(elements).
Comparison CompareTensors(const NDArray& got, const NDArray& expected, Tolerance tolerance);
// "3 of 10 elements differ, first [0, 4]: 1.5, expected 1.25; max absolute error 0.25, ..."
std::string DescribeComparison(const Comparison& comparison, const NDArray& got, const NDArray& expected);

}  // namespace iropt
