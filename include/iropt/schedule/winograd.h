// Winograd's algorithm for convolutions on CPUs: where it pays, and how its schedule finds the transforms.
#pragma once

#include <cstdint>
#include <string_view>

#include "iropt/ir/attr.h"

namespace iropt::schedule {

// The keys of annotations of the blocks that transform the columns of tiles of data and of products. The value is m,
// the number of rows of a tile of results.
inline constexpr std::string_view kWinogradInput = "winograd_input";
inline constexpr std::string_view kWinogradOutput = "winograd_output";

// A convolution of 3 x 3 with stride 1, in elements; all are positive.
struct ConvSize {
  int64_t batch, height, width;  // of the result
  int64_t in_channels, out_channels;
};

// The m, 2 or 4, for which F(m x m, 3 x 3) takes the least time on the target; 0 if the sums themselves take less, or
// the target is not a CPU. O(1).
int64_t ChooseWinogradTile(const ConvSize& size, const TargetAttr* target);

}  // namespace iropt::schedule
