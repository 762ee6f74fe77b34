// The tolerance for the difference between outputs and the expected ones, and the errors that were found: shared by
// -check-semantics, -bisect=semantics and ir-run -check.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "iropt/execution/options.h"
#include "iropt/ir/dtype.h"
#include "iropt/runtime/compare.h"

namespace iropt {

// Facts about a run that decide how large its rounding errors may be.
struct RunPrecision {
  double accumulation = 1;  // an upper bound for how many operations one after the other lead to an output
  DataType least_precise = DataType::Float(64);  // of the floats that were computed
  bool mixes_magnitudes = false;                 // few inputs are much larger than the others
  bool is_denormal = false;                      // some inputs are below the least normal number
};

// The tolerance for the dtype of the expected tensor, or of a less precise one that was computed with. It grows
// with the square root of the number of operations that lead to an output, as rounding errors do, and the absolute one
// is relative to the median of the tensor; where few inputs are much larger, and several operations lead to an output,
// to the root of the mean square, because sums of large and small numbers keep the error of the large ones. Where
// inputs are below the least normal number, and most of the tensor is, it is a few units in the last place. What the
// options give replaces it. O(elements).
Tolerance ToleranceFor(const NDArray& expected, const RunPrecision& precision, const ToleranceOptions& options);

// The greatest errors of an output.
struct OutputErrors {
  std::string name = {};  // out0, out1, ...
  double max_absolute = 0;
  double max_relative = 0;
  int64_t num_nan_mismatches = 0;
  Tolerance tolerance = {};

  static OutputErrors Of(std::string name, const Comparison& comparison, Tolerance tolerance);
  // Takes the greater errors and tolerances of both, and the sum of the mismatches.
  void Add(const OutputErrors& more);
};

// "out0: 1 of 2 elements differ, ...; tolerance 2e-05 + 0.0002 * |expected|".
std::string DescribeDifference(const std::string& name, const Comparison& comparison, const NDArray& got,
                               const NDArray& expected, Tolerance tolerance);

// The heading of a table of errors, and a row without its end: "0 ... main out0".
std::string ErrorTableHeading();
std::string ErrorTableRow(const OutputErrors& errors, size_t num_runs, const std::string& output);

}  // namespace iropt
