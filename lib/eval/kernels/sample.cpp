// Sampling of images at points that are given as data. Coordinates and weights are computed in float32, as generated
// code does, and in float64 where a tensor is of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "iropt/op/ops/image.h"
#include "kernel.h"
#include "numeric.h"
#include "rearrange.h"

namespace iropt::eval {

// The points of an image, transformed by the matrix of each batch: the last spatial axis is the first coordinate.
Result<HostValue> EvalAffineGrid(KernelCall& call) {
  const bool corners = call.attrs<AffineGridAttrs>().align_corners();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Shape size, call.ShapeArg(1));
  const size_t rank = size.size();
  const auto ndim = static_cast<int64_t>(rank);
  if (!x->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  if (x->shape().size() != 3 || x->shape()[1] != ndim || x->shape()[2] != ndim + 1 || rank < 2 || rank > 3)
    return call.Fail("the matrices do not fit the size");
  std::vector<float> starts;
  std::vector<float> steps;
  for (const int64_t length : size) {
    if (length < (corners ? 2 : 1)) return call.Fail("a length is too small");
    const auto n = static_cast<double>(length);
    starts.push_back(static_cast<float>(corners ? -1.0 : -1.0 + 1.0 / n));
    steps.push_back(static_cast<float>(corners ? (2.0 - 1e-7) / (n - 1) : 2.0 / n));
  }
  IROPT_ASSIGN_OR_RETURN(const Tensor matrices, CastTensor(call, x, DataType::Float(32)));
  Shape shape{x->shape()[0], ndim};
  shape.insert(shape.end(), size.begin(), size.end());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Float(32), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * 4));
  const float* data = matrices->As<float>().data();
  float* place = out->MutableAs<float>().data();
  ForEachIndex(shape, [&](const Shape& index) {
    const float* row = data + (index[0] * ndim + index[1]) * (ndim + 1);
    float value = row[rank];
    for (size_t r = 0; r < rank; ++r)
      value += row[rank - 1 - r] * (starts[r] + static_cast<float>(index[2 + r]) * steps[r]);
    *place++ = value;
  });
  IROPT_ASSIGN_OR_RETURN(Tensor result, CastTensor(call, out, x->dtype()));
  return HostValue(std::move(result));
}

namespace {

constexpr size_t kMaxAxes = 3;

enum class Padding : uint8_t { kZeros, kBorder, kReflection };
enum class Sampling : uint8_t { kNearest, kLinear, kCubic };

struct SampleArgs {
  Sampling sampling = Sampling::kLinear;
  Padding padding = Padding::kZeros;
  bool corners = false;
};

Result<SampleArgs> ReadSampleArgs(const KernelCall& call, size_t rank) {
  const auto attrs = call.attrs<GridSampleAttrs>();
  SampleArgs args;
  args.corners = attrs.align_corners();
  if (attrs.method() == "nearest") {
    args.sampling = Sampling::kNearest;
  } else if (attrs.method() == "bicubic" && rank == 2) {
    args.sampling = Sampling::kCubic;
  } else if (attrs.method() != "bilinear") {
    return call.Fail(fmt::format("the method '{}' is not supported", attrs.method()));
  }
  if (attrs.padding_mode() == "border") {
    args.padding = Padding::kBorder;
  } else if (attrs.padding_mode() == "reflection") {
    args.padding = Padding::kReflection;
  } else if (attrs.padding_mode() != "zeros") {
    return call.Fail(fmt::format("the padding mode '{}' is not supported", attrs.padding_mode()));
  }
  return args;
}

// Reflects a coordinate at both ends of [begin, begin + size].
template <class F>
F Reflect(F x, F begin, F size) {
  if ((x >= begin && x <= begin + size) || size == 0) return x;
  const F distance = std::fabs(begin - x);
  const auto times = static_cast<int64_t>(distance) / std::max<int64_t>(static_cast<int64_t>(size), 1);
  const F extra = distance - static_cast<F>(times) * size;
  return times % 2 == 0 ? extra + begin : size - extra + begin;
}

template <class F>
F Pad(const SampleArgs& args, F x, int64_t length) {
  if (args.padding == Padding::kZeros) return x;
  const auto last = static_cast<F>(length - 1);
  if (args.padding == Padding::kReflection)
    x = Reflect(x, static_cast<F>(args.corners ? 0 : -0.5), args.corners ? last : static_cast<F>(length));
  return std::clamp(x, F{0}, std::max(last, F{0}));
}

// The elements of an axis, with weights, that make one of the result; -1 is outside.
template <class F>
struct SampleTaps {
  int count = 0;
  std::array<int64_t, 4> index{};
  std::array<F, 4> weight{};
};

template <class F>
std::array<F, 4> CubicSampleWeights(F t) {
  constexpr F kA = -0.75;
  const auto near = [](F x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](F x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

template <class F>
SampleTaps<F> TapsAt(const SampleArgs& args, F normalized, int64_t length) {
  const auto n = static_cast<F>(length);
  // Integers can hold what is not farther away. NaN is as far.
  constexpr F kBound = 1e9;
  const F given = args.corners ? (normalized + 1) * (n - 1) / 2 : F{-0.5} + (normalized + 1) * n / 2;
  const F x = std::min(given > -kBound ? given : -kBound, kBound);
  SampleTaps<F> taps;
  const auto keep = [&](size_t i, F at) {
    const bool inside = at >= 0 && at < n;
    taps.index[i] = inside ? static_cast<int64_t>(at) : -1;
  };
  if (args.sampling == Sampling::kCubic) {
    taps.count = 4;
    const F whole = std::floor(x);
    taps.weight = CubicSampleWeights<F>(x - whole);
    for (size_t i = 0; i < 4; ++i) keep(i, std::trunc(Pad<F>(args, whole - 1 + static_cast<F>(i), length)));
    return taps;
  }
  const F padded = Pad(args, x, length);
  if (args.sampling == Sampling::kNearest) {
    taps.count = 1;
    taps.weight[0] = 1;
    keep(0, std::nearbyint(padded));
    return taps;
  }
  taps.count = 2;
  const F whole = std::floor(padded);
  taps.weight = {1 - (padded - whole), padded - whole, 0, 0};
  for (size_t i = 0; i < 2; ++i) keep(i, whole + static_cast<F>(i));
  return taps;
}

// The weighted sum over the taps of all axes; `at` is the offset on the axes before.
template <class F>
F SumTaps(const F* plane, std::span<const int64_t> lengths, std::span<const SampleTaps<F>> taps, int64_t at = 0) {
  if (lengths.empty()) return plane[at];
  F sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(taps[0].count); ++i) {
    const int64_t index = taps[0].index[i];
    if (index < 0) continue;
    sum += taps[0].weight[i] * SumTaps(plane, lengths.subspan(1), taps.subspan(1), at * lengths[0] + index);
  }
  return sum;
}

// The number of elements of a part of a shape, the whole of which is in memory.
int64_t NumElements(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies());
}

template <class F>
void SampleAt(const SampleArgs& args, const NDArray& data, const NDArray& places, NDArray& out) {
  const std::span<const int64_t> image = data.shape();
  const std::span<const int64_t> points = places.shape();
  const std::span lengths = image.subspan(2);
  const size_t rank = lengths.size();
  const int64_t plane = NumElements(lengths);
  const int64_t count = NumElements(points.subspan(2));
  const F* coordinates = places.As<F>().data();
  F* result = out.MutableAs<F>().data();
  for (int64_t b = 0; b < image[0]; ++b) {
    for (int64_t p = 0; p < count; ++p) {
      std::array<SampleTaps<F>, kMaxAxes> taps;
      for (size_t axis = 0; axis < rank; ++axis) {
        const auto channel = static_cast<int64_t>(rank - 1 - axis);
        taps[axis] = TapsAt(args, coordinates[(b * points[1] + channel) * count + p], lengths[axis]);
      }
      for (int64_t c = 0; c < image[1]; ++c) {
        const int64_t at = b * image[1] + c;
        const std::span<const SampleTaps<F>> all(taps);
        result[at * count + p] = SumTaps(data.As<F>().data() + at * plane, lengths, all.first(rank));
      }
    }
  }
}

}  // namespace

// Channel i of the grid has the coordinates on the last axis but i, from -1 to 1.
Result<HostValue> EvalGridSample(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor grid, call.TensorArg(1));
  const std::string_view layout = call.attrs<GridSampleAttrs>().layout();
  if (layout != "NCHW" && layout != "NCDHW") return call.Fail(fmt::format("the layout '{}' is not supported", layout));
  const size_t rank = layout.size() - 2;
  IROPT_ASSIGN_OR_RETURN(const SampleArgs args, ReadSampleArgs(call, rank));
  const Shape points = ShapeOf(*grid);
  const Shape image = ShapeOf(*x);
  if (!x->dtype().is_floating() || !grid->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  if (points.size() != rank + 2 || image.size() != rank + 2 || points[1] != static_cast<int64_t>(rank) ||
      points[0] != image[0])
    return call.Fail("the grid does not fit the data");
  const bool is_wide = x->dtype().bits == 64 || grid->dtype().bits == 64;
  const DataType dtype = DataType::Float(is_wide ? 64 : 32);
  IROPT_ASSIGN_OR_RETURN(const Tensor data, CastTensor(call, x, dtype));
  IROPT_ASSIGN_OR_RETURN(const Tensor places, CastTensor(call, grid, dtype));
  Shape shape{image[0], image[1]};
  shape.insert(shape.end(), points.begin() + 2, points.end());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * 16));
  if (is_wide)
    SampleAt<double>(args, *data, *places, *out);
  else
    SampleAt<float>(args, *data, *places, *out);
  IROPT_ASSIGN_OR_RETURN(Tensor cast, CastTensor(call, out, x->dtype()));
  return HostValue(std::move(cast));
}

}  // namespace iropt::eval
