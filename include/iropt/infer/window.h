// Windows that slide over the spatial axes of images, as convolutions and pools have them: their attributes, read for
// type rules, kernels and legalizations alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/op/op_attrs.h"
#include "iropt/support/result.h"

namespace iropt {

// Of each spatial axis: the distance of neighbouring windows and of neighbouring elements of one, and what is added to
// the image on either side. All are below kMaxWindow in magnitude, strides and dilations positive. A negative padding
// cuts elements off.
struct Window {
  std::vector<int64_t> strides, dilation, before, after;
};

// With numbers below this, sizes of images and windows can be computed without overflow.
inline constexpr int64_t kMaxWindow = int64_t{1} << 31;

// The window over `rank` spatial axes. One number as padding is that of all sides, `rank` numbers those of both sides
// of each axis. The error is a message without a place.
Result<Window> ReadWindow(size_t rank, const IntList& strides, const IntList& dilation, const IntList& padding);
// For records with the three attributes: ConvAttrs, ConvTransposeAttrs, PoolAttrs.
template <class Attrs>
Result<Window> ReadWindow(size_t rank, const Attrs& attrs) {
  return ReadWindow(rank, attrs.strides(), attrs.dilation(), attrs.padding());
}

// The number of windows of `size` elements on axis `i` of an image of this length, padding included; where `round_up`
// says so, the last may stand out. Negative where not even the first fits. Nothing where it cannot be computed without
// overflow.
std::optional<int64_t> CountWindows(const Window& window, size_t i, int64_t size, int64_t length, bool round_up);

// The axes of images with 1 to 3 spatial axes, and of the kernels of convolutions over them, in the order of TVM's
// names.
std::string_view ImageAxes(size_t rank);
std::string_view KernelAxes(size_t rank);
std::string_view TransposedKernelAxes(size_t rank);

}  // namespace iropt
