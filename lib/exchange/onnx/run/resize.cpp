// Resize in all its forms: one dimension after the other.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exchange/onnx/ops/resize_spec.h"
#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

// One dimension: its lengths, the scale, and the part of it that is cropped.
struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  double scale = 1;
  double start = 0;
  double end = 1;
};

// The elements that an element of the result is a weighted sum of.
struct Taps {
  std::vector<int64_t> index;
  std::vector<double> weight;
};

double SourceOf(const ResizeSpec& spec, const ResizeAxis& axis, double x) {
  const std::string_view mode = spec.coordinates;
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.out == 1 ? 0 : x * (in - 1) / (axis.scale * in - 1);
  if (mode == "pytorch_half_pixel" && axis.out <= 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    if (axis.out <= 1) return 0.5 * (axis.start + axis.end) * (in - 1);
    return axis.start * (in - 1) + x * (axis.end - axis.start) * (in - 1) / (out - 1);
  }
  const double offset = mode == "half_pixel_symmetric" ? in / 2 * (1 - out / (axis.scale * in)) : 0;
  return offset + (x + 0.5) / axis.scale - 0.5;
}

double RoundSource(std::string_view rounding, double x) {
  if (rounding == "floor") return std::floor(x);
  if (rounding == "ceil") return std::ceil(x);
  return rounding == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double LinearWeight(double distance) { return std::max(0.0, 1 - std::abs(distance)); }

double CubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

Taps TapsAt(const ResizeSpec& spec, const ResizeAxis& axis, double x) {
  if (spec.mode == "nearest") return {{static_cast<int64_t>(RoundSource(spec.rounding, x))}, {1}};
  const bool is_cubic = spec.mode == "cubic";
  // Shrunk images take the mean of wider parts.
  const double stretch = spec.antialias ? std::min(axis.scale, 1.0) : 1;
  const double reach = (is_cubic ? 2 : 1) / stretch;
  Taps taps;
  double sum = 0;
  for (auto i = static_cast<int64_t>(std::floor(x - reach)); i <= static_cast<int64_t>(std::ceil(x + reach)); ++i) {
    const double distance = (static_cast<double>(i) - x) * stretch;
    double weight = is_cubic ? CubicWeight(distance, spec.cubic_a) : LinearWeight(distance);
    if (weight == 0) continue;
    if (spec.excludes_outside && (i < 0 || i >= axis.in)) weight = 0;
    taps.index.push_back(i);
    taps.weight.push_back(weight);
    sum += weight;
  }
  if ((spec.excludes_outside || spec.antialias) && sum != 0) {
    for (double& weight : taps.weight) weight /= sum;
  }
  return taps;
}

// Resizes the dimension between `outer` and `inner` others.
std::vector<double> ResizeOne(const ResizeSpec& spec, const ResizeAxis& axis, const std::vector<double>& x,
                              int64_t outer, int64_t inner) {
  std::vector<double> y(static_cast<size_t>(outer * axis.out * inner));
  for (int64_t o = 0; o < axis.out; ++o) {
    const Taps taps = TapsAt(spec, axis, SourceOf(spec, axis, static_cast<double>(o)));
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t k = 0; k < inner; ++k) {
        double sum = 0;
        for (size_t t = 0; t < taps.index.size(); ++t) {
          const int64_t from = std::clamp<int64_t>(taps.index[t], 0, axis.in - 1);
          sum += taps.weight[t] * x[static_cast<size_t>((i * axis.in + from) * inner + k)];
        }
        y[static_cast<size_t>((i * axis.out + o) * inner + k)] = sum;
      }
    }
  }
  return y;
}

// Marks what a crop takes from outside of the image along one dimension.
void MarkOutside(const ResizeSpec& spec, const ResizeAxis& axis, std::vector<double>& y, int64_t outer, int64_t inner) {
  for (int64_t o = 0; o < axis.out; ++o) {
    const double x = SourceOf(spec, axis, static_cast<double>(o));
    if (x >= 0 && x <= static_cast<double>(axis.in - 1)) continue;
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t k = 0; k < inner; ++k) y[static_cast<size_t>((i * axis.out + o) * inner + k)] = spec.extrapolation;
    }
  }
}

// One scale for all dimensions that are resized, if the aspect ratio stays.
void KeepAspectRatio(std::string_view policy, std::span<const size_t> places, std::vector<ResizeAxis>& axes) {
  if (policy != "not_larger" && policy != "not_smaller") return;
  double scale = axes[places[0]].scale;
  for (const size_t place : places)
    scale = policy == "not_larger" ? std::min(scale, axes[place].scale) : std::max(scale, axes[place].scale);
  for (const size_t place : places) {
    axes[place].scale = scale;
    axes[place].out = static_cast<int64_t>(std::round(scale * static_cast<double>(axes[place].in)));
  }
}

Result<std::vector<ResizeAxis>> AxesOf(const OnnxCall& call, const ResizeSpec& spec, std::span<const int64_t> shape) {
  std::vector<ResizeAxis> axes;
  for (const int64_t dim : shape) axes.push_back({.in = dim, .out = dim});
  std::vector<size_t> places;
  const auto rank = static_cast<int64_t>(shape.size());
  for (int64_t i = 0; i < (spec.axes.empty() ? rank : static_cast<int64_t>(spec.axes.size())); ++i) {
    const int64_t axis = spec.axes.empty() ? i : spec.axes[static_cast<size_t>(i)];
    if (axis < -rank || axis >= rank) return call.Fail(fmt::format("axis {} is out of range", axis));
    places.push_back(static_cast<size_t>(axis < 0 ? axis + rank : axis));
  }
  const bool by_sizes = spec.sizes_input != 0 && call.Has(spec.sizes_input);
  std::vector<int64_t> sizes;
  std::vector<double> scales = call.Floats("scales");
  if (by_sizes) {
    IROPT_ASSIGN_OR_RETURN(sizes, call.IntsIn(spec.sizes_input));
  } else if (scales.empty()) {
    IROPT_ASSIGN_OR_RETURN(scales, call.NumbersIn(spec.scales_input));
  }
  const size_t count = by_sizes ? sizes.size() : scales.size();
  if (count != places.size() || places.empty())
    return call.Fail(fmt::format("has {} scales or sizes for {} axes", count, places.size()));
  for (size_t i = 0; i < places.size(); ++i) {
    ResizeAxis& axis = axes[places[i]];
    axis.out = by_sizes ? sizes[i] : ScaledLength(axis.in, scales[i]);
    if (axis.in == 0 && axis.out == 0) continue;
    axis.scale = by_sizes ? static_cast<double>(sizes[i]) / static_cast<double>(axis.in) : scales[i];
    if (axis.in < 1 || axis.out < 0 || !(axis.scale > 0)) return call.Fail("a scale or size is not positive");
  }
  if (by_sizes) KeepAspectRatio(spec.policy, places, axes);
  if (spec.coordinates != "tf_crop_and_resize") return axes;
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> roi, call.NumbersIn(1));
  if (roi.size() != 2 * places.size())
    return call.Fail(fmt::format("the region has {} numbers: expected {}", roi.size(), 2 * places.size()));
  for (size_t i = 0; i < places.size(); ++i) {
    axes[places[i]].start = roi[i];
    axes[places[i]].end = roi[places.size() + i];
  }
  return axes;
}

Result<HostValue> RunResize(OnnxCall& call) {
  const ResizeSpec spec = ReadResizeSpec(call, call.opset());
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorIn(0));
  IROPT_ASSIGN_OR_RETURN(std::vector<double> values, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<ResizeAxis> axes, AxesOf(call, spec, x->shape()));
  std::vector<int64_t> shape(x->shape().begin(), x->shape().end());
  std::vector<int64_t> result;
  for (const ResizeAxis& axis : axes) result.push_back(axis.out);
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  const auto around = [&](size_t i) {
    return std::pair(Product(std::span(shape).first(i)), Product(std::span(shape).subspan(i + 1)));
  };
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_cropped = spec.coordinates == "tf_crop_and_resize" && (axes[i].start != 0 || axes[i].end != 1);
    if (axes[i].scale == 1 && axes[i].in == axes[i].out && !is_cropped) continue;
    const auto [outer, inner] = around(i);
    values = ResizeOne(spec, axes[i], values, outer, inner);
    shape[i] = axes[i].out;
  }
  for (size_t i = 0; spec.coordinates == "tf_crop_and_resize" && i < axes.size(); ++i) {
    const auto [outer, inner] = around(i);
    MarkOutside(spec, axes[i], values, outer, inner);
  }
  if (x->dtype().is_integer()) {
    for (double& value : values) value = std::nearbyint(value);
  }
  return HostValue(FromNumbers(x->dtype(), shape, values));
}

constexpr KernelRow kResizeKernels[] = {
    {"Resize", "0", RunResize},
    {"Upsample", "0", RunResize},
};

}  // namespace

std::span<const KernelRow> ResizeKernels() { return kResizeKernels; }

}  // namespace iropt::onnx
