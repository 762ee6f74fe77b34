// Loops along one axis of a tensor.
#pragma once

#include "kernel.h"

namespace iropt::eval {

// An axis of a tensor as three nested loops: blocks before it, its length, and elements after it.
struct AxisLoops {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

inline AxisLoops LoopsOf(const NDArray& x, int64_t axis) {
  AxisLoops loops;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    const int64_t place = static_cast<int64_t>(d);
    (place < axis ? loops.outer : place == axis ? loops.length : loops.inner) *= x.shape()[d];
  }
  return loops;
}

// Calls f(start) with the offset of the first element of each line along the axis; elements are loops.inner apart.
template <class F>
void ForEachLine(const AxisLoops& loops, F&& f) {
  for (int64_t i = 0; i < loops.outer; ++i) {
    for (int64_t j = 0; j < loops.inner; ++j) f(i * loops.length * loops.inner + j);
  }
}

}  // namespace iropt::eval
