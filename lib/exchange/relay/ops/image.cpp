// Operators on images.
#include "iropt/infer/ops/image.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/binary.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/nn.h"
#include "iropt/infer/ops/repeat.h"
#include "iropt/infer/ops/slice.h"
#include "relay_builder.h"
#include "shape_values.h"
#include "spatial.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

using Floats = std::vector<double>;
using Resize2d = Resize2DAttrs::Values;
using Resize3d = Resize3DAttrs::Values;

// The attributes of a resize, which those of one to three axes share.
template <class Values>
Values ResizeAttrs(OpCall& call, const Floats& roi, std::string_view layout) {
  return {.roi = roi,
          .layout = layout,
          .method = call.String("method"),
          .coordinate_transformation_mode = call.String("coordinate_transformation_mode"),
          .rounding_method = call.String("rounding_method"),
          .cubic_alpha = call.Float("cubic_alpha"),
          .cubic_exclude = call.Int("cubic_exclude"),
          .extrapolation_value = call.Float("extrapolation_value"),
          .out_dtype = call.Dtype("out_dtype")};
}

// The region of interest; zeros if there is none.
Floats RegionOf(OpCall& call, size_t axes) {
  Floats region = call.Floats("roi");
  if (region.empty()) region.resize(2 * axes, 0);
  return region;
}

template <auto kOp, class Values, size_t kAxes>
const Expr* BuildResize(OpCall& call) {
  return kOp(call, call.arg(0), call.Shape(call.IntsOf("size", kAxes)),
             ResizeAttrs<Values>(call, RegionOf(call, kAxes), call.String("layout")));
}

// A row is an image of height 1.
const Expr* BuildResize1d(OpCall& call) {
  const std::vector<int64_t> size = call.Ints("size");
  const Floats row = RegionOf(call, 1);
  std::string layout(call.String("layout"));
  const size_t width = AxisIn(layout, 'W');
  if (width >= layout.size() || size.size() != 1 || row.size() != 2)
    return call.Error("bad-argument", "the layout, the size or the region is not that of one axis");
  layout.insert(width, "H");
  const auto axis = static_cast<int64_t>(width);
  Value image = call.ExpandDims(call.arg(0), {axis});
  Value resized = op::ImageResize2d(call, image, call.Shape({1, size[0]}),
                                    ResizeAttrs<Resize2d>(call, {0, row[0], 1, row[1]}, layout));
  return op::Squeeze(call, resized, {.axis = Ints{axis}});
}

const Expr* BuildDynResize2d(OpCall& call) {
  Value numbers = call.arg(1);
  if (const auto known = ConstantNumbers(numbers)) {
    const std::vector<int64_t> sizes(known->begin(), known->end());
    numbers = call.IntTensor(sizes, DataType::Int(64));
  }
  const auto size = DimsFrom(call, call.Cast(numbers, DataType::Int(64)), 2);
  if (!size) return nullptr;
  Floats region(4, 0);
  if (const auto known = ConstantNumbers(call.arg(2))) {
    region = *known;
  } else if (call.String("coordinate_transformation_mode") == "tf_crop_and_resize") {
    return call.NoCounterpart("a region of interest that is not a constant");
  }
  return op::ImageResize2d(call, call.arg(0), call.Shape(*size),
                           ResizeAttrs<Resize2d>(call, region, call.String("layout")));
}

// ---- Sampling

const Expr* BuildAffineGrid(OpCall& call) {
  return op::ImageAffineGrid(call, call.arg(0), call.Shape(call.Ints("target_shape")), {.align_corners = true});
}

const Expr* BuildGridSample(OpCall& call) {
  return op::ImageGridSample(call, call.arg(0), call.arg(1),
                             {.method = call.String("method"),
                              .layout = call.String("layout"),
                              .padding_mode = call.String("padding_mode"),
                              .align_corners = call.Bool("align_corners")});
}

// The part of an image in a box, resized: the image is sampled at the points of a grid on the box.
class CropAndResize {
 public:
  explicit CropAndResize(OpCall& call) : call_(call), relay_(call) {}

  Value Build() {
    const std::vector<int64_t> crop = call_.Ints("crop_size");
    const std::string_view method = call_.String("method");
    if (crop.size() != 2) return call_.Error("bad-argument", "crop_size does not have two numbers");
    if (!call_.MayTabulate({crop[0], crop[1]})) return nullptr;
    if (method != "bilinear" && method != "nearest_neighbor")
      return call_.NoCounterpart("a method other than bilinear and nearest_neighbor");
    const std::string_view layout = call_.String("layout");
    Value images = TransformLayout(call_, call_.arg(0), layout, "NCHW");
    const DataType dtype = DTypeOf(images);
    images = call_.Cast(images, kFloat32);
    Value of_boxes = op::Take(call_, images, call_.arg(2), {.axis = 0});
    const Line y = Points(images, 2, 0, crop[0]);
    const Line x = Points(images, 3, 1, crop[1]);
    Value grid = Grid(Normalized(y), Normalized(x), crop);
    Value sampled = op::ImageGridSample(call_, of_boxes, grid,
                                        {.method = "bilinear", .padding_mode = "border", .align_corners = false});
    Value outside = relay_.LogicalOr(call_.ExpandDims(Outside(y), {1, 3}), call_.ExpandDims(Outside(x), {1, 2}));
    Value result = relay_.Where(outside, relay_.Float(call_.Float("extrapolation_value")), sampled);
    const auto out_dtype = DataType::Parse(call_.String("out_dtype"));
    result = call_.Cast(result, out_dtype && !out_dtype->is_void() ? *out_dtype : dtype);
    // The boxes and their images are as many, although they may have different symbolic variables.
    const auto boxes = DimsOf(call_.arg(1));
    const auto image = DimsOf(images);
    if (result != nullptr && !DimsOf(result) && boxes && image) {
      const arith::PrimBuilder make;
      const DimList dims{boxes->front(), (*image)[1], make.Int(crop[0]), make.Int(crop[1])};
      result = call_.builder().EmitMatchCast(result, TensorType::Get(dims, DTypeOf(result)));
    }
    return TransformLayout(call_, result, "NCHW", layout);
  }

 private:
  // Coordinates along an axis of the image, of shape (boxes, points).
  struct Line {
    Value points = nullptr;
    Value size = nullptr;  // of the axis
  };

  Value BoxSide(int64_t side) { return call_.Slice(call_.Cast(call_.arg(1), kFloat32), {1}, {side}, {side + 1}); }

  // Boxes are y1, x1, y2, x2, from 0 to 1.
  Line Points(Value images, int64_t axis, int64_t side, int64_t count) {
    Line line;
    line.size = SizeOfAxis(call_, images, axis, kFloat32);
    Value last = relay_.Subtract(line.size, relay_.Float(1));
    Value begin = BoxSide(side);
    Value end = BoxSide(side + 2);
    if (count > 1) {
      std::vector<double> steps;
      for (int64_t i = 0; i < count; ++i) steps.push_back(static_cast<double>(i));
      Value step = relay_.Divide(relay_.Multiply(relay_.Subtract(end, begin), last),
                                 relay_.Float(static_cast<double>(count - 1)));
      line.points = relay_.Add(relay_.Multiply(begin, last), relay_.Multiply(step, relay_.Vector(steps, kFloat32)));
    } else {
      line.points = relay_.Multiply(relay_.Multiply(relay_.Float(0.5), relay_.Add(begin, end)), last);
    }
    return line;
  }

  Value Outside(const Line& line) {
    Value last = relay_.Subtract(line.size, relay_.Float(1));
    return relay_.LogicalOr(relay_.Less(line.points, relay_.Float(0)), call_.Relay("greater", {line.points, last}));
  }

  // From -1 at the beginning of the first pixel to 1 at the end of the last one.
  Value Normalized(const Line& line) {
    Value at = call_.String("method") == "nearest_neighbor" ? relay_.Unary("round", line.points) : line.points;
    Value twice = relay_.Add(relay_.Multiply(at, relay_.Float(2)), relay_.Float(1));
    return relay_.Subtract(relay_.Divide(twice, line.size), relay_.Float(1));
  }

  // Channel 0 has the columns, channel 1 the rows.
  Value Grid(Value y, Value x, std::span<const int64_t> crop) {
    Value rows = op::Repeat(call_, call_.ExpandDims(y, {2}), {.repeats = crop[1], .axis = 2});
    Value columns = op::Repeat(call_, call_.ExpandDims(x, {1}), {.repeats = crop[0], .axis = 1});
    const Value parts[] = {columns, rows};
    return op::Stack(call_, call_.MakeTuple(parts), {.axis = 1});
  }

  OpCall& call_;
  RelayBuilder relay_;
};

const Expr* BuildCropAndResize(OpCall& call) { return CropAndResize(call).Build(); }

// ---- Morphology

// The maximum over the kernel of the data, with zeros around it, plus the kernel's element.
const Expr* BuildDilation2d(OpCall& call) {
  RelayBuilder relay(call);
  const std::string_view layout = call.String("data_layout");
  Value data = TransformLayout(call, call.arg(0), layout, "NCHW");
  Value weight = TransformLayout(call, call.arg(1), call.String("kernel_layout"), "IHW");
  if (data == nullptr || weight == nullptr) return nullptr;
  const auto kernel = StaticDimsOf(weight);
  const auto dims = DimsOf(data);
  if (!kernel || !dims) return call.NoCounterpart("a dilation of operands of unknown shape");
  if ((*kernel)[1] < 1 || (*kernel)[2] < 1) return call.Error("bad-argument", "the kernel has no elements");
  if (!call.MayRepeat({(*kernel)[1], (*kernel)[2]})) return nullptr;
  std::vector<int64_t> padding = call.Ints("padding");
  if (padding.size() == 1) padding.resize(4, padding[0]);
  if (padding.size() == 2) padding.insert(padding.end(), {padding[0], padding[1]});
  std::vector<int64_t> strides = call.Ints("strides");
  std::vector<int64_t> dilations = call.Ints("dilations");
  strides.resize(2, strides.empty() ? 1 : strides[0]);
  dilations.resize(2, dilations.empty() ? 1 : dilations[0]);
  padding.resize(4, 0);
  data = op::NnPad(call, data, call.Scalar(int64_t{0}, kInt32),
                   {.pad_width = Ints{0, 0, 0, 0, padding[0], padding[2], padding[1], padding[3]}});
  const arith::PrimBuilder make;
  // The last window begins this far before the end of the padded data.
  const auto end = [&](size_t axis, int64_t before, int64_t after, int64_t offset) {
    const int64_t window = ((*kernel)[axis - 1] - 1) * dilations[axis - 2];
    return make.Add((*dims)[axis], make.Int(before + after - window + offset));
  };
  Value result = nullptr;
  for (int64_t i = 0; i < (*kernel)[1]; ++i) {
    for (int64_t j = 0; j < (*kernel)[2]; ++j) {
      const int64_t row = i * dilations[0];
      const int64_t column = j * dilations[1];
      const DimList begins{make.Int(row), make.Int(column)};
      const DimList ends{end(2, padding[0], padding[2], row), end(3, padding[1], padding[3], column)};
      Value window = call.Slice(data, {2, 3}, begins, ends, strides);
      Value element = call.Slice(weight, {1, 2}, {i, j}, {i + 1, j + 1});
      Value sum = relay.Add(window, element);
      result = result ? op::Maximum(call, result, sum) : sum;
    }
  }
  return TransformLayout(call, result, "NCHW", layout);
}

#define RESIZE_ATTRIBUTES(layout)                                                                                      \
  "size=None, roi=None, layout=\"" layout                                                                              \
  "\", method=\"linear\", coordinate_transformation_mode=\"half_pixel\", rounding_method=\"round\", "                  \
  "cubic_alpha=-0.5f, cubic_exclude=0, extrapolation_value=0f, out_dtype=\"\""

constexpr OperatorRow kImage[] = {
    {"dyn.image.resize2d", "data, size, roi", RESIZE_ATTRIBUTES("NCHW"), BuildDynResize2d},
    {"image.affine_grid", "data", "target_shape", BuildAffineGrid},
    {"image.crop_and_resize", "data, boxes, box_indices",
     "crop_size, layout=\"NCHW\", method=\"bilinear\", extrapolation_value=0f, out_dtype=\"\"", BuildCropAndResize},
    {"image.dilation2d", "data, weight",
     "strides=[1, 1], padding=[0, 0], dilations=[1, 1], data_layout=\"NCHW\", kernel_layout=\"IHW\", out_dtype=\"\"",
     BuildDilation2d},
    {"image.grid_sample", "data, grid",
     "method=\"bilinear\", layout=\"NCHW\", padding_mode=\"zeros\", align_corners=True", BuildGridSample},
    {"image.resize1d", "data", RESIZE_ATTRIBUTES("NCW"), BuildResize1d},
    {"image.resize2d", "data", RESIZE_ATTRIBUTES("NCHW"), BuildResize<op::ImageResize2d, Resize2d, 2>},
    {"image.resize3d", "data", RESIZE_ATTRIBUTES("NCDHW"), BuildResize<op::ImageResize3d, Resize3d, 3>},
};

#undef RESIZE_ATTRIBUTES

}  // namespace

std::span<const OperatorRow> ImageOperators() { return kImage; }

}  // namespace iropt::relay
