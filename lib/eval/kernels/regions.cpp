// Pooling over regions of an image. Each region is the number of an image and two corners.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "iropt/op/ops/vision.h"
#include "kernel.h"
#include "numeric.h"
#include "rearrange.h"

namespace iropt::eval {

namespace {

// The operands in float32, the data in NCHW.
struct Regions {
  Tensor data;
  Tensor rois;
  Shape image;
  int64_t number = 0;
  int64_t height = 0;  // of the results
  int64_t width = 0;

  const float* roi(int64_t i) const { return rois->As<float>().data() + i * 5; }
  const float* plane(int64_t batch, int64_t channel) const {
    return data->As<float>().data() + (batch * image[1] + channel) * image[2] * image[3];
  }
};

Result<Regions> ReadRegions(KernelCall& call, std::string_view layout, const IntList& size) {
  Regions r;
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor rois, call.TensorArg(1));
  if (!x->dtype().is_floating() || !rois->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor ordered, FromLayout(call, x, layout, "NCHW"));
  IROPT_ASSIGN_OR_RETURN(r.data, CastTensor(call, ordered, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(r.rois, CastTensor(call, rois, DataType::Float(32)));
  r.image = ShapeOf(*ordered);
  if (rois->shape().size() != 2 || rois->shape()[1] != 5 || size.size() != 2 || size[0] < 0 || size[1] < 0)
    return call.Fail("the regions do not have five numbers, or the size not two");
  r.number = rois->shape()[0];
  r.height = size[0];
  r.width = size[1];
  for (int64_t i = 0; i < r.number; ++i) {
    const float* roi = r.roi(i);
    const bool finite = std::all_of(roi, roi + 5, [](float v) { return std::fabs(v) < 1e9f; });
    if (!finite || roi[0] < 0 || roi[0] >= static_cast<float>(r.image[0])) return call.Fail("a region is out of range");
  }
  return r;
}

// A result for each region, channel and place; `pool(region, plane, h, w)` computes it.
template <class F>
Result<HostValue> PoolRegions(KernelCall& call, const Regions& r, std::string_view layout, DataType dtype, F&& pool) {
  const Shape shape{r.number, r.image[1], r.height, r.width};
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Float(32), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements()) * 16));
  float* place = out->MutableAs<float>().data();
  Status status;
  ForEachIndex(shape, [&](const Shape& at) {
    const float* roi = r.roi(at[0]);
    const Result<float> value = pool(roi, r.plane(static_cast<int64_t>(roi[0]), at[1]), at[2], at[3]);
    if (value) {
      *place++ = *value;
    } else if (status) {
      status = value.error();
    }
  });
  IROPT_RETURN_IF_ERROR(std::move(status));
  IROPT_ASSIGN_OR_RETURN(const Tensor cast, CastTensor(call, out, dtype));
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, cast, "NCHW", layout));
  return HostValue(std::move(result));
}

// The value of the image between four elements; 0 outside of it.
float Bilinear(const Regions& r, const float* plane, float y, float x) {
  const auto height = static_cast<float>(r.image[2]);
  const auto width = static_cast<float>(r.image[3]);
  if (y < -1 || x < -1 || y > height || x > width) return 0;
  y = std::min(std::max(y, 0.0f), height - 1);
  x = std::min(std::max(x, 0.0f), width - 1);
  const auto y0 = static_cast<int64_t>(std::floor(y));
  const auto x0 = static_cast<int64_t>(std::floor(x));
  const int64_t y1 = std::min(y0 + 1, r.image[2] - 1);
  const int64_t x1 = std::min(x0 + 1, r.image[3] - 1);
  const float v = y - static_cast<float>(y0);
  const float u = x - static_cast<float>(x0);
  const auto at = [&](int64_t h, int64_t w) { return plane[h * r.image[3] + w]; };
  return at(y0, x0) * (1 - v) * (1 - u) + at(y0, x1) * (1 - v) * u + at(y1, x0) * v * (1 - u) + at(y1, x1) * v * u;
}

// One side of a region: its start, the length of a bin, and the number of samples in each.
struct Side {
  float start;
  float bin;
  int64_t samples;
};

Side SideOf(float begin, float end, double scale, bool aligned, int64_t bins, int64_t ratio) {
  const auto factor = static_cast<float>(scale);
  const float start = begin * factor;
  const float whole = end * factor - start;
  const float length = aligned ? whole : std::max(whole, 1.0f);
  const float bin = length / static_cast<float>(bins);
  return {start, bin, ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(bin))};
}

}  // namespace

Result<HostValue> EvalRoiAlign(KernelCall& call) {
  const auto attrs = call.attrs<ROIAlignAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Regions r, ReadRegions(call, attrs.layout(), attrs.pooled_size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const bool average = attrs.mode() == "avg";
  if (!average && attrs.mode() != "max") return call.Fail(fmt::format("the mode '{}' is not supported", attrs.mode()));
  const auto pool = [&](const float* roi, const float* plane, int64_t h, int64_t w) -> Result<float> {
    const auto side = [&](size_t i, int64_t bins) {
      return SideOf(roi[i], roi[i + 2], attrs.spatial_scale(), attrs.aligned(), bins, attrs.sample_ratio());
    };
    const Side rows = side(2, r.height);
    const Side columns = side(1, r.width);
    int64_t count = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(rows.samples, 0), std::max<int64_t>(columns.samples, 0), &count))
      return call.Fail("the number of samples is out of range");
    IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(count)));
    const auto place = [](const Side& s, int64_t bin, int64_t i) {
      return s.start + static_cast<float>(bin) * s.bin +
             (static_cast<float>(i) + 0.5f) * s.bin / static_cast<float>(s.samples);
    };
    float result = average ? 0 : std::numeric_limits<float>::lowest();
    // A region of no height may be as wide as floats are.
    if (count == 0) return result;
    for (int64_t i = 0; i < rows.samples; ++i) {
      for (int64_t j = 0; j < columns.samples; ++j) {
        const float value = Bilinear(r, plane, place(rows, h, i), place(columns, w, j));
        result = average ? result + value / static_cast<float>(count) : std::max(result, value);
      }
    }
    return result;
  };
  return PoolRegions(call, r, attrs.layout(), x->dtype(), pool);
}

// The greatest element of each bin, whose ends are rounded to elements of the image; 0 for an empty one.
Result<HostValue> EvalRoiPool(KernelCall& call) {
  const auto attrs = call.attrs<ROIPoolAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Regions r, ReadRegions(call, attrs.layout(), attrs.pooled_size()));
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const auto scale = static_cast<float>(attrs.spatial_scale());
  const auto bounds = [&](float begin, float end, int64_t bins, int64_t bin, int64_t length) {
    const auto first = static_cast<int64_t>(std::floor(begin * scale + 0.5f));
    const auto last = static_cast<int64_t>(std::floor(end * scale + 0.5f));
    const float size = static_cast<float>(std::max<int64_t>(last - first + 1, 1)) / static_cast<float>(bins);
    const auto from = static_cast<int64_t>(std::floor(static_cast<float>(bin) * size)) + first;
    const auto to = static_cast<int64_t>(std::ceil(static_cast<float>(bin + 1) * size)) + first;
    return std::pair(std::clamp<int64_t>(from, 0, length), std::clamp<int64_t>(to, 0, length));
  };
  const auto pool = [&](const float* roi, const float* plane, int64_t h, int64_t w) -> Result<float> {
    const auto [top, bottom] = bounds(roi[2], roi[4], r.height, h, r.image[2]);
    const auto [left, right] = bounds(roi[1], roi[3], r.width, w, r.image[3]);
    if (bottom <= top || right <= left) return 0.0f;
    IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>((bottom - top) * (right - left))));
    float result = -std::numeric_limits<float>::infinity();
    for (int64_t i = top; i < bottom; ++i) {
      for (int64_t j = left; j < right; ++j) result = std::max(result, plane[i * r.image[3] + j]);
    }
    return result;
  };
  return PoolRegions(call, r, attrs.layout(), x->dtype(), pool);
}

}  // namespace iropt::eval
