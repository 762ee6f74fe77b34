// Resizing of images. Coordinates and weights are computed in float32, as generated code does.
#include <algorithm>
#include <array>
#include <cmath>

#include "iropt/op/ops/image.h"
#include "numeric.h"
#include "rearrange.h"

namespace iropt::eval {

namespace {

enum class Method : uint8_t { kNearest, kLinear, kCubic };

// The elements of an axis of the image, with weights, that make an element of the result.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> index{};
  std::array<float, 4> weight{};
  bool outside = false;  // beyond the region of interest: the extrapolation value
};

struct ResizeArgs {
  Method method = Method::kLinear;
  std::string_view mode;
  std::string_view rounding;
  double alpha = -0.5;
  bool exclude = false;
  float extrapolation = 0;
};

// One axis of the image.
struct ResizeAxis {
  int64_t in = 1;
  int64_t out = 1;
  float begin = 0;  // of the region of interest
  float end = 0;
};

// The limit of an image that can be resized; coordinates on it are exact in float32.
constexpr int64_t kMaxLength = int64_t{1} << 20;

constexpr bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// `attrs` are Resize2DAttrs or Resize3DAttrs.
template <class Attrs>
Result<ResizeArgs> ReadResizeArgs(const KernelCall& call, const Attrs& attrs) {
  ResizeArgs args;
  const std::string_view method = attrs.method();
  if (method == "nearest_neighbor") {
    args.method = Method::kNearest;
  } else if (method == "cubic") {
    args.method = Method::kCubic;
  } else if (method != "linear") {
    return call.Fail(fmt::format("the method '{}' is not supported", method));
  }
  args.mode = attrs.coordinate_transformation_mode();
  if (!IsOneOf(args.mode, {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
                           "tf_crop_and_resize"}))
    return call.Fail(fmt::format("the coordinate transformation mode '{}' is not supported", args.mode));
  args.rounding = attrs.rounding_method();
  if (args.rounding.empty()) args.rounding = args.mode == "align_corners" ? "round" : "floor";
  if (!IsOneOf(args.rounding, {"round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    return call.Fail(fmt::format("the rounding method '{}' is not supported", args.rounding));
  args.alpha = attrs.cubic_alpha();
  const auto exclude = attrs.cubic_exclude();
  const auto extrapolation = attrs.extrapolation_value();
  args.exclude = exclude != 0;
  args.extrapolation = static_cast<float>(extrapolation);
  return args;
}

// The coordinate in the image of element `i` of the result.
float CoordinateOf(const ResizeAxis& axis, std::string_view mode, int64_t i) {
  const float x = static_cast<float>(i);
  const float in = static_cast<float>(axis.in);
  const float last = static_cast<float>(axis.in - 1);
  const float scale = in / static_cast<float>(axis.out);
  if (mode == "half_pixel") return (x + 0.5f) * scale - 0.5f;
  // A single element cannot align two corners; as in ONNX, it is the first.
  if (mode == "align_corners") return axis.out == 1 ? 0.0f : last / static_cast<float>(axis.out - 1) * x;
  if (mode == "asymmetric") return scale * x;
  if (mode == "pytorch_half_pixel") return axis.out > 1 ? (x + 0.5f) * scale - 0.5f : 0.0f;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5f) * scale;
  if (axis.out > 1) return axis.begin * last + x * (axis.end - axis.begin) * last / static_cast<float>(axis.out - 1);
  return 0.5f * (axis.begin + axis.end) * last;
}

float RoundCoordinate(float x, std::string_view rounding) {
  if (rounding == "round") return std::nearbyint(x);
  if (rounding == "round_prefer_floor") return std::ceil(x - 0.5f);
  if (rounding == "round_prefer_ceil") return std::floor(x + 0.5f);
  // A small offset, so that a rounded integer stays that integer.
  if (rounding == "floor") return std::floor(x + 1e-5f);
  return std::ceil(x - 1e-5f);
}

std::array<float, 4> CubicWeights(float t, double alpha) {
  const float t2 = t * t;
  const float t3 = t * t * t;
  const auto number = [](double value) { return static_cast<float>(value); };
  return {number(alpha) * (t3 - 2.0f * t2 + t), number(alpha + 2) * t3 - number(3 + alpha) * t2 + 1.0f,
          number(-(alpha + 2)) * t3 + number(3 + 2 * alpha) * t2 - number(alpha) * t,
          number(-alpha) * t3 + number(alpha) * t2};
}

// A whole multiple of the image repeats its elements; computed in integers if generated code does so.
bool RepeatsEvenly(const ResizeArgs& args, const ResizeAxis& axis) {
  if (args.method != Method::kNearest || args.mode != "asymmetric" || axis.out % axis.in != 0) return false;
  const int64_t times = axis.out / axis.in;
  return static_cast<double>(times) <= 1 / (1e-5 * static_cast<double>(axis.in) + 1e-5);
}

void AddCubicTaps(const ResizeArgs& args, const ResizeAxis& axis, float x, Taps& taps) {
  const float whole = std::floor(x);
  const int64_t first = static_cast<int64_t>(whole) - 1;
  taps.count = 4;
  taps.weight = CubicWeights(x - whole, args.alpha);
  for (int i = 0; i < 4; ++i) taps.index[static_cast<size_t>(i)] = first + i;
  if (!args.exclude) return;
  for (size_t i = 0; i < 4; ++i) {
    if (taps.index[i] < 0 || taps.index[i] + 1 > axis.in) taps.weight[i] = 0;
  }
  const float sum = taps.weight[0] + taps.weight[1] + taps.weight[2] + taps.weight[3];
  for (float& weight : taps.weight) weight /= sum;
}

Result<Taps> TapsOf(const KernelCall& call, const ResizeArgs& args, const ResizeAxis& axis, int64_t i) {
  Taps taps;
  if (RepeatsEvenly(args, axis)) {
    taps.count = 1;
    taps.index[0] = i / (axis.out / axis.in);
    taps.weight[0] = 1;
    return taps;
  }
  const float x = CoordinateOf(axis, args.mode, i);
  if (!(std::fabs(x) < 1e9f)) return call.Fail("a coordinate is out of range");
  if (args.method == Method::kNearest) {
    taps.count = 1;
    taps.index[0] = static_cast<int64_t>(RoundCoordinate(x, args.rounding));
    taps.weight[0] = 1;
  } else if (args.method == Method::kLinear) {
    const float whole = std::floor(x);
    const float t = x - whole;
    taps.count = 2;
    taps.index = {static_cast<int64_t>(whole), static_cast<int64_t>(whole) + 1, 0, 0};
    taps.weight = {1.0f - t, t, 0, 0};
  } else {
    AddCubicTaps(args, axis, x, taps);
  }
  for (int64_t& index : taps.index) index = std::clamp<int64_t>(index, 0, axis.in - 1);
  taps.outside = args.mode == "tf_crop_and_resize" && (x < 0 || x > static_cast<float>(axis.in - 1));
  return taps;
}

Result<std::vector<Taps>> TapsOfAxis(const KernelCall& call, const ResizeArgs& args, const ResizeAxis& axis) {
  std::vector<Taps> all;
  for (int64_t i = 0; i < axis.out; ++i) {
    IROPT_ASSIGN_OR_RETURN(const Taps taps, TapsOf(call, args, axis, i));
    all.push_back(taps);
  }
  return all;
}

// A weighted sum along each axis, of those along the next ones; `at` is the offset on the axes before.
float Mix(const float* image, std::span<const ResizeAxis> axes, std::span<const Taps* const> taps, int64_t at = 0) {
  if (axes.empty()) return image[at];
  float sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(taps[0]->count); ++i) {
    const float value = Mix(image, axes.subspan(1), taps.subspan(1), at * axes[0].in + taps[0]->index[i]);
    sum = i == 0 ? value * taps[0]->weight[0] : sum + value * taps[0]->weight[i];
  }
  return sum;
}

Result<std::vector<ResizeAxis>> ReadResizeAxes(const KernelCall& call, const ResizeArgs& args,
                                               const std::vector<double>& roi, std::span<const int64_t> image) {
  IROPT_ASSIGN_OR_RETURN(const Shape size, call.ShapeArg(1));
  const size_t rank = image.size() - 2;
  if (size.size() != rank) return call.Fail("the size must have a number for each axis");
  std::vector<ResizeAxis> axes(rank);
  for (size_t i = 0; i < rank; ++i) {
    axes[i].in = image[2 + i];
    axes[i].out = size[i];
    const bool too_long = axes[i].in > kMaxLength || axes[i].out > kMaxLength;
    if (axes[i].out < 0 || too_long || (axes[i].in == 0 && axes[i].out != 0))
      return call.Fail("the image cannot be resized");
    if (args.mode != "tf_crop_and_resize") continue;
    if (roi.size() != 2 * rank) return call.Fail("the region of interest must have two numbers for each axis");
    // Of three axes, the last one comes first.
    const size_t place = rank == 3 ? rank - 1 - i : i;
    axes[i].begin = static_cast<float>(roi[place]);
    axes[i].end = static_cast<float>(roi[rank + place]);
  }
  return axes;
}

// `order` is the layout in which the image is resized, NC and the axes.
template <class Attrs>
Result<HostValue> EvalResize(KernelCall& call, std::string_view order) {
  const auto attrs = call.attrs<Attrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const ResizeArgs args, ReadResizeArgs(call, attrs));
  const std::string_view layout = attrs.layout();
  if (x->dtype().is_bool()) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor ordered, FromLayout(call, x, layout, order));
  IROPT_ASSIGN_OR_RETURN(const Tensor image, CastTensor(call, ordered, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const auto axes, ReadResizeAxes(call, args, attrs.roi(), image->shape()));
  Shape shape{image->shape()[0], image->shape()[1]};
  int64_t plane = 1;
  std::vector<std::vector<Taps>> taps;
  uint64_t work = 1;
  for (const ResizeAxis& axis : axes) {
    shape.push_back(axis.out);
    plane *= axis.in;
    work *= 4;
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Float(32), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * work));
  for (const ResizeAxis& axis : axes) {
    IROPT_ASSIGN_OR_RETURN(taps.emplace_back(), TapsOfAxis(call, args, axis));
  }
  float* place = out->MutableAs<float>().data();
  std::vector<const Taps*> chosen(axes.size());
  ForEachIndex(shape, [&](const Shape& index) {
    bool outside = false;
    for (size_t i = 0; i < axes.size(); ++i) {
      chosen[i] = &taps[i][static_cast<size_t>(index[2 + i])];
      outside = outside || chosen[i]->outside;
    }
    const float* first = image->As<float>().data() + (index[0] * shape[1] + index[1]) * plane;
    *place++ = outside ? args.extrapolation : Mix(first, axes, chosen);
  });
  IROPT_ASSIGN_OR_RETURN(const Tensor cast, CastTensor(call, out, DTypeOr(attrs.out_dtype(), x->dtype())));
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, cast, order, layout));
  return HostValue(std::move(result));
}

}  // namespace

Result<HostValue> EvalResize2d(KernelCall& call) { return EvalResize<Resize2DAttrs>(call, "NCHW"); }
Result<HostValue> EvalResize3d(KernelCall& call) { return EvalResize<Resize3DAttrs>(call, "NCDHW"); }

}  // namespace iropt::eval
