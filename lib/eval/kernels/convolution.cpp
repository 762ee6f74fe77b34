// Convolutions and transposed convolutions over one to three spatial axes. Both are matrix products: a kernel with
// one row per output channel, and the image unrolled, with one column per window.
#include "iropt/op/ops/convolution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "loop_nest.h"
#include "matrix_product.h"
#include "rearrange.h"
#include "window.h"

namespace iropt::eval {

namespace {

constexpr size_t kAxes = 3;

// The accesses of a window on one axis: output `o` and kernel element `k` read the position (o * stride + k * dilation
// - before) / spread of the image, which is zero if the position is fractional or outside.
struct ConvAxis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;
  int64_t spread = 1;

  // -1 for zero.
  int64_t Position(int64_t o, int64_t k) const {
    const int64_t at = o * stride + k * dilation - before;
    if (at < 0 || at % spread != 0) return -1;
    return at / spread < in ? at / spread : -1;
  }
};

struct Conv {
  int64_t batch = 1;
  int64_t groups = 1;
  int64_t in_channels = 1;   // of a group
  int64_t out_channels = 1;  // of a group
  std::array<ConvAxis, kAxes> axes;

  int64_t windows() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t image() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t window_size() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  int64_t depth() const { return in_channels * window_size(); }
};

// The elements of one line of the image that kernel element `k` reads in `count` windows from window `o` on.
template <class T>
void UnrollLine(const ConvAxis& axis, const T* line, int64_t o, int64_t k, int64_t count, T* out) {
  if (axis.stride == 1 && axis.spread == 1) {
    // Neighbouring windows read neighbouring elements: a piece of the line, between zeros.
    const int64_t start = o + k * axis.dilation - axis.before;
    const int64_t begin = std::clamp<int64_t>(-start, 0, count);
    const int64_t end = std::clamp<int64_t>(axis.in - start, begin, count);
    std::fill(out, out + begin, ElementOf<T>(0));
    if (end > begin) std::copy(line + start + begin, line + start + end, out + begin);
    std::fill(out + end, out + count, ElementOf<T>(0));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = axis.Position(o + i, k);
    out[i] = at < 0 ? ElementOf<T>(0) : line[at];
  }
}

// One row of the unrolled image: the elements that kernel element (c, kd, kh, kw) reads in the windows from `first` on.
template <class T>
void UnrollRow(const Conv& conv, const T* channel, const std::array<int64_t, kAxes>& k, int64_t first, int64_t count,
               T* out) {
  const auto& [depth, height, width] = conv.axes;
  for (int64_t done = 0; done < count;) {
    const int64_t window = first + done;
    const int64_t row = window / width.out;
    const int64_t column = window % width.out;
    const int64_t run = std::min(width.out - column, count - done);
    const int64_t d = depth.Position(row / height.out, k[0]);
    const int64_t h = height.Position(row % height.out, k[1]);
    T* place = out + done;
    done += run;
    if (d < 0 || h < 0) {
      std::fill_n(place, run, ElementOf<T>(0));
      continue;
    }
    UnrollLine(width, channel + (d * height.in + h) * width.in, column, k[2], run, place);
  }
}

// The image of one group as a matrix with a row per kernel element, in the order of the kernel.
template <class T>
void Unroll(const Conv& conv, const T* image, int64_t first, int64_t count, T* out) {
  for (int64_t c = 0; c < conv.in_channels; ++c) {
    std::array<int64_t, kAxes> k{};
    for (k[0] = 0; k[0] < conv.axes[0].kernel; ++k[0])
      for (k[1] = 0; k[1] < conv.axes[1].kernel; ++k[1])
        for (k[2] = 0; k[2] < conv.axes[2].kernel; ++k[2], out += count)
          UnrollRow(conv, image + c * conv.image(), k, first, count, out);
  }
}

// The size in bytes of the pieces in which the image is unrolled; they stay in the cache until they are multiplied.
constexpr int64_t kPieceBytes = int64_t{1} << 20;

template <class T>
void RunConv(const Conv& conv, const T* data, const T* weight, T* out) {
  const int64_t windows = conv.windows();
  const int64_t bytes = std::max<int64_t>(conv.depth(), 1) * static_cast<int64_t>(sizeof(T));
  const int64_t piece = std::clamp<int64_t>(kPieceBytes / bytes, std::min<int64_t>(windows, 4), windows);
  std::vector<T> unrolled(static_cast<size_t>(conv.depth() * piece));
  for (int64_t g = 0; g < conv.batch * conv.groups; ++g) {
    const T* image = data + g * conv.in_channels * conv.image();
    const T* kernel = weight + g % conv.groups * conv.out_channels * conv.depth();
    for (int64_t first = 0; first < windows; first += piece) {
      const int64_t count = std::min(piece, windows - first);
      Unroll(conv, image, first, count, unrolled.data());
      Multiply(MatrixProduct<T>{.rows = conv.out_channels,
                                .depth = conv.depth(),
                                .columns = count,
                                .a = kernel,
                                .a_stride = conv.depth(),
                                .b = unrolled.data(),
                                .b_stride = count,
                                .c = out + g * conv.out_channels * windows + first,
                                .c_stride = windows});
    }
  }
}

// The operands of a convolution in the dtype of the result, with fixed axes.
struct ConvArgs {
  Tensor data;    // NC...
  Tensor weight;  // OI..., or IO... of a transposed convolution
  int64_t groups = 1;
  std::string_view out_layout;
};

// `attrs` are ConvAttrs or ConvTransposeAttrs.
template <class Attrs>
Result<ConvArgs> ReadConvArgs(KernelCall& call, size_t rank, std::string_view kernel_axes, const Attrs& attrs) {
  ConvArgs args;
  IROPT_ASSIGN_OR_RETURN(const Tensor data, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor weight, call.TensorArg(1));
  const DataType dtype = DTypeOr(attrs.out_dtype(), data->dtype());
  if (dtype.is_bool()) return call.UnsupportedDType(dtype);
  IROPT_ASSIGN_OR_RETURN(const Tensor cast_data, CastTensor(call, data, dtype));
  IROPT_ASSIGN_OR_RETURN(const Tensor cast_weight, CastTensor(call, weight, dtype));
  const std::string_view layout = attrs.data_layout();
  IROPT_ASSIGN_OR_RETURN(args.data, FromLayout(call, cast_data, layout, ImageAxes(rank)));
  IROPT_ASSIGN_OR_RETURN(args.weight, FromLayout(call, cast_weight, attrs.kernel_layout(), kernel_axes));
  args.groups = attrs.groups();
  const std::string_view out_layout = attrs.out_layout();
  args.out_layout = out_layout.empty() ? layout : out_layout;
  if (args.groups < 1 || args.data->shape()[1] % args.groups != 0)
    return call.Fail(fmt::format("{} channels do not divide into {} groups", args.data->shape()[1], args.groups));
  return args;
}

// Runs a convolution whose kernel has the axes OI..., where I counts within a group.
Result<HostValue> FinishConv(KernelCall& call, const Conv& conv, const ConvArgs& args, const Tensor& kernel,
                             size_t rank) {
  Shape shape{conv.batch, conv.groups * conv.out_channels};
  for (size_t i = kAxes - rank; i < kAxes; ++i) shape.push_back(conv.axes[i].out);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(args.data->dtype(), shape));
  uint64_t work;
  if (__builtin_mul_overflow(static_cast<uint64_t>(out->num_elements()),
                             static_cast<uint64_t>(std::max<int64_t>(conv.depth(), 1)), &work))
    work = UINT64_MAX;
  IROPT_RETURN_IF_ERROR(call.Charge(work));
  if (out->num_elements() != 0) {
    DispatchNumber(args.data->dtype(), [&]<class T>(std::type_identity<T>) {
      RunConv(conv, args.data->As<T>().data(), kernel->As<T>().data(), out->MutableAs<T>().data());
    });
  }
  IROPT_ASSIGN_OR_RETURN(Tensor result, ToLayout(call, out, ImageAxes(rank), args.out_layout));
  return HostValue(std::move(result));
}

Result<HostValue> EvalConv(KernelCall& call, size_t rank) {
  const auto attrs = call.attrs<ConvAttrs>();
  IROPT_ASSIGN_OR_RETURN(const ConvArgs args, ReadConvArgs(call, rank, KernelAxes(rank), attrs));
  const std::span<const int64_t> image = args.data->shape();
  const std::span<const int64_t> kernel = args.weight->shape();
  Conv conv{.batch = image[0], .groups = args.groups, .in_channels = kernel[1], .out_channels = 0, .axes = {}};
  if (kernel[1] * args.groups != image[1] || kernel[0] % args.groups != 0)
    return call.Fail(fmt::format("a kernel of shape {} does not fit {} channels in {} groups", ShapeText(kernel),
                                 image[1], args.groups));
  conv.out_channels = kernel[0] / args.groups;
  IROPT_ASSIGN_OR_RETURN(const SizedWindow window, SizedWindowOf(call, Shape(kernel.begin() + 2, kernel.end()), attrs));
  for (size_t i = 0; i < rank; ++i) {
    ConvAxis& axis = conv.axes[kAxes - rank + i];
    axis.in = image[2 + i];
    IROPT_ASSIGN_OR_RETURN(axis.out, CountWindows(call, window, i, axis.in, /*round_up=*/false));
    axis.kernel = window.size[i];
    axis.stride = window.strides[i];
    axis.dilation = window.dilation[i];
    axis.before = window.before[i];
  }
  return FinishConv(call, conv, args, args.weight, rank);
}

// Converts the kernel of a transposed convolution, (I, O/groups, ...), to that of the equivalent convolution: the
// channels are transposed within each group, and the window is reversed.
Result<Tensor> TurnKernel(KernelCall& call, const Tensor& weight, int64_t groups) {
  const std::span<const int64_t> old = weight->shape();
  Shape grouped{groups, old[0] / groups, old[1]};
  grouped.insert(grouped.end(), old.begin() + 2, old.end());
  Shape strides = RowMajorStrides(grouped);
  int64_t start = 0;
  for (size_t i = 3; i < grouped.size(); ++i) {
    start += std::max<int64_t>(grouped[i] - 1, 0) * strides[i];
    strides[i] = -strides[i];
  }
  std::swap(grouped[1], grouped[2]);
  std::swap(strides[1], strides[2]);
  Shape shape{groups * grouped[1], grouped[2]};
  shape.insert(shape.end(), old.begin() + 2, old.end());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(weight->dtype(), shape));
  const size_t size = static_cast<size_t>(weight->dtype().bytes());
  if (out->num_elements() != 0) {
    StridedCopy(out->mutable_data(), RowMajorStrides(grouped), weight->data() + start * static_cast<int64_t>(size),
                strides, grouped, size);
  }
  return Tensor(out);
}

Result<HostValue> EvalConvTranspose(KernelCall& call, size_t rank) {
  const auto attrs = call.attrs<ConvTransposeAttrs>();
  IROPT_ASSIGN_OR_RETURN(const ConvArgs args, ReadConvArgs(call, rank, TransposedKernelAxes(rank), attrs));
  const std::span<const int64_t> image = args.data->shape();
  const std::span<const int64_t> kernel = args.weight->shape();
  if (kernel[0] != image[1])
    return call.Fail(fmt::format("a kernel of shape {} does not fit {} channels", ShapeText(kernel), image[1]));
  IROPT_ASSIGN_OR_RETURN(const SizedWindow window, SizedWindowOf(call, Shape(kernel.begin() + 2, kernel.end()), attrs));
  const IntList extra = attrs.output_padding();
  if (extra.size() != rank) return call.Fail("the output padding does not fit the number of spatial axes");
  Conv conv{.batch = image[0],
            .groups = args.groups,
            .in_channels = image[1] / args.groups,
            .out_channels = kernel[1],
            .axes = {}};
  for (size_t i = 0; i < rank; ++i) {
    ConvAxis& axis = conv.axes[kAxes - rank + i];
    const int64_t reach = window.dilation[i] * (window.size[i] - 1);
    if (extra[i] < 0 || extra[i] >= window.strides[i]) return call.Fail("the output padding is out of range");
    axis.in = image[2 + i];
    axis.out = (axis.in - 1) * window.strides[i] + reach + 1 - window.before[i] - window.after[i] + extra[i];
    axis.kernel = window.size[i];
    axis.dilation = window.dilation[i];
    axis.before = reach - window.before[i];
    axis.spread = window.strides[i];
  }
  IROPT_ASSIGN_OR_RETURN(const Tensor turned, TurnKernel(call, args.weight, args.groups));
  return FinishConv(call, conv, args, turned, rank);
}

}  // namespace

Result<HostValue> EvalConv1d(KernelCall& call) { return EvalConv(call, 1); }
Result<HostValue> EvalConv2d(KernelCall& call) { return EvalConv(call, 2); }
Result<HostValue> EvalConv3d(KernelCall& call) { return EvalConv(call, 3); }
Result<HostValue> EvalConv1dTranspose(KernelCall& call) { return EvalConvTranspose(call, 1); }
Result<HostValue> EvalConv2dTranspose(KernelCall& call) { return EvalConvTranspose(call, 2); }
Result<HostValue> EvalConv3dTranspose(KernelCall& call) { return EvalConvTranspose(call, 3); }

}  // namespace iropt::eval
