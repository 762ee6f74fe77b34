// Sliding windows over the spatial axes of images, as in convolution and pooling: reads their attributes for type
// rules, kernels and legalizations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/op/op_attrs.h"
#include "iropt/support/result.h"

namespace iropt {

// For each spatial axis: stride, dilation, and padding on either side. All are below kMaxWindow in magnitude, strides
// and dilations positive. A negative padding crops the image.
struct Window {
  std::vector<int64_t> strides, dilation, before, after;
};

// With numbers below this, sizes of images and windows can be computed without overflow.
inline constexpr int64_t kMaxWindow = int64_t{1} << 31;

// The window over `rank` spatial axes. One number as padding applies to all sides, `rank` numbers to both sides of each
// axis. The error is a message without a location.
Result<Window> ReadWindow(size_t rank, const IntList& strides, const IntList& dilation, const IntList& padding);
// For records with the three attributes: ConvAttrs, ConvTransposeAttrs, PoolAttrs.
template <class Attrs>
Result<Window> ReadWindow(size_t rank, const Attrs& attrs) {
  return ReadWindow(rank, attrs.strides(), attrs.dilation(), attrs.padding());
}

// The number of windows of `size` elements on axis `i` of an image of this length, padding included; with `round_up`,
// the last may extend beyond the image, but it does not count if it starts in the padding after the image. Not
// positive if not even the first fits. Nothing on overflow.
std::optional<int64_t> CountWindows(const Window& window, size_t i, int64_t size, int64_t length, bool round_up);
// Returns whether rounding up may add a window that starts in the padding after the image, for some length of the
// image.
bool MayStartInPadding(const Window& window, size_t i, int64_t size);

// The axes of images with 1 to 3 spatial axes, and of the kernels of convolutions over them, in the order of TVM's
// names.
std::string_view ImageAxes(size_t rank);
std::string_view KernelAxes(size_t rank);
std::string_view TransposedKernelAxes(size_t rank);

}  // namespace iropt
