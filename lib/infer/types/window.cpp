// Type rules of operators that slide a window over an image: convolution, pooling, resizing.
#include "iropt/infer/window.h"

#include <fmt/format.h>

#include "infer/type_util.h"
#include "iropt/infer/layout.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/pooling.h"

namespace iropt {

using namespace rules;

namespace {

// The layout that the attribute `attr` names, which must have the given axes; nothing after an error.
std::optional<Layout> LayoutOf(const Call& call, std::string_view attr, std::string_view text, std::string_view axes,
                               InferContext& ctx) {
  auto layout = Layout::Parse(text);
  if (layout && layout->ConvertibleTo(*Layout::Parse(axes))) return layout;
  ctx.Error(call, fmt::format("{} is '{}', which does not have the axes of {}", attr, text, axes));
  return std::nullopt;
}

// The layout of the result, which is that of the data if none is given.
std::optional<Layout> OutLayoutOf(const Call& call, std::string_view text, std::string_view data, std::string_view axes,
                                  InferContext& ctx) {
  return LayoutOf(call, "out_layout", text.empty() ? data : text, axes, ctx);
}

// A tensor seen in a fixed order of axes.
struct Image {
  bool known = false;
  DimList dims;
};

// The dimensions in the order of `axes`; nothing after an error.
std::optional<Image> ToCanonical(const Call& call, size_t operand, const TensorType* t, const Layout& layout,
                                 std::string_view axes, InferContext& ctx) {
  if (HasRank(t) && t->ndim != layout.ndim()) {
    ctx.Error(call, operand,
              fmt::format("{} must have rank {} in layout {}, but has {}", OperandName(call, operand), layout.ndim(),
                          layout.ToString(), t->ndim));
    return std::nullopt;
  }
  Image image;
  image.known = t->known;
  if (!t->known) return image;
  for (uint32_t i = 0; i < t->dims.size(); ++i) {
    const Layout::Axis& axis = layout.axes()[i];
    const int64_t* length = arith::AsInt(t->dims[i]);
    if (axis.is_part() && length && *length != axis.length) {
      ctx.Error(call, operand,
                fmt::format("{} has length {} on axis {} in layout {}", OperandName(call, operand), *length, i,
                            layout.ToString()));
      return std::nullopt;
    }
  }
  image.dims = DimList(ConvertShape(t->dims, layout, *Layout::Parse(axes)));
  return image;
}

const Type* FromCanonical(const DimList& dims, std::string_view axes, const Layout& layout, DataType dtype,
                          const VDeviceAttr* vdevice) {
  return TensorType::Get(ConvertShape(dims, *Layout::Parse(axes), layout), dtype, vdevice);
}

// The window of a record with strides, dilation and padding; nothing after an error.
template <class Attrs>
std::optional<Window> WindowOf(const Call& call, size_t rank, const Attrs& attrs, InferContext& ctx) {
  Result<Window> window = ReadWindow(rank, attrs);
  if (window) return *std::move(window);
  ctx.Error(call, window.error().message);
  return std::nullopt;
}

// (input + padding - dilation * (kernel - 1) - 1 [+ stride - 1]) // stride + 1, or one less if the last window starts
// in the padding after the input
Dim WindowCount(Dim input, Dim kernel, const Window& w, size_t i, bool round_up) {
  const int64_t* in = arith::AsInt(input);
  const int64_t* k = arith::AsInt(kernel);
  if (in && k && *in >= 0) {
    if (const auto count = CountWindows(w, i, *k, *in, round_up)) return kDims.Int(*count);
  }
  const Dim padded = kDims.Add(input, kDims.Int(w.before[i] + w.after[i]));
  const Dim reach = kDims.Mul(kDims.Int(w.dilation[i]), kDims.Sub(kernel, One()));
  Dim numerator = kDims.Sub(kDims.Sub(padded, reach), One());
  if (round_up) numerator = kDims.Add(numerator, kDims.Int(w.strides[i] - 1));
  const Dim others = kDims.FloorDiv(numerator, kDims.Int(w.strides[i]));
  const Dim all = kDims.Add(others, One());
  if (!round_up || !k || !MayStartInPadding(w, i, *k)) return arith::Simplify(all);
  // If no window fits into the padding, the windows are those that start before the end of the input.
  if (w.after[i] <= w.dilation[i] * (*k - 1) + 1) {
    const Dim starts = kDims.Add(input, kDims.Int(w.before[i] + w.strides[i] - 1));
    return arith::Simplify(kDims.FloorDiv(starts, kDims.Int(w.strides[i])));
  }
  const Dim start = kDims.Mul(others, kDims.Int(w.strides[i]));
  const Dim image_end = kDims.Add(input, kDims.Int(w.before[i]));
  return arith::Simplify(IfThenElse(kDims.Binary(NodeKind::kGE, start, image_end), others, all));
}

// Returns whether the windows of a convolution fit, or what is not known yet. `out` begins with the batch and the
// channels. TVM refuses convolutions for it, but not pools.
bool CheckWindowsFit(const Call& call, const DimList& image, const DimList& out, InferContext& ctx) {
  for (size_t i = 2; i < out.size(); ++i) {
    const int64_t* count = arith::AsInt(out[i]);
    if (!count || *count > 0) continue;
    ctx.Error(call, 0,
              fmt::format("has {} elements in dimension {} of the image, on which the window does not fit",
                          DimToString(image[i]), i - 2));
    return false;
  }
  return true;
}

// The operands of a convolution of any rank.
struct ConvOperands {
  const TensorType* data;
  const TensorType* weight;
  Layout out_layout;
  Image image, kernel;
  DataType dtype;
  const VDeviceAttr* vdevice;
  int64_t groups;

  bool known() const { return image.known && kernel.known; }
  const Type* Unknown() const { return TensorType::Get(out_layout.ndim(), dtype, vdevice); }
};

// `attrs` are ConvAttrs or ConvTransposeAttrs.
template <class Attrs>
std::optional<ConvOperands> ReadConv(const Call& call, size_t rank, std::string_view kernel_axes, const Attrs& attrs,
                                     InferContext& ctx) {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return std::nullopt;
  const std::string_view axes = ImageAxes(rank);
  const auto data_layout = LayoutOf(call, "data_layout", attrs.data_layout(), axes, ctx);
  const auto kernel_layout =
      data_layout ? LayoutOf(call, "kernel_layout", attrs.kernel_layout(), kernel_axes, ctx) : std::nullopt;
  auto out_layout =
      kernel_layout ? OutLayoutOf(call, attrs.out_layout(), attrs.data_layout(), axes, ctx) : std::nullopt;
  if (!out_layout) return std::nullopt;
  auto image = ToCanonical(call, 0, x[0], *data_layout, axes, ctx);
  auto kernel = image ? ToCanonical(call, 1, x[1], *kernel_layout, kernel_axes, ctx) : std::nullopt;
  if (!kernel) return std::nullopt;
  const DataType given = attrs.out_dtype();
  const auto dtype = given.is_void() ? CommonDType(call, 0, x[0]->dtype, 1, x[1]->dtype, ctx) : given;
  const auto vdevice = dtype ? CommonVDevice(call, x[0], x[1], ctx) : std::nullopt;
  if (!vdevice) return std::nullopt;
  const int64_t groups = attrs.groups();
  if (groups <= 0) {
    ctx.Error(call, fmt::format("has {} groups, but needs at least one", groups));
    return std::nullopt;
  }
  return ConvOperands{x[0],     x[1],  *std::move(out_layout), *std::move(image), *std::move(kernel), *dtype,
                      *vdevice, groups};
}

bool CheckDivides(const Call& call, Dim channels, int64_t groups, std::string_view what, InferContext& ctx) {
  if (!arith::ProveNotEqual(kDims.FloorMod(channels, kDims.Int(groups)), kDims.Int(0))) return true;
  ctx.Error(call, 1,
            fmt::format("has {} {} channels, which {} groups do not divide", DimToString(channels), what, groups));
  return false;
}

const Type* InferConv(const Call& call, size_t rank, InferContext& ctx) {
  const ConvAttrs attrs(call);
  const auto conv = ReadConv(call, rank, KernelAxes(rank), attrs, ctx);
  if (!conv) return nullptr;
  if (!conv->known()) return conv->Unknown();
  const DimList& image = conv->image.dims;
  const DimList& kernel = conv->kernel.dims;
  if (arith::ProveNotEqual(image[1], kDims.Mul(kernel[1], kDims.Int(conv->groups)))) {
    return ctx.Error(call, 1,
                     fmt::format("has data with {} channels, but a kernel for {} channels in each of {} groups",
                                 DimToString(image[1]), DimToString(kernel[1]), conv->groups));
  }
  if (!CheckDivides(call, kernel[0], conv->groups, "output", ctx)) return nullptr;
  const auto window = WindowOf(call, rank, attrs, ctx);
  if (!window) return nullptr;
  DimList out;
  out.push_back(image[0]);
  out.push_back(kernel[0]);
  for (size_t i = 0; i < rank; ++i) out.push_back(WindowCount(image[2 + i], kernel[2 + i], *window, i, false));
  if (!CheckWindowsFit(call, image, out, ctx)) return nullptr;
  return FromCanonical(out, ImageAxes(rank), conv->out_layout, conv->dtype, conv->vdevice);
}

const Type* InferConvTranspose(const Call& call, size_t rank, InferContext& ctx) {
  const ConvTransposeAttrs attrs(call);
  const auto conv = ReadConv(call, rank, TransposedKernelAxes(rank), attrs, ctx);
  if (!conv) return nullptr;
  if (!conv->known()) return conv->Unknown();
  const DimList& image = conv->image.dims;
  const DimList& kernel = conv->kernel.dims;
  if (arith::ProveNotEqual(image[1], kernel[0])) {
    return ctx.Error(
        call, 1,
        fmt::format("has data with {} channels, but a kernel for {}", DimToString(image[1]), DimToString(kernel[0])));
  }
  if (!CheckDivides(call, kernel[0], conv->groups, "input", ctx)) return nullptr;
  const auto window = WindowOf(call, rank, attrs, ctx);
  if (!window) return nullptr;
  const IntList extra = attrs.output_padding();
  DimList out;
  out.push_back(image[0]);
  out.push_back(kDims.Mul(kernel[1], kDims.Int(conv->groups)));
  for (size_t i = 0; i < rank; ++i) {
    if (extra.size() != rank || extra[i] >= window->strides[i]) {
      return ctx.Error(call, fmt::format("needs {} output paddings, each less than the stride", rank));
    }
    const Dim spread = kDims.Mul(kDims.Sub(image[2 + i], One()), kDims.Int(window->strides[i]));
    const Dim unpadded = kDims.Sub(spread, kDims.Int(window->before[i] + window->after[i]));
    const Dim reach = kDims.Mul(kDims.Int(window->dilation[i]), kDims.Sub(kernel[2 + i], One()));
    out.push_back(arith::Simplify(kDims.Add(kDims.Add(kDims.Add(unpadded, reach), kDims.Int(extra[i])), One())));
  }
  if (!CheckWindowsFit(call, image, out, ctx)) return nullptr;
  return FromCanonical(out, ImageAxes(rank), conv->out_layout, conv->dtype, conv->vdevice);
}

// An operator on one image, with its two layouts.
struct PoolOperands {
  const TensorType* data;
  Layout layout, out_layout;
  Image image;

  const Type* Unknown() const { return WithRank(data, out_layout.ndim()); }
};

// `attrs` are PoolAttrs or AdaptivePoolAttrs.
template <class Attrs>
std::optional<PoolOperands> ReadPool(const Call& call, size_t rank, const Attrs& attrs, InferContext& ctx) {
  const TensorType* data = UnaryArg(call, ctx);
  if (!data) return std::nullopt;
  const std::string_view axes = ImageAxes(rank);
  auto layout = LayoutOf(call, "layout", attrs.layout(), axes, ctx);
  auto out_layout = layout ? OutLayoutOf(call, attrs.out_layout(), attrs.layout(), axes, ctx) : std::nullopt;
  auto image = out_layout ? ToCanonical(call, 0, data, *layout, axes, ctx) : std::nullopt;
  if (!image) return std::nullopt;
  return PoolOperands{data, *std::move(layout), *std::move(out_layout), *std::move(image)};
}

const Type* InferPool(const Call& call, size_t rank, InferContext& ctx) {
  const PoolAttrs attrs(call);
  const auto pool = ReadPool(call, rank, attrs, ctx);
  if (!pool) return nullptr;
  const auto window = WindowOf(call, rank, attrs, ctx);
  if (!window) return nullptr;
  if (!pool->image.known) return pool->Unknown();
  const IntList sizes = attrs.pool_size();
  if (sizes.size() != rank) return ctx.Error(call, fmt::format("needs {} pool sizes, but has {}", rank, sizes.size()));
  for (const int64_t size : sizes) {
    if (size <= 0) return ctx.Error(call, fmt::format("has pool size {}, which must be positive", size));
  }
  const bool round_up = attrs.ceil_mode();
  DimList out;
  out.push_back(pool->image.dims[0]);
  out.push_back(pool->image.dims[1]);
  for (size_t i = 0; i < rank; ++i)
    out.push_back(WindowCount(pool->image.dims[2 + i], kDims.Int(sizes[i]), *window, i, round_up));
  return FromCanonical(out, ImageAxes(rank), pool->out_layout, pool->data->dtype, pool->data->vdevice);
}

const Type* InferAdaptivePool(const Call& call, size_t rank, InferContext& ctx) {
  const AdaptivePoolAttrs attrs(call);
  const auto pool = ReadPool(call, rank, attrs, ctx);
  if (!pool) return nullptr;
  const auto sizes = attrs.output_size();
  if (!pool->image.known) {
    const bool unchanged = pool->data->has_shape() && pool->layout == pool->out_layout && !sizes;
    return unchanged ? pool->data : pool->Unknown();
  }
  if (sizes && sizes->size() != rank)
    return ctx.Error(call, fmt::format("needs {} output sizes, but has {}", rank, sizes->size()));
  DimList out = pool->image.dims;
  for (size_t i = 0; sizes && i < rank; ++i) out[2 + i] = kDims.Int((*sizes)[i]);
  return FromCanonical(out, ImageAxes(rank), pool->out_layout, pool->data->dtype, pool->data->vdevice);
}

}  // namespace

IROPT_TYPE_RULE(InferNnConv1d,
                "batch, output channels and the number of windows, in `out_layout`; `out_dtype` or the dtype of both") {
  return InferConv(call, 1, ctx);
}
IROPT_TYPE_RULE(InferNnConv2d,
                "batch, output channels and the number of windows, in `out_layout`; `out_dtype` or the dtype of both") {
  return InferConv(call, 2, ctx);
}
IROPT_TYPE_RULE(InferNnConv3d,
                "batch, output channels and the number of windows, in `out_layout`; `out_dtype` or the dtype of both") {
  return InferConv(call, 3, ctx);
}
IROPT_TYPE_RULE(InferNnConv1dTranspose,
                "batch, output channels and the size that this number of windows covers, in `out_layout`") {
  return InferConvTranspose(call, 1, ctx);
}
IROPT_TYPE_RULE(InferNnConv2dTranspose,
                "batch, output channels and the size that this number of windows covers, in `out_layout`") {
  return InferConvTranspose(call, 2, ctx);
}
IROPT_TYPE_RULE(InferNnConv3dTranspose,
                "batch, output channels and the size that this number of windows covers, in `out_layout`") {
  return InferConvTranspose(call, 3, ctx);
}
IROPT_TYPE_RULE(InferNnPool1d, "batch, channels and the number of windows, in `out_layout`") {
  return InferPool(call, 1, ctx);
}
IROPT_TYPE_RULE(InferNnPool2d, "batch, channels and the number of windows, in `out_layout`") {
  return InferPool(call, 2, ctx);
}
IROPT_TYPE_RULE(InferNnPool3d, "batch, channels and the number of windows, in `out_layout`") {
  return InferPool(call, 3, ctx);
}
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool1d, "batch, channels and `output_size`, in `out_layout`") {
  return InferAdaptivePool(call, 1, ctx);
}
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool2d, "batch, channels and `output_size`, in `out_layout`") {
  return InferAdaptivePool(call, 2, ctx);
}
IROPT_TYPE_RULE(InferNnAdaptiveAvgPool3d, "batch, channels and `output_size`, in `out_layout`") {
  return InferAdaptivePool(call, 3, ctx);
}

namespace {

// `attrs` are Resize2DAttrs or Resize3DAttrs.
template <class Attrs>
const Type* InferResize(const Call& call, size_t rank, const Attrs& attrs, InferContext& ctx) {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  const ShapeType* size = data ? ShapeArg(call, 1, ctx) : nullptr;
  if (!size) return nullptr;
  if (size->ndim != static_cast<int>(rank))
    return ctx.Error(call, 1, fmt::format("{} must have rank {}, but has {}", OperandName(call, 1), rank, size->ndim));
  const std::string_view axes = ImageAxes(rank);
  const auto layout = LayoutOf(call, "layout", attrs.layout(), axes, ctx);
  const auto image = layout ? ToCanonical(call, 0, data, *layout, axes, ctx) : std::nullopt;
  if (!image) return nullptr;
  const DataType given = attrs.out_dtype();
  const DataType dtype = given.is_void() ? data->dtype : given;
  const auto* literal = As<ShapeExpr>(call.args[1]);
  if (!image->known || !literal) return TensorType::Get(layout->ndim(), dtype, data->vdevice);
  DimList out = image->dims;
  for (size_t i = 0; i < rank; ++i) out[2 + i] = literal->values[static_cast<uint32_t>(i)];
  return FromCanonical(out, axes, *layout, dtype, data->vdevice);
}

}  // namespace

IROPT_TYPE_RULE(InferImageResize2d, "`size` in place of height and width, `out_dtype` if given") {
  return InferResize(call, 2, Resize2DAttrs(call), ctx);
}
IROPT_TYPE_RULE(InferImageResize3d, "`size` in place of depth, height and width, `out_dtype` if given") {
  return InferResize(call, 3, Resize3DAttrs(call), ctx);
}

IROPT_TYPE_RULE(InferImageGridSample,
                "the last axes of `grid` in place of height and width, or depth, height and width") {
  const TensorType* x[2];
  if (!TensorArgs(call, ctx, x)) return nullptr;
  const GridSampleAttrs attrs(call);
  const size_t rank = attrs.layout() == "NCDHW" ? 3 : 2;
  const std::string_view axes = ImageAxes(rank);
  const auto layout = LayoutOf(call, "layout", attrs.layout(), axes, ctx);
  const auto image = layout ? ToCanonical(call, 0, x[0], *layout, axes, ctx) : std::nullopt;
  if (!image) return nullptr;
  if (HasRank(x[1]) && x[1]->ndim != layout->ndim()) {
    return ctx.Error(call, 1,
                     fmt::format("{} must have rank {}, but has {}", OperandName(call, 1), layout->ndim(), x[1]->ndim));
  }
  if (!image->known || !x[1]->known) return WithRank(x[0], layout->ndim());
  DimList out = image->dims;
  for (uint32_t i = 2; i < out.size(); ++i) out[i] = x[1]->dims[i];
  return FromCanonical(out, axes, *layout, x[0]->dtype, x[0]->vdevice);
}

IROPT_TYPE_RULE(InferImageAffineGrid, "batch, a coordinate for each spatial axis, `size`") {
  if (!CheckArity(call, 2, 2, ctx)) return nullptr;
  const TensorType* data = TensorArg(call, 0, ctx);
  const ShapeType* size = data ? ShapeArg(call, 1, ctx) : nullptr;
  if (!size) return nullptr;
  if (size->ndim != 2 && size->ndim != 3)
    return ctx.Error(call, 1, fmt::format("{} must have rank 2 or 3, but has {}", OperandName(call, 1), size->ndim));
  if (HasRank(data) && data->ndim != 3)
    return ctx.Error(call, 0, fmt::format("{} must have rank 3, but has {}", OperandName(call, 0), data->ndim));
  for (int i = 1; data->known && i < 3; ++i) {
    const int64_t* length = arith::AsInt(data->dims[i]);
    if (!length || *length == size->ndim + i - 1) continue;
    return ctx.Error(call, 0,
                     fmt::format("{} must have length {} on axis {}, but has {}", OperandName(call, 0),
                                 size->ndim + i - 1, i, *length));
  }
  const auto* literal = As<ShapeExpr>(call.args[1]);
  if (!data->known || !literal) return WithRank(data, size->ndim + 2);
  DimList out;
  out.push_back(data->dims[0]);
  out.push_back(kDims.Int(size->ndim));
  out.Append(literal->values);
  return TensorType::Get(out, data->dtype, data->vdevice);
}

}  // namespace iropt
