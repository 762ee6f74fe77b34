// Comparison of tensors up to a tolerance.
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
  // The default for results of this dtype: larger than the rounding errors of reordered sums.
  static Tolerance Of(DataType dtype);
  // That of the dtype, adapted to the values and to how many operations one after the other lead to them: errors grow
  // with the square root of that, and the absolute error with the median of the absolute values. O(elements).
  static Tolerance For(const NDArray& expected, DataType dtype, double accumulation = 1);
  // A few units in the last place if most elements are below the least normal number; nothing for other tensors.
  static std::optional<Tolerance> ForDenormals(const NDArray& expected, DataType dtype, double accumulation = 1);
};

// That of both float dtypes whose tolerance is greater.
DataType LessPrecise(DataType a, DataType b);

struct Comparison {
  bool same_type = true;  // dtype and shape; if false, the other members are not set
  int64_t num_elements = 0;
  int64_t num_differing = 0;
  int64_t first = -1;  // the row-major index of the first differing element
  double got = 0;      // the first differing element
  double expected = 0;
  double max_absolute = 0;  // over the elements that are finite in both tensors
  double max_relative = 0;
  int64_t num_nan_mismatches = 0;  // elements that are NaN in one tensor only

  bool ok() const { return same_type && num_differing == 0; }
};

// NaNs are equal to each other, as are infinities of one sign. O(elements).
Comparison CompareTensors(const NDArray& got, const NDArray& expected, Tolerance tolerance);
// "3 of 10 elements differ, first [0, 4]: 1.5, expected 1.25; max absolute error 0.25, ..."
std::string DescribeComparison(const Comparison& comparison, const NDArray& got, const NDArray& expected);

}  // namespace iropt
