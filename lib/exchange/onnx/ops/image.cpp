// Images: resizing, sampling, regions.

#include "iropt/op/ops/image.h"

#include <algorithm>
#include <cmath>

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/resize_spec.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/vision.h"

namespace iropt::onnx {

namespace {

// ---- Resize

// The scales of all dimensions, as far as they are given and known.
std::optional<std::vector<double>> ScalesOf(OpImport& op, const ResizeSpec& spec, size_t rank) {
  std::vector<double> given;
  if (op.FindAttr("scales")) {
    for (const float scale : op.FindAttr("scales")->floats) given.push_back(static_cast<double>(scale));
  } else if (const NDArray* array = op.ConstantOf(spec.scales_input); array && array->dtype() == DataType::Float(32)) {
    for (const float scale : array->As<float>()) given.push_back(static_cast<double>(scale));
  }
  std::vector<double> scales(rank, 1);
  const std::vector<int64_t> axes = spec.axes.empty() ? Iota(0, static_cast<int64_t>(rank)) : spec.axes;
  if (given.size() != axes.size()) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i)
    scales[static_cast<size_t>(op.Axis(axes[i], static_cast<int64_t>(rank)))] = given[i];
  return scales;
}

// A dimension times a scale; null if it is not a whole number of elements, which sizes cannot say.
const PrimExpr* ScaledDim(const PrimExpr* dim, double scale) {
  const auto* size = As<tir::IntImm>(dim);
  if (scale == std::floor(scale) && std::abs(scale) <= INT32_MAX)
    return arith::PrimBuilder().Mul(dim, IRContext::Current().Int(static_cast<int64_t>(scale)));
  if (size == nullptr) return nullptr;
  const double exact = static_cast<double>(size->value) * scale;
  const int64_t length = ScaledLength(size->value, scale);
  const bool is_whole = length >= 0 && std::abs(exact - static_cast<double>(length)) < 1e-4;
  return is_whole ? IRContext::Current().Int(length) : nullptr;
}

// The shape of the result, from sizes or scales. Nullopt if it is not known, or not exactly what the node computes.
std::optional<std::vector<const PrimExpr*>> ResizedDims(OpImport& op, const ResizeSpec& spec, const TensorType& type) {
  std::vector<const PrimExpr*> dims(type.dims.begin(), type.dims.end());
  const size_t rank = dims.size();
  if (spec.sizes_input != 0 && op.Has(spec.sizes_input)) {
    const Elements* sizes = op.ElementsOf(spec.sizes_input);
    const std::vector<int64_t> axes = spec.axes.empty() ? Iota(0, type.ndim) : spec.axes;
    if (sizes == nullptr || sizes->values.size() != axes.size() || spec.policy != "stretch") return std::nullopt;
    for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(op.Axis(axes[i], type.ndim))] = sizes->values[i];
    return dims;
  }
  const auto scales = ScalesOf(op, spec, rank);
  if (!scales) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = ScaledDim(dims[i], (*scales)[i]);
    if (dims[i] == nullptr) return std::nullopt;
  }
  return dims;
}

std::string_view MethodOf(std::string_view mode) { return mode == "nearest" ? "nearest_neighbor" : mode; }

Value CallResize(OpImport& op, const ResizeSpec& spec, const Expr* x, std::span<const PrimExpr* const> size) {
  const std::string_view coordinates = spec.coordinates == "half_pixel_symmetric" ? "half_pixel" : spec.coordinates;
  if (size.size() == 2) {
    return op.Call(op::kImageResize2d, {x, op.Shape(size)},
                   op.Attrs<Resize2DAttrs>(op::kImageResize2d, {.method = MethodOf(spec.mode),
                                                                .coordinate_transformation_mode = coordinates,
                                                                .rounding_method = spec.rounding,
                                                                .cubic_alpha = spec.cubic_a,
                                                                .cubic_exclude = spec.excludes_outside ? 1 : 0}));
  }
  return op.Call(op::kImageResize3d, {x, op.Shape(size)},
                 op.Attrs<Resize3DAttrs>(op::kImageResize3d, {.method = MethodOf(spec.mode),
                                                              .coordinate_transformation_mode = coordinates,
                                                              .rounding_method = spec.rounding,
                                                              .cubic_alpha = spec.cubic_a,
                                                              .cubic_exclude = spec.excludes_outside ? 1 : 0}));
}

Value ImportResize(OpImport& op) {
  const ResizeSpec spec = ReadResizeSpec(op, op.version());
  const TensorType* type = op.TypeOf(0);
  const bool known = type != nullptr && type->known && type->ndim >= 3 && type->ndim <= 5;
  if (!known || spec.coordinates == "tf_crop_and_resize" || spec.antialias) return {};
  // Relax rounds these coordinates down, whatever the attribute says.
  const bool rounds_down = spec.mode == "nearest" && spec.coordinates == "asymmetric";
  if (rounds_down && spec.rounding != "floor") return {};
  const auto dims = ResizedDims(op, spec, *type);
  if (!dims || op.failed()) return {};
  for (size_t i = 0; i < 2; ++i) {
    if ((*dims)[i] != DimOf(type, i)) return {};
  }
  const std::span<const PrimExpr* const> size = std::span(*dims).subspan(2);
  if (type->ndim > 3) return CallResize(op, spec, op.In(0), size);
  // A row of elements is an image of one row.
  const PrimExpr* one = IRContext::Current().Int(1);
  const PrimExpr* image[] = {one, size[0]};
  const Value resized = CallResize(op, spec, ExpandDims(op, op.In(0), {2}), image);
  const int64_t axes[] = {2};
  return op.Call(op::kSqueeze, {resized.expr},
                 op.Attrs<SqueezeAttrs>(op::kSqueeze, {.axis = std::span<const int64_t>(axes)}));
}

// ---- Sampling and regions

Value ImportGridSample(OpImport& op) {
  if (op.Rank(0) != 4) return {};
  std::string_view mode = op.String("mode", op.version() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  // Relax has the two coordinates before the image, ONNX after it.
  const int64_t axes[] = {0, 3, 1, 2};
  return op.Call(op::kImageGridSample, {op.In(0), op.Transpose(op.In(1), axes)},
                 op.Attrs<GridSampleAttrs>(op::kImageGridSample, {.method = mode,
                                                                  .padding_mode = op.String("padding_mode", "zeros"),
                                                                  .align_corners = op.Int("align_corners") != 0}));
}

// The number of the image is the first column of the regions. Pixels are at whole numbers in Relax, in ONNX half a
// pixel after them unless the node says otherwise.
Value ImportRoiAlign(OpImport& op) {
  if (op.Rank(0) != 4 || op.Rank(1) != 2) return {};
  // Relax has the boxes and the images in one tensor, which would be taken apart again by nodes once it is folded.
  if (op.importer().context().count_nodes && (op.ConstantOf(1) || op.ConstantOf(2))) return {};
  const bool half_pixel = op.String("coordinate_transformation_mode",
                                    op.version() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const double scale = op.Float("spatial_scale", 1);
  if (half_pixel && scale == 0) return {};
  const Expr* images = ExpandDims(op, op.Cast(op.In(2), op.Dtype(1)), {1});
  const Expr* boxes = half_pixel ? Subtract(op, op.In(1), ScalarLike(op, op.In(1), 0.5 / scale)) : op.In(1);
  const Expr* parts[] = {images, boxes};
  const Expr* rois = op.Call(op::kConcat, {op.Tuple(parts)}, op.Attrs<ConcatAttrs>(op::kConcat, {.axis = int64_t{1}}));
  const int64_t pooled[] = {op.Int("output_height", 1), op.Int("output_width", 1)};
  const int64_t ratio = op.Int("sampling_ratio");
  return op.Call(op::kVisionRoiAlign, {op.In(0), rois},
                 op.Attrs<ROIAlignAttrs>(op::kVisionRoiAlign, {.pooled_size = std::span<const int64_t>(pooled),
                                                               .spatial_scale = scale,
                                                               .sample_ratio = ratio == 0 ? -1 : ratio,
                                                               .aligned = half_pixel,
                                                               .mode = op.String("mode", "avg")}));
}

constexpr OpRow kImageRows[] = {
    {"GridSample", 16, 2, 2, ImportGridSample, "R.image.grid_sample"},
    {"Resize", 10, 1, 4, ImportResize, "R.image.resize2d, R.image.resize3d"},
    {"RoiAlign", 10, 3, 3, ImportRoiAlign, "R.vision.roi_align"},
    {"Upsample", 7, 1, 2, ImportResize, "R.image.resize2d, R.image.resize3d"},
};

}  // namespace

std::span<const OpRow> ImageRows() { return kImageRows; }

}  // namespace iropt::onnx
