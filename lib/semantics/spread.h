// How far the elements of an output lie apart in several runs.
#pragma once

#include <vector>

#include "iropt/ir/ndarray.h"
#include "iropt/runtime/compare.h"

namespace iropt {

// Begins at the output of one run. Memory and time are linear in the elements.
class Spread {
 public:
  explicit Spread(const NDArray& output);
  // Adds the output of another run, which has the same shape; one of another shape covers everything from then on.
  void Add(const NDArray& output);
  // Returns whether each element lies within the range of the runs, widened by several times its width, for floats at
  // least by the usual width of the elements, and by the tolerance. NaNs and infinities are within where a run had the
  // same, or where runs differed in that. With `may_overflow`, all runs may have had one where the element is finite.
  bool Covers(const NDArray& output, Tolerance tolerance, bool may_overflow) const;

 private:
  struct Range {
    double min;
    double max;
    bool has_finite;
    bool has_other;  // an infinity or a NaN
    double other;    // the last one of them
  };

  double RootMeanSquareWidth() const;

  std::vector<Range> ranges_;
  bool is_unknown_ = false;
};

}  // namespace iropt
