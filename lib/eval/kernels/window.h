// Windows that slide over the spatial axes of images, as convolutions and pools have them.
#pragma once

#include "kernel.h"

namespace iropt::eval {

// Of each spatial axis: the number of elements of the window, the distance of neighbouring windows and of neighbouring
// elements of one, and what is added to the image on either side. All are below 2^31, strides and dilations positive.
struct Window {
  Shape size, strides, dilation, before, after;
};

// The attributes strides, dilation and padding of an operator on `rank` spatial axes.
Result<Window> ReadWindow(const KernelCall& call, Shape size);
// The number of windows on axis `i` of a (padded) image of this length; `round_up`: the last may stand out.
Result<int64_t> CountWindows(const KernelCall& call, const Window& window, size_t i, int64_t length, bool round_up);
// The axes of images with 1 to 3 spatial axes, and of the kernels of convolutions over them.
std::string_view ImageAxes(size_t rank);
std::string_view KernelAxes(size_t rank);
std::string_view TransposedKernelAxes(size_t rank);

}  // namespace iropt::eval
