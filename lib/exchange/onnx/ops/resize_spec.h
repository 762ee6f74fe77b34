// The attributes of a Resize or Upsample node, for the importer and the kernel.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace iropt::onnx {

struct ResizeSpec {
  std::string_view mode;         // nearest, linear, cubic
  std::string_view coordinates;  // the transformation of coordinates
  std::string_view rounding;     // of coordinates, for nearest
  std::string_view policy;       // of the aspect ratio
  double cubic_a = -0.75;
  bool excludes_outside = false;
  bool antialias = false;
  double extrapolation = 0;
  std::vector<int64_t> axes;  // those that are resized; empty: all
  // The inputs with the scales and the sizes; 0 if there is none.
  size_t scales_input = 0;
  size_t sizes_input = 0;
};

// The length of a dimension times a scale, both of which are float32 in the standard: 5 * 2.6 is 13, where numbers of
// 64 bits, in which 2.6F is a little less, give 12.
inline int64_t ScaledLength(int64_t length, double scale) {
  const float product = static_cast<float>(length) * static_cast<float>(scale);
  return product >= 0 && product < 0x1p62F ? static_cast<int64_t>(product) : -1;
}

// Before version 11, nearest neighbours are those at the rounded-down coordinates, and there are no sizes.
template <class NodeView>
ResizeSpec ReadResizeSpec(const NodeView& node, int64_t version) {
  ResizeSpec spec;
  spec.mode = node.String("mode", "nearest");
  if (spec.mode == "bilinear") spec.mode = "linear";
  if (version < 11) {
    spec.coordinates = "asymmetric";
    spec.rounding = "floor";
    spec.scales_input = 1;
    return spec;
  }
  spec.coordinates = node.String("coordinate_transformation_mode", "half_pixel");
  spec.rounding = node.String("nearest_mode", "round_prefer_floor");
  spec.policy = node.String("keep_aspect_ratio_policy", "stretch");
  spec.cubic_a = node.Float("cubic_coeff_a", -0.75);
  spec.excludes_outside = node.Int("exclude_outside") != 0;
  spec.antialias = node.Int("antialias") != 0;
  spec.extrapolation = node.Float("extrapolation_value");
  spec.axes = node.Ints("axes");
  spec.scales_input = 2;
  spec.sizes_input = 3;
  return spec;
}

}  // namespace iropt::onnx
