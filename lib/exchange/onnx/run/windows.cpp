// Norms and sums over windows of images, windows that are moved, and regions of images.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "exchange/onnx/run/kernels.h"
#include "exchange/onnx/run/numbers.h"

namespace iropt::onnx {

namespace {

using Index = std::vector<int64_t>;

// Goes to the next index of a shape; false after the last one.
bool Next(Index& index, std::span<const int64_t> shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

// WindowPlan over the dimensions of an image.
struct WindowPlan {
  Index image, kernel, strides, dilations, before, after;

  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  // The element at a place of a window. Nullopt in the padding.
  std::optional<int64_t> At(const Index& window, const Index& tap) const {
    int64_t at = 0;
    for (size_t i = 0; i < image.size(); ++i) {
      const int64_t place = window[i] * strides[i] - before[i] + tap[i] * dilations[i];
      if (place < 0 || place >= image[i]) return std::nullopt;
      at = at * image[i] + place;
    }
    return at;
  }
  // The number of windows along each dimension.
  Index Counts(bool rounds_up) const {
    Index counts;
    for (size_t i = 0; i < image.size(); ++i) {
      const int64_t room = image[i] + before[i] + after[i] - extent(i);
      int64_t count = room < 0 ? 0 : (room + (rounds_up ? strides[i] - 1 : 0)) / strides[i] + 1;
      // No window begins in the padding after the data.
      if (rounds_up && (count - 1) * strides[i] >= image[i] + before[i]) --count;
      counts.push_back(count);
    }
    return counts;
  }
};

Result<WindowPlan> WindowsOf(const OnnxCall& call, std::span<const int64_t> image, Index kernel) {
  const size_t rank = image.size();
  WindowPlan windows{.image = {image.begin(), image.end()},
                     .kernel = std::move(kernel),
                     .strides = call.Ints("strides"),
                     .dilations = call.Ints("dilations"),
                     .before = call.Ints("pads"),
                     .after = {}};
  if (windows.strides.empty()) windows.strides.assign(rank, 1);
  if (windows.dilations.empty()) windows.dilations.assign(rank, 1);
  if (windows.before.empty()) windows.before.assign(2 * rank, 0);
  const bool fits = rank > 0 && windows.kernel.size() == rank && windows.strides.size() == rank &&
                    windows.dilations.size() == rank && windows.before.size() == 2 * rank &&
                    std::ranges::all_of(windows.kernel, [](int64_t k) { return k > 0; }) &&
                    std::ranges::all_of(windows.strides, [](int64_t k) { return k > 0; }) &&
                    std::ranges::all_of(windows.dilations, [](int64_t k) { return k > 0; });
  if (!fits) return call.Fail("the windows do not fit the image");
  windows.after.assign(windows.before.begin() + static_cast<std::ptrdiff_t>(rank), windows.before.end());
  windows.before.resize(rank);
  const std::string_view mode = call.String("auto_pad", "NOTSET");
  for (size_t i = 0; mode != "NOTSET" && !mode.empty() && i < rank; ++i) {
    const int64_t count = (image[i] + windows.strides[i] - 1) / windows.strides[i];
    const int64_t all = (count - 1) * windows.strides[i] + windows.extent(i) - image[i];
    const int64_t pads = mode == "VALID" ? 0 : std::max<int64_t>(0, all);
    windows.before[i] = (pads + (mode == "SAME_LOWER" ? 1 : 0)) / 2;
    windows.after[i] = pads - windows.before[i];
  }
  return windows;
}

// ---- Norms

Result<HostValue> RunLpPool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 3) return call.Fail("the input must have channels");
  IROPT_ASSIGN_OR_RETURN(const WindowPlan windows, WindowsOf(call, shape.subspan(2), call.Ints("kernel_shape")));
  const auto power = static_cast<double>(call.Int("p", 2));
  const Index counts = windows.Counts(call.Int("ceil_mode") != 0);
  const int64_t inner = Product(windows.image);
  Index result = {shape[0], shape[1]};
  result.insert(result.end(), counts.begin(), counts.end());
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  std::vector<double> y;
  for (int64_t image = 0; Product(counts) > 0 && image < shape[0] * shape[1]; ++image) {
    Index window(counts.size());
    do {
      double sum = 0;
      Index tap(counts.size());
      do {
        if (const auto at = windows.At(window, tap))
          sum += std::pow(std::abs(x[static_cast<size_t>(image * inner + *at)]), power);
      } while (Next(tap, windows.kernel));
      y.push_back(std::pow(sum, 1 / power));
    } while (Next(window, counts));
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

Result<HostValue> RunGlobalLpPool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  const std::span<const int64_t> shape = call.Shape(0);
  if (shape.size() < 2) return call.Fail("the input must have channels");
  const auto power = static_cast<double>(call.Int("p", 2));
  const int64_t inner = Product(shape.subspan(2));
  std::vector<double> y(static_cast<size_t>(shape[0] * shape[1]));
  for (size_t i = 0; i < x.size(); ++i) y[i / static_cast<size_t>(inner)] += std::pow(std::abs(x[i]), power);
  for (double& sum : y) sum = std::pow(sum, 1 / power);
  Index result(shape.size(), 1);
  std::copy_n(shape.begin(), 2, result.begin());
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

// ---- WindowPlan that become an image

// [batch, channels * elements of a window, windows]
Result<HostValue> RunCol2Im(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const Index image, call.IntsIn(1));
  IROPT_ASSIGN_OR_RETURN(const Index block, call.IntsIn(2));
  const std::span<const int64_t> shape = call.Shape(0);
  IROPT_ASSIGN_OR_RETURN(const WindowPlan windows, WindowsOf(call, image, block));
  const int64_t taps = Product(block);
  const Index counts = windows.Counts(false);
  if (shape.size() != 3 || shape[1] % taps != 0 || shape[2] != Product(counts))
    return call.Fail("the data does not fit the windows");
  const int64_t channels = shape[1] / taps;
  Index result = {shape[0], channels};
  result.insert(result.end(), image.begin(), image.end());
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  const int64_t inner = Product(image);
  std::vector<double> y(static_cast<size_t>(Product(result)));
  for (int64_t row = 0; row < shape[0] * shape[1] && shape[2] > 0; ++row) {
    Index tap;
    for (size_t i = block.size(), rest = static_cast<size_t>(row % taps); i-- > 0;) {
      tap.insert(tap.begin(), static_cast<int64_t>(rest) % block[i]);
      rest /= static_cast<size_t>(block[i]);
    }
    Index window(counts.size());
    int64_t column = 0;
    do {
      if (const auto at = windows.At(window, tap))
        y[static_cast<size_t>(row / taps * inner + *at)] += x[static_cast<size_t>(row * shape[2] + column)];
      ++column;
    } while (Next(window, counts));
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

// ---- WindowPlan whose elements are moved

// An image of one channel between its pixels; zero outside.
double Sample(const double* image, int64_t height, int64_t width, double y, double x) {
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0;
  for (unsigned corner = 0; corner < 4; ++corner) {
    const double row = top + (corner >> 1U);
    const double column = left + (corner & 1U);
    if (row < 0 || column < 0 || row >= static_cast<double>(height) || column >= static_cast<double>(width)) continue;
    const double weight = (1 - std::abs(y - row)) * (1 - std::abs(x - column));
    sum += weight * image[static_cast<int64_t>(row) * width + static_cast<int64_t>(column)];
  }
  return sum;
}

// Data, kernel, offsets, bias, mask
Result<HostValue> RunDeformConv(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> weight, call.NumbersIn(1));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> offset, call.NumbersIn(2));
  const std::span<const int64_t> shape = call.Shape(0);
  const std::span<const int64_t> kernel = call.Shape(1);
  if (shape.size() != 4 || kernel.size() != 4) return call.Fail("the images need two dimensions");
  IROPT_ASSIGN_OR_RETURN(const WindowPlan windows,
                         WindowsOf(call, shape.subspan(2), {kernel.begin() + 2, kernel.end()}));
  const int64_t groups = call.Int("group", 1);
  const int64_t offset_groups = call.Int("offset_group", 1);
  const Index counts = windows.Counts(false);
  const int64_t places = Product(counts);
  const int64_t taps = kernel[2] * kernel[3];
  std::vector<double> bias(static_cast<size_t>(kernel[0]));
  std::vector<double> mask(static_cast<size_t>(shape[0] * std::max<int64_t>(1, offset_groups) * taps * places), 1);
  const size_t masks = mask.size();
  if (call.Has(3)) {
    IROPT_ASSIGN_OR_RETURN(bias, call.NumbersIn(3));
  }
  if (call.Has(4)) {
    IROPT_ASSIGN_OR_RETURN(mask, call.NumbersIn(4));
  }
  const bool fits = groups > 0 && offset_groups > 0 && shape[1] == kernel[1] * groups && kernel[0] % groups == 0 &&
                    shape[1] % offset_groups == 0 && offset.size() == 2 * masks && mask.size() == masks &&
                    static_cast<int64_t>(bias.size()) == kernel[0];
  if (!fits) return call.Fail("the offsets do not fit the images");
  const Index result = {shape[0], kernel[0], counts[0], counts[1]};
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  std::vector<double> y;
  for (int64_t row = 0; row < shape[0] * kernel[0]; ++row) {
    const int64_t filter = row % kernel[0];
    for (int64_t place = 0; place < places; ++place) {
      double sum = bias[static_cast<size_t>(filter)];
      for (int64_t i = 0; i < kernel[1] * taps; ++i) {
        const int64_t channel = filter / (kernel[0] / groups) * kernel[1] + i / taps;
        const int64_t tap = i % taps;
        const int64_t set = (row / kernel[0] * offset_groups + channel / (shape[1] / offset_groups)) * taps + tap;
        const auto base = [&](size_t axis, int64_t window, int64_t step) {
          return static_cast<double>(window * windows.strides[axis] - windows.before[axis] +
                                     step * windows.dilations[axis]);
        };
        const double top =
            base(0, place / counts[1], tap / kernel[3]) + offset[static_cast<size_t>(2 * set * places + place)];
        const double left =
            base(1, place % counts[1], tap % kernel[3]) + offset[static_cast<size_t>((2 * set + 1) * places + place)];
        const double* image = x.data() + (row / kernel[0] * shape[1] + channel) * shape[2] * shape[3];
        sum += weight[static_cast<size_t>(filter * kernel[1] * taps + i)] *
               mask[static_cast<size_t>(set * places + place)] * Sample(image, shape[2], shape[3], top, left);
      }
      y.push_back(sum);
    }
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

// ---- Regions

// The pixels from `first` on that the part of a region covers.
std::pair<int64_t, int64_t> PixelsOf(int64_t first, int64_t last, int64_t part, int64_t parts, int64_t size) {
  const double length = static_cast<double>(std::max<int64_t>(last - first + 1, 1)) / static_cast<double>(parts);
  const auto begin = static_cast<int64_t>(std::floor(static_cast<double>(part) * length)) + first;
  const auto end = static_cast<int64_t>(std::ceil(static_cast<double>(part + 1) * length)) + first;
  return {std::clamp<int64_t>(begin, 0, size), std::clamp<int64_t>(end, 0, size)};
}

Result<HostValue> RunMaxRoiPool(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> x, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> rois, call.NumbersIn(1));
  const std::span<const int64_t> shape = call.Shape(0);
  const std::span<const int64_t> roi_shape = call.Shape(1);
  const Index pooled = call.Ints("pooled_shape");
  if (shape.size() != 4 || roi_shape.size() != 2 || roi_shape[1] != 5 || pooled.size() != 2 || pooled[0] < 1 ||
      pooled[1] < 1)
    return call.Fail("the regions do not fit the images");
  const Index result = {roi_shape[0], shape[1], pooled[0], pooled[1]};
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  const double scale = call.Float("spatial_scale", 1);
  std::vector<double> y;
  Index index(4);
  while (Product(result) > 0) {
    const double* roi = rois.data() + index[0] * 5;
    const auto batch = static_cast<int64_t>(roi[0]);
    if (batch < 0 || batch >= shape[0]) return call.Fail("a region is of an image that is not there");
    const auto at = [&](int i) { return static_cast<int64_t>(std::round(roi[i] * scale)); };
    const auto [top, bottom] = PixelsOf(at(2), at(4), index[2], pooled[0], shape[2]);
    const auto [left, right] = PixelsOf(at(1), at(3), index[3], pooled[1], shape[3]);
    const double* image = x.data() + (batch * shape[1] + index[1]) * shape[2] * shape[3];
    const bool is_empty = bottom <= top || right <= left;
    double greatest = is_empty ? 0 : -std::numeric_limits<double>::infinity();
    for (int64_t row = top; row < bottom; ++row) {
      for (int64_t column = left; column < right; ++column)
        greatest = std::max(greatest, image[row * shape[3] + column]);
    }
    y.push_back(greatest);
    if (!Next(index, result)) break;
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

// Data and a shape, of some axes: the middle of the data, or the data in the middle of zeros.
Result<HostValue> RunCenterCropPad(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorIn(0));
  IROPT_ASSIGN_OR_RETURN(const Index sizes, call.IntsIn(1));
  const std::span<const int64_t> shape = x->shape();
  const auto rank = static_cast<int64_t>(shape.size());
  Index axes = call.Ints("axes");
  for (int64_t i = 0; call.FindAttr("axes") == nullptr && i < rank; ++i) axes.push_back(i);
  if (axes.size() != sizes.size()) return call.Fail("there is not a size for each axis");
  Index result(shape.begin(), shape.end());
  Index shift(shape.size());  // from the result to the data
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || sizes[i] < 0) return call.Fail("an axis or a size is out of range");
    const auto at = static_cast<size_t>(axis);
    result[at] = sizes[i];
    shift[at] = sizes[i] < shape[at] ? (shape[at] - sizes[i]) / 2 : -((sizes[i] - shape[at]) / 2);
  }
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  auto y = NDArray::Make(x->dtype(), result);
  std::memset(y->mutable_data(), 0, y->num_bytes());
  const auto size = static_cast<size_t>(x->dtype().bytes());
  Index index(result.size());
  for (size_t i = 0; i < y->num_bytes(); i += size) {
    int64_t from = 0;
    bool is_inside = true;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      const int64_t place = index[axis] + shift[axis];
      is_inside = is_inside && place >= 0 && place < shape[axis];
      from = from * shape[axis] + place;
    }
    if (is_inside) std::memcpy(y->mutable_data() + i, x->data() + static_cast<size_t>(from) * size, size);
    Next(index, result);
  }
  return HostValue(Tensor(std::move(y)));
}

// ---- Grids

// Matrices of [2, 3] or [3, 4], and the size of the images: where each pixel comes from.
Result<HostValue> RunAffineGrid(OnnxCall& call) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<double> theta, call.NumbersIn(0));
  IROPT_ASSIGN_OR_RETURN(const Index size, call.IntsIn(1));
  const std::span<const int64_t> shape = call.Shape(0);
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  if (spatial < 2 || spatial > 3 || shape.size() != 3 || shape[0] != size[0] || shape[1] != spatial ||
      shape[2] != spatial + 1)
    return call.Fail("the matrices do not fit the size");
  const bool by_corners = call.Int("align_corners") != 0;
  Index result = {size[0]};
  result.insert(result.end(), size.begin() + 2, size.end());
  const Index image(size.begin() + 2, size.end());
  result.push_back(spatial);
  IROPT_RETURN_IF_ERROR(call.CheckShape(result));
  std::vector<double> y;
  for (int64_t batch = 0; Product(image) > 0 && batch < size[0]; ++batch) {
    Index index(image.size());
    do {
      for (int64_t row = 0; row < spatial; ++row) {
        const double* factors = theta.data() + (batch * spatial + row) * (spatial + 1);
        double sum = factors[spatial];
        for (int64_t i = 0; i < spatial; ++i) {  // x first, which is the last dimension
          const auto axis = static_cast<size_t>(spatial - 1 - i);
          const auto place = static_cast<double>(index[axis]);
          const auto length = static_cast<double>(image[axis]);
          const double corner = length > 1 ? 2 * place / (length - 1) - 1 : -1;
          sum += factors[i] * (by_corners ? corner : (2 * place + 1) / length - 1);
        }
        y.push_back(sum);
      }
    } while (Next(index, image));
  }
  return HostValue(FromNumbers(call.Dtype(0), result, y));
}

constexpr KernelRow kWindowKernels[] = {
    {"AffineGrid", "01", RunAffineGrid},  {"CenterCropPad", "01", RunCenterCropPad}, {"Col2Im", "012", RunCol2Im},
    {"DeformConv", "012", RunDeformConv}, {"GlobalLpPool", "0", RunGlobalLpPool},    {"LpPool", "0", RunLpPool},
    {"MaxRoiPool", "01", RunMaxRoiPool},
};

}  // namespace

std::span<const KernelRow> WindowKernels() { return kWindowKernels; }

}  // namespace iropt::onnx
