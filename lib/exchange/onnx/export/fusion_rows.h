// The table of fusions. Families are in fusions/, one file each.
#pragma once

#include <span>

#include "exchange/onnx/export/fusion.h"

namespace iropt::onnx {

// ---- The families.
std::span<const FusionRow> AttentionFusions();
std::span<const FusionRow> BlockFusions();
std::span<const FusionRow> ElementwiseFusions();
std::span<const FusionRow> LinearFusions();

// A tensor of the same elements.
std::shared_ptr<const NDArray> Reshaped(const NDArray& array, std::span<const int64_t> dims);
// The vector of one number per channel that a constant broadcasts as; null if it is another tensor.
std::shared_ptr<const NDArray> PerChannel(const NDArray& array, int rank, int64_t channels);
// The attributes of a convolution that is one of ONNX as it stands, and the operator; nullopt for other layouts and
// dtypes.
std::optional<FusedNode> PlainConvolution(const Call& call);

}  // namespace iropt::onnx
