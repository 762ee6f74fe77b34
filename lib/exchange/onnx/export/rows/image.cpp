// Operators on images.

#include "iropt/op/ops/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/vision.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

namespace {

// Relax's names of methods and their rounding, and ONNX's.
std::string_view ResizeMode(std::string_view method) {
  if (method == "nearest_neighbor") return "nearest";
  return method == "linear" || method == "cubic" ? method : std::string_view();
}

std::string_view NearestMode(std::string_view rounding) {
  return rounding.empty() || rounding == "round" ? "round_prefer_ceil" : rounding;
}

// By what the dimensions are multiplied, where sizes would have to be computed and these are whole numbers; else empty.
std::vector<float> WholeScales(const TensorType* data, std::span<const int64_t> axes,
                               std::span<const PrimExpr* const> sizes) {
  if (data == nullptr || !data->known || std::ranges::all_of(sizes, [](auto* size) { return Is<tir::IntImm>(size); }))
    return {};
  std::vector<float> scales;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<int64_t> factor = WholeFactor(data->dims[static_cast<uint32_t>(axes[i])], sizes[i]);
    if (!factor || *factor > (int64_t{1} << 20)) return {};
    scales.push_back(static_cast<float>(*factor));
  }
  return scales;
}

// Resize has the sizes of all dimensions as an input, or factors.
template <class ResizeAttrs>
Names ExportResize(OpExport& op, std::string_view plain) {
  const auto attrs = op.Attrs<ResizeAttrs>();
  const std::string_view mode = ResizeMode(attrs.method());
  if (mode.empty()) return op.Lacks(fmt::format("ONNX has no method '{}'", attrs.method()));
  const TensorType* result = op.ResultType();
  if (result == nullptr || !result->known) return op.Lacks("the shape of its result is not known");
  const auto axes = LayoutAxes(attrs.layout(), plain);
  const std::string_view data = op.ToLayout(op.In(0), attrs.layout(), plain);
  if (data.empty() || !axes) return {};
  std::vector<const PrimExpr*> sizes;
  for (const int64_t axis : *axes) sizes.push_back(result->dims[static_cast<uint32_t>(axis)]);
  std::vector<AttributeProto> attributes{
      TextAttribute("coordinate_transformation_mode", attrs.coordinate_transformation_mode()),
      TextAttribute("mode", mode)};
  if (mode == "nearest") attributes.push_back(TextAttribute("nearest_mode", NearestMode(attrs.rounding_method())));
  if (mode == "cubic") {
    attributes.push_back(FloatAttribute("cubic_coeff_a", attrs.cubic_alpha()));
    attributes.push_back(IntAttribute("exclude_outside", attrs.cubic_exclude()));
  }
  const auto tensor = [&](const std::vector<float>& numbers) {
    auto array = NDArray::Make(DataType::Float(32), {static_cast<int64_t>(numbers.size())});
    std::ranges::copy(numbers, array->MutableAs<float>().begin());
    return op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
  };
  // Factors are those of the region then.
  const bool is_cropped = attrs.coordinate_transformation_mode() == "tf_crop_and_resize";
  std::string_view roi;
  std::string_view scales;
  if (is_cropped) attributes.push_back(FloatAttribute("extrapolation_value", attrs.extrapolation_value()));
  // Before version 13 these inputs are not optional.
  if (op.version() < 13 || is_cropped) {
    const std::vector<double> box = attrs.roi();
    std::vector<float> values;
    const size_t lengths = plain.size() - 2;
    for (size_t end = 0; is_cropped && box.size() == 2 * lengths && end < 2; ++end) {
      values.insert(values.end(), 2, static_cast<float>(end));
      for (size_t i = 0; i < lengths; ++i) values.push_back(static_cast<float>(box[end * lengths + i]));
    }
    roi = tensor(values);
    if (op.version() < 13) scales = tensor({});
  }
  Names inputs{data, roi, scales};
  const std::vector<float> factors = is_cropped ? std::vector<float>() : WholeScales(op.TypeOf(0), *axes, sizes);
  if (!factors.empty()) {
    inputs[2] = tensor(factors);
  } else {
    inputs.push_back(op.exporter().dims().ShapeTensor(sizes));
  }
  const std::string_view resized = op.Add("Resize", std::move(inputs), std::move(attributes));
  return {op.ToLayout(resized, plain, attrs.layout())};
}
Names ExportResize2d(OpExport& op) { return ExportResize<Resize2DAttrs>(op, "NCHW"); }
Names ExportResize3d(OpExport& op) { return ExportResize<Resize3DAttrs>(op, "NCDHW"); }

// The coordinates are the last dimension in ONNX, the second one in Relax.
Names ExportGridSample(OpExport& op) {
  const auto attrs = op.Attrs<GridSampleAttrs>();
  if (attrs.layout() != "NCHW") return op.Lacks("ONNX has it for the layout NCHW");
  const bool newer = op.version() >= 20;
  std::string_view mode = attrs.method();
  if (mode == "bilinear" && newer) mode = "linear";
  if (mode == "bicubic" && newer) mode = "cubic";
  return {op.Add("GridSample", {op.In(0), op.Transpose(op.In(1), {0, 2, 3, 1})},
                 {IntAttribute("align_corners", attrs.align_corners() ? 1 : 0), TextAttribute("mode", mode),
                  TextAttribute("padding_mode", attrs.padding_mode())})};
}

// The coordinates are the last dimension in ONNX, the second one in Relax.
Names ExportAffineGrid(OpExport& op) {
  const auto* size = As<ShapeExpr>(op.Resolved(1));
  const TensorType* matrices = op.TypeOf(0);
  if (size == nullptr || matrices == nullptr || !matrices->known) return op.Lacks("its shape is not known");
  std::vector<const PrimExpr*> dims{matrices->dims[0], IRContext::Current().Int(1)};
  dims.insert(dims.end(), size->values.begin(), size->values.end());
  const std::string_view grid =
      op.Add("AffineGrid", {op.In(0), op.exporter().dims().ShapeTensor(dims)},
             {IntAttribute("align_corners", op.Attrs<AffineGridAttrs>().align_corners() ? 1 : 0)});
  std::vector<int64_t> axes{0, static_cast<int64_t>(dims.size()) - 1};
  for (int64_t i = 1; i + 1 < static_cast<int64_t>(dims.size()); ++i) axes.push_back(i);
  return {op.Transpose(grid, std::move(axes))};
}

// ---- Regions

// The call of an operator that an expression is; null for others.
const Call* CallOf(OpExport& op, const Expr* expr, OpId id) {
  const auto* call = As<Call>(op.exporter().definitions().Resolve(expr));
  const auto* callee = call ? As<Op>(call->op) : nullptr;
  return callee != nullptr && callee->id == id ? call : nullptr;
}

// The operands as the reader has joined them: concat((expand_dims(astype(images)), boxes)); nullopt for other regions.
std::optional<std::pair<const Expr*, const Expr*>> JoinedRegions(OpExport& op) {
  const Call* concat = CallOf(op, op.Arg(1), op::kConcat);
  const auto* parts = concat ? As<iropt::Tuple>(op.exporter().definitions().Resolve(concat->args[0])) : nullptr;
  if (parts == nullptr || parts->fields.size() != 2) return std::nullopt;
  const Call* column = CallOf(op, parts->fields[0], op::kExpandDims);
  const auto* boxes = As<TensorType>(parts->fields[1]->type);
  const bool is_row = boxes != nullptr && boxes->known && As<tir::IntImm>(boxes->dims[boxes->dims.size() - 1]) &&
                      To<tir::IntImm>(boxes->dims[boxes->dims.size() - 1])->value == 4;
  if (column == nullptr || !is_row) return std::nullopt;
  const Call* cast = CallOf(op, column->args[0], op::kAstype);
  return std::pair(cast ? cast->args[0] : column->args[0], parts->fields[1]);
}

// The value before a number was subtracted from it; null for other values.
const Expr* BeforeShift(OpExport& op, const Expr* boxes, double shift) {
  const Call* difference = CallOf(op, boxes, op::kSubtract);
  const auto* constant =
      difference ? As<iropt::Constant>(op.exporter().definitions().Resolve(difference->args[1])) : nullptr;
  if (constant == nullptr || constant->data->num_elements() != 1) return nullptr;
  return *constant->data == *MakeScalarTensor(iropt::Scalar::Float(shift, constant->data->dtype()))
             ? difference->args[0]
             : nullptr;
}

// The images and the boxes of regions, of which Relax has one tensor; the boxes plus a number.
std::pair<std::string_view, std::string_view> RegionsOf(OpExport& op, double shift) {
  const auto shifted = [&](std::string_view boxes) {
    return shift == 0 ? boxes : op.Add("Add", {boxes, op.Scalar(shift, op.Dtype(1))});
  };
  if (const auto joined = JoinedRegions(op)) {
    const auto* type = As<TensorType>(joined->first->type);
    const std::string_view images =
        op.Cast(op.exporter().NameOf(joined->first), type ? type->dtype : DataType::Void(), DataType::Int(64));
    if (const Expr* before = shift == 0 ? nullptr : BeforeShift(op, joined->second, shift))
      return {images, op.exporter().NameOf(before)};
    return {images, shifted(op.exporter().NameOf(joined->second))};
  }
  const auto columns = [&](int64_t begin, int64_t end) {
    return op.Add("Slice", {op.In(1), op.Ints({begin}), op.Ints({end}), op.Ints({1})});
  };
  return {op.Cast(op.Squeeze(columns(0, 1), {1}), op.Dtype(1), DataType::Int(64)), shifted(columns(1, 5))};
}

// Pixels are at whole numbers in Relax; in ONNX half a pixel after them if the regions are aligned.
Names ExportRoiAlign(OpExport& op) {
  const auto attrs = op.Attrs<ROIAlignAttrs>();
  if (attrs.layout() != "NCHW") return op.Lacks("ONNX has it for the layout NCHW");
  if (attrs.aligned() && op.version() < 16) return op.Needs(16);
  const auto [images, boxes] = RegionsOf(op, attrs.aligned() ? 0.5 / attrs.spatial_scale() : 0);
  const std::vector<int64_t> size = attrs.pooled_size().vector();
  std::vector<AttributeProto> attributes{TextAttribute("mode", attrs.mode()), IntAttribute("output_height", size[0]),
                                         IntAttribute("output_width", size[1]),
                                         IntAttribute("sampling_ratio", std::max<int64_t>(attrs.sample_ratio(), 0)),
                                         FloatAttribute("spatial_scale", attrs.spatial_scale())};
  if (op.version() >= 16)
    attributes.push_back(
        TextAttribute("coordinate_transformation_mode", attrs.aligned() ? "half_pixel" : "output_half_pixel"));
  return {op.Add("RoiAlign", {op.In(0), boxes, images}, std::move(attributes))};
}

Names ExportRoiPool(OpExport& op) {
  const auto attrs = op.Attrs<ROIPoolAttrs>();
  if (attrs.layout() != "NCHW") return op.Lacks("ONNX has it for the layout NCHW");
  return {op.Add("MaxRoiPool", {op.In(0), op.In(1)},
                 {IntsAttribute("pooled_shape", attrs.pooled_size().vector()),
                  FloatAttribute("spatial_scale", attrs.spatial_scale())})};
}

// Relax has a row for each box of each class, and the number of those that are selected; the others are zeros.
Names ExportAllClassNonMaxSuppression(OpExport& op) {
  if (op.Attrs<AllClassNonMaximumSuppressionAttrs>().output_format() != "onnx")
    return op.Lacks("ONNX has the format onnx");
  const auto* results = As<TupleType>(op.call().type);
  const auto* rows = results ? As<TensorType>(results->fields[0]) : nullptr;
  if (rows == nullptr || !rows->known) return op.Lacks("the shape of its result is not known");
  const auto option = [&](size_t i, DataType dtype) { return op.Reshape(op.Cast(op.In(i), op.Dtype(i), dtype), {1}); };
  const std::string_view selected =
      op.Add("NonMaxSuppression", {op.In(0), op.In(1), option(2, DataType::Int(64)), option(3, DataType::Float(32)),
                                   option(4, DataType::Float(32))});
  const std::string_view count = op.Add("Slice", {op.Add("Shape", {selected}), op.Ints({0}), op.Ints({1})});
  const std::string_view missing = op.Add("Sub", {op.exporter().dims().ScalarTensor(rows->dims[0]), count});
  const std::string_view pads = op.Add("Concat", {op.Ints({0, 0}), missing, op.Ints({0})}, {IntAttribute("axis", 0)});
  return {op.Add("Pad", {selected, pads}), count};
}

// The boxes with a score above the threshold, and a class if there are classes, in front of rows of -1.
Names ExportGetValidCounts(OpExport& op) {
  const auto attrs = op.Attrs<GetValidCountsAttrs>();
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known || type->ndim != 3) return op.Lacks("the shape of its boxes is not known");
  const DataType index = DataType::Int(32);
  const auto element = [&](int64_t i) {
    return op.Add("Gather", {op.In(0), op.exporter().IntScalar(i)}, {IntAttribute("axis", 2)});
  };
  std::string_view valid =
      op.Add("Greater", {element(attrs.score_index()), op.Scalar(attrs.score_threshold(), type->dtype)});
  if (attrs.id_index() >= 0) {
    const std::string_view has_class = op.Add("GreaterOrEqual", {element(attrs.id_index()), op.Scalar(0, type->dtype)});
    valid = op.Add("And", {valid, has_class});
  }
  const std::string_view count = op.Reduce("ReduceSum", op.Cast(valid, DataType::Bool(), index), {1}, false);
  // Of equal numbers, the first ones come first.
  const std::string_view flags = op.Cast(valid, DataType::Bool(), DataType::Float(32));
  const Names order = op.exporter().AddNode("TopK", {flags, op.exporter().dims().ScalarTensor(type->dims[1])},
                                            {IntAttribute("axis", 1)}, 2);
  const std::string_view is_valid = op.Cast(order[0], DataType::Float(32), DataType::Bool());
  const std::string_view shape = op.exporter().dims().ShapeTensor({type->dims.begin(), type->dims.end()});
  const std::string_view places = op.Add("Expand", {op.Unsqueeze(order[1], {2}), shape});
  const std::string_view boxes = op.Add("GatherElements", {op.In(0), places}, {IntAttribute("axis", 1)});
  return {count, op.Add("Where", {op.Unsqueeze(is_valid, {2}), boxes, op.Scalar(-1, type->dtype)}),
          op.Add("Where", {is_valid, op.Cast(order[1], DataType::Int(64), index), op.Scalar(-1, index)})};
}

// The corners (top, left, bottom, right) of anchors (left, top, right, bottom) that are moved and scaled.
std::string_view DecodedBoxes(OpExport& op, const MultiboxTransformLocAttrs& attrs) {
  const DataType dtype = op.Dtype(1);
  const std::vector<double> variances = attrs.variances();
  const auto pair_of = [&](std::string_view x, int64_t first, int64_t second) {
    return op.Add("Gather", {x, op.Ints({first, second})}, {IntAttribute("axis", 2)});
  };
  const auto times = [&](std::string_view x, double first, double second) {
    const std::string_view factors[] = {op.Reshape(op.Scalar(first, dtype), {1}),
                                        op.Reshape(op.Scalar(second, dtype), {1})};
    return op.Add("Mul", {x, op.Add("Concat", {factors[0], factors[1]}, {IntAttribute("axis", 0)})});
  };
  const std::string_view half = op.Scalar(0.5, dtype);
  const std::string_view low = pair_of(op.In(2), 1, 0), high = pair_of(op.In(2), 3, 2);
  const std::string_view center = op.Add("Mul", {op.Add("Add", {low, high}), half});
  const std::string_view length = op.Add("Sub", {high, low});
  const std::string_view places = op.Reshape(op.In(1), {0, -1, 4});
  const std::string_view moved = op.Add("Mul", {times(pair_of(places, 1, 0), variances[1], variances[0]), length});
  const std::string_view middle = op.Add("Add", {moved, center});
  const std::string_view scale = op.Add("Exp", {times(pair_of(places, 3, 2), variances[3], variances[2])});
  const std::string_view reach = op.Add("Mul", {op.Add("Mul", {scale, half}), length});
  const std::string_view boxes =
      op.Add("Concat", {op.Add("Sub", {middle, reach}), op.Add("Add", {middle, reach})}, {IntAttribute("axis", 2)});
  if (!attrs.clip()) return boxes;
  return op.Add("Max", {op.Add("Min", {boxes, op.Scalar(1, dtype)}), op.Scalar(0, dtype)});
}

Names ExportMultiboxTransformLoc(OpExport& op) {
  const auto attrs = op.Attrs<MultiboxTransformLocAttrs>();
  const TensorType* type = op.TypeOf(0);
  const auto* classes = type && type->known && type->ndim == 3 ? As<tir::IntImm>(type->dims[1]) : nullptr;
  if (classes == nullptr || op.Rank(1) != 2 || attrs.variances().size() != 4)
    return op.Lacks("the number of its classes is not known");
  const std::string_view zero = op.Scalar(0, type->dtype);
  const std::string_view scores = op.Add("Softmax", {op.In(0)}, {IntAttribute("axis", 1)});
  std::string_view is_low = op.Add("Less", {scores, op.Scalar(attrs.threshold(), type->dtype)});
  if (!attrs.keep_background()) {
    auto background = NDArray::Make(DataType::Bool(), {classes->value, 1});
    std::memset(background->mutable_data(), 0, background->num_bytes());
    if (classes->value > 0) background->mutable_data()[0] = std::byte{1};
    const std::string_view flags =
        op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(background)), "background");
    is_low = op.Add("Or", {is_low, flags});
  }
  return {DecodedBoxes(op, attrs), op.Add("Where", {is_low, zero, scores})};
}

constexpr ExportRow kImageExports[] = {
    {op::kImageAffineGrid, "", 20, ExportAffineGrid},  // AffineGrid, Transpose
    {op::kImageGridSample, "", 16, ExportGridSample},  // Transpose, GridSample
    {op::kImageResize2d, "Resize", 11, ExportResize2d},
    {op::kImageResize3d, "Resize", 11, ExportResize3d},
    {op::kVisionAllClassNonMaxSuppression, "", 13, ExportAllClassNonMaxSuppression},  // NonMaxSuppression, Pad
    {op::kVisionGetValidCounts, "", 13, ExportGetValidCounts},                        // TopK, GatherElements, Where
    {op::kVisionMultiboxTransformLoc, "", 13, ExportMultiboxTransformLoc},  // Gather, Mul, Exp, Concat; Softmax, Where
    {op::kVisionRoiAlign, "RoiAlign", 10, ExportRoiAlign},
    {op::kVisionRoiPool, "MaxRoiPool", 1, ExportRoiPool},
};

}  // namespace

std::span<const ExportRow> ImageExports() { return kImageExports; }

}  // namespace iropt::onnx
