// Windows of known size.
#pragma once

#include "iropt/infer/window.h"
#include "kernel.h"

namespace iropt::eval {

// `size` is the number of elements on each spatial axis, in [1, kMaxWindow). Paddings are not negative.
struct SizedWindow : Window {
  Shape size;
};

// The window from the attributes of an operator whose record has strides, dilation and padding.
Result<SizedWindow> MakeSizedWindow(const KernelCall& call, Shape size, Result<Window> window);
template <class Attrs>
Result<SizedWindow> SizedWindowOf(const KernelCall& call, Shape size, const Attrs& attrs) {
  const size_t rank = size.size();
  return MakeSizedWindow(call, std::move(size), ReadWindow(rank, attrs));
}
// The number of windows on axis `i` of a (padded) image of this length; `round_up`: the last may extend beyond the
// image.
Result<int64_t> CountWindows(const KernelCall& call, const SizedWindow& window, size_t i, int64_t length,
                             bool round_up);

}  // namespace iropt::eval
