// Operators on images.

#include <fmt/format.h>

#include "exchange/onnx/export/op_rows.h"

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

// Resize has the sizes of all dimensions as an input.
Names ExportResize2d(OpExport& op) {
  const auto attrs = op.Attrs<Resize2DAttrs>();
  const std::string_view mode = ResizeMode(attrs.method());
  if (mode.empty()) return op.Lacks(fmt::format("ONNX has no method '{}'", attrs.method()));
  const TensorType* result = op.ResultType();
  if (result == nullptr || !result->known) return op.Lacks("the shape of its result is not known");
  const auto axes = OpExport::LayoutAxes(attrs.layout(), "NCHW");
  const std::string_view data = op.ToLayout(op.In(0), attrs.layout(), "NCHW");
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
  std::string_view roi;
  std::string_view scales;
  if (attrs.coordinate_transformation_mode() == "tf_crop_and_resize")
    attributes.push_back(FloatAttribute("extrapolation_value", attrs.extrapolation_value()));
  // Before version 13 these inputs are not optional.
  if (op.version() < 13 || attrs.coordinate_transformation_mode() == "tf_crop_and_resize") {
    const std::vector<double> box = attrs.roi();
    std::vector<float> values;
    if (attrs.coordinate_transformation_mode() == "tf_crop_and_resize" && box.size() == 4)
      values = {0, 0, static_cast<float>(box[0]), static_cast<float>(box[1]),
                1, 1, static_cast<float>(box[2]), static_cast<float>(box[3])};
    const auto tensor = [&](const std::vector<float>& numbers) {
      auto array = NDArray::Make(DataType::Float(32), {static_cast<int64_t>(numbers.size())});
      std::ranges::copy(numbers, array->MutableAs<float>().begin());
      return op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
    };
    roi = tensor(values);
    if (op.version() < 13) scales = tensor({});
  }
  const std::string_view resized =
      op.Add("Resize", {data, roi, scales, op.exporter().ShapeTensor(sizes)}, std::move(attributes));
  return {op.ToLayout(resized, "NCHW", attrs.layout())};
}

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

constexpr ExportRow kImageExports[] = {
    {OpId::kImageGridSample, "Transpose, GridSample", 16, ExportGridSample},
    {OpId::kImageResize2d, "Resize", 11, ExportResize2d},
};

}  // namespace

std::span<const ExportRow> ImageExports() { return kImageExports; }

}  // namespace iropt::onnx
