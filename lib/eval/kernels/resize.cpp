// Resizing of images. Coordinates and weights are computed in float32, as generated code does.
#include <algorithm>
#include <array>
#include <cmath>

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

Result<ResizeArgs> ReadResizeArgs(const KernelCall& call) {
  const auto attrs = call.attrs<Resize2DAttrs>();
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
  if (rounding == "round") return std::round(x);
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

// A weighted sum of rows.
float Mix(const float* image, int64_t width, const Taps& rows, const Taps& columns) {
  const auto combine = [](const Taps& taps, auto&& value) {
    float sum = value(0) * taps.weight[0];
    for (int i = 1; i < taps.count; ++i) sum += value(i) * taps.weight[static_cast<size_t>(i)];
    return sum;
  };
  return combine(rows, [&](int r) {
    const float* row = image + rows.index[static_cast<size_t>(r)] * width;
    return combine(columns, [&](int c) { return row[columns.index[static_cast<size_t>(c)]]; });
  });
}

Result<std::array<ResizeAxis, 2>> ReadResizeAxes(const KernelCall& call, const ResizeArgs& args,
                                                 std::span<const int64_t> image) {
  IROPT_ASSIGN_OR_RETURN(const Shape size, call.ShapeArg(1));
  if (size.size() != 2) return call.Fail("the size must have two numbers");
  const std::vector<double> roi = call.attrs<Resize2DAttrs>().roi();
  std::array<ResizeAxis, 2> axes;
  for (size_t i = 0; i < 2; ++i) {
    axes[i].in = image[2 + i];
    axes[i].out = size[i];
    const bool too_long = axes[i].in > kMaxLength || axes[i].out > kMaxLength;
    if (axes[i].out < 0 || too_long || (axes[i].in == 0 && axes[i].out != 0))
      return call.Fail("the image cannot be resized");
    if (args.mode != "tf_crop_and_resize") continue;
    if (roi.size() != 4) return call.Fail("the region of interest must have four numbers");
    axes[i].begin = static_cast<float>(roi[i]);
    axes[i].end = static_cast<float>(roi[i + 2]);
  }
  return axes;
}

}  // namespace

Result<HostValue> EvalResize2d(KernelCall& call) {
  const auto attrs = call.attrs<Resize2DAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const ResizeArgs args, ReadResizeArgs(call));
  const std::string_view layout = attrs.layout();
  if (x->dtype().is_bool()) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor ordered, FromLayout(call, x, layout, "NCHW"));
  IROPT_ASSIGN_OR_RETURN(const Tensor image, CastTensor(call, ordered, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const auto axes, ReadResizeAxes(call, args, image->shape()));
  const Shape shape{image->shape()[0], image->shape()[1], axes[0].out, axes[1].out};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Float(32), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * 16));
  IROPT_ASSIGN_OR_RETURN(const std::vector<Taps> rows, TapsOfAxis(call, args, axes[0]));
  IROPT_ASSIGN_OR_RETURN(const std::vector<Taps> columns, TapsOfAxis(call, args, axes[1]));
  float* place = out->MutableAs<float>().data();
  const float* plane = image->As<float>().data();
  const int64_t planes = out->num_elements() == 0 ? 0 : shape[0] * shape[1];
  for (int64_t p = 0; p < planes; ++p, plane += axes[0].in * axes[1].in) {
    for (const Taps& row : rows) {
      for (const Taps& column : columns)
        *place++ = row.outside || column.outside ? args.extrapolation : Mix(plane, axes[1].in, row, column);
    }
  }
  IROPT_ASSIGN_OR_RETURN(const Tensor cast, CastTensor(call, out, DTypeOr(attrs.out_dtype(), x->dtype())));
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, cast, "NCHW", layout));
  return HostValue(std::move(result));
}

}  // namespace iropt::eval
