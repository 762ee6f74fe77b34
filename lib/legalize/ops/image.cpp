// Legalization of operators on images.
#include "iropt/op/ops/image.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;

Value AsFloat(Value x) { return te::Cast(DataType::Float(32), x); }
Value Number(te::Builder& te, double value) { return te.Const(value, DataType::Float(32)); }

// One of the two axes that are resized, for a position in the result.
struct ResizedAxis {
  Value index;  // in the result
  Value in, out;
  double roi_start, roi_end;
};

// Returns whether the result is a multiple of the image, so that integers divide exactly.
bool DividesExactly(const ResizedAxis& axis) {
  const auto in = axis.in.AsInt();
  const auto out = axis.out.AsInt();
  if (!in || !out || *in == 0) return false;
  constexpr double kEpsilon = 1e-5;
  return *out % *in == 0 &&
         static_cast<double>(*out) / static_cast<double>(*in) <= 1 / (kEpsilon * static_cast<double>(*in) + kEpsilon);
}

// The attributes that all numbers of axes have.
struct ResizeOptions {
  template <class Attrs>
  explicit ResizeOptions(const Attrs& attrs)
      : mode(attrs.coordinate_transformation_mode()),
        rounding(attrs.rounding_method()),
        alpha(attrs.cubic_alpha()),
        exclude(attrs.cubic_exclude() != 0),
        extrapolation(attrs.extrapolation_value()),
        out_dtype(attrs.out_dtype()) {}

  std::string_view mode, rounding;
  double alpha;
  bool exclude;
  double extrapolation;
  DataType out_dtype;
};

class Resizer {
 public:
  Resizer(const Tensor& x, const ResizeOptions& options, std::string method)
      : te_(x.te()), x_(x), options_(options), method_(std::move(method)) {}

  // The position in the image, as a number with a fraction, or an integer.
  Value Position(const ResizedAxis& axis, bool divides) const {
    const std::string_view mode = options_.mode;
    const Value x = axis.index;
    const Value scale = te::Div(AsFloat(axis.in), AsFloat(axis.out));
    const Value half = Number(te_, 0.5);
    if (mode == "align_corners") {  // a single element of the result lies on the first one
      return te::IfThenElse(axis.out > 1, te::Div(AsFloat(axis.in - 1), axis.out - 1) * x, Number(te_, 0));
    }
    if (mode == "asymmetric") return divides ? te::Div(x, te::Div(axis.out, axis.in)) : scale * x;
    if (mode == "pytorch_half_pixel") return te::IfThenElse(axis.out > 1, (x + half) * scale - half, Number(te_, 0));
    if (mode == "tf_half_pixel_for_nn") return (x + half) * scale;
    if (mode == "tf_crop_and_resize") {
      const Value start = Number(te_, axis.roi_start);
      const Value end = Number(te_, axis.roi_end);
      return te::IfThenElse(axis.out > 1,
                            start * (axis.in - 1) + te::Div(x * (end - start) * AsFloat(axis.in - 1), axis.out - 1),
                            half * (start + end) * (axis.in - 1));
    }
    return (x + half) * scale - half;
  }

  Value Nearest(Value position, bool divides) const {
    if (divides) return Whole(position);
    std::string_view rounding = options_.rounding;
    if (rounding.empty()) rounding = options_.mode == "align_corners" ? "round" : "floor";
    const Value half = Number(te_, 0.5);
    const Value epsilon = Number(te_, 1e-5);
    if (rounding == "round") return Whole(topi::Round(position));
    if (rounding == "round_prefer_floor") return Whole(topi::Ceil(position - half));
    if (rounding == "round_prefer_ceil") return Whole(topi::Floor(position + half));
    return rounding == "ceil" ? Whole(topi::Ceil(position - epsilon)) : Whole(topi::Floor(position + epsilon));
  }

  Value Element(te::Values i, const std::vector<size_t>& axes, const std::vector<ResizedAxis>& sizes) const {
    const bool may_divide = method_ == "nearest_neighbor" && options_.mode == "asymmetric";
    const bool divides[] = {may_divide && DividesExactly(sizes[0]), may_divide && DividesExactly(sizes[1])};
    const Value at_x = Position(sizes[1], divides[1]);
    const Value at_y = Position(sizes[0], divides[0]);
    const auto pixel = [&](Value y, Value x) {
      std::vector<Value> at(i.begin(), i.end());
      at[axes[0]] = te::Max(te::Min(y, sizes[0].in - 1), 0);
      at[axes[1]] = te::Max(te::Min(x, sizes[1].in - 1), 0);
      return AsFloat(x_(te::Values(at)));
    };
    Value value;
    if (method_ == "nearest_neighbor") {
      value = pixel(Nearest(at_y, divides[0]), Nearest(at_x, divides[1]));
    } else if (method_ == "linear") {
      value = Linear(at_y, at_x, pixel);
    } else {
      value = Cubic(at_y, at_x, pixel, sizes);
    }
    return Finish({at_y, at_x}, sizes, value);
  }

  // An element of the result resized along three axes; pixels have the dtype of the image.
  Value Element3d(te::Values i, const std::vector<size_t>& axes, const std::vector<ResizedAxis>& sizes) const {
    std::vector<Value> at;
    for (const ResizedAxis& axis : sizes) at.push_back(Position(axis, false));
    const auto pixel = [&](te::Values place) {
      std::vector<Value> own(i.begin(), i.end());
      for (size_t k = 0; k < 3; ++k) own[axes[k]] = te::Max(te::Min(place[k], sizes[k].in - 1), 0);
      return x_(te::Values(own));
    };
    std::vector<Value> place(3);
    if (method_ == "nearest_neighbor") {
      for (size_t k = 0; k < 3; ++k) place[k] = Nearest(at[k], false);
      return Finish(at, sizes, pixel(place));
    }
    std::vector<std::vector<Value>> weights(3);
    for (size_t k = 0; k < 3; ++k) {
      const Value whole = topi::Floor(at[k]);
      place[k] = Whole(whole);
      if (method_ == "linear") {
        weights[k] = {Number(te_, 1) - (at[k] - place[k]), at[k] - place[k]};
      } else {
        weights[k] = CubicWeights(at[k] - whole);
        if (options_.exclude) ExcludeOutside(weights[k], place[k], sizes[k].in);
      }
    }
    return Finish(at, sizes, Mix3d(weights, place, 0, pixel));
  }

 private:
  using PixelFn = FunctionRef<Value(Value, Value)>;
  using Pixel3dFn = FunctionRef<Value(te::Values)>;

  // The weighted sum over the pixels along the axes from `axis` on; `first` is the pixel before the fraction.
  Value Mix3d(const std::vector<std::vector<Value>>& weights, const std::vector<Value>& first, size_t axis,
              Pixel3dFn pixel) const {
    if (axis == 3) return pixel(first);
    const size_t count = weights[axis].size();
    Value sum = Number(te_, 0);
    for (size_t k = 0; k < count; ++k) {
      std::vector<Value> place = first;
      place[axis] = count == 2 ? first[axis] + k : first[axis] + k - 1;
      sum = sum + Mix3d(weights, place, axis + 1, pixel) * weights[axis][k];
    }
    return sum;
  }

  // Outside of the image a cropped result has a value of its own.
  Value Finish(const std::vector<Value>& at, const std::vector<ResizedAxis>& sizes, Value value) const {
    if (options_.mode == "tf_crop_and_resize") {
      const Value outside = Number(te_, options_.extrapolation);
      for (size_t k = 0; k < at.size(); ++k)
        value = te::IfThenElse(at[k] < 0, outside, te::IfThenElse(at[k] > sizes[k].in - 1, outside, value));
    }
    return te::Cast(options_.out_dtype.is_void() ? x_.dtype() : options_.out_dtype, value);
  }

  // Positions are counted in int64, as all indices are.
  static Value Whole(Value x) { return te::Cast(DataType::Int(64), x); }

  Value Linear(Value at_y, Value at_x, PixelFn pixel) const {
    const Value y = Whole(topi::Floor(at_y));
    const Value x = Whole(topi::Floor(at_x));
    const auto mix = [&](Value a, Value b, Value t) { return a * (Number(te_, 1) - t) + b * t; };
    const Value dx = at_x - x;
    const Value dy = at_y - y;
    const Value top = mix(pixel(y, x), pixel(y, x + 1), dx);
    return mix(top, mix(pixel(y + 1, x), pixel(y + 1, x + 1), dx), dy);
  }

  std::vector<Value> CubicWeights(Value t) const {
    const double alpha = options_.alpha;
    const auto number = [&](double value) { return Number(te_, value); };
    const Value t2 = t * t;
    const Value t3 = t * t * t;
    return {number(alpha) * (t3 - number(2) * t2 + t), number(alpha + 2) * t3 - number(3 + alpha) * t2 + number(1),
            number(-(alpha + 2)) * t3 + number(3 + 2 * alpha) * t2 - number(alpha) * t,
            number(-alpha) * t3 + number(alpha) * t2};
  }

  // The weights of pixels outside of the image become 0, the others are normalized.
  void ExcludeOutside(std::vector<Value>& weights, Value first, Value size) const {
    Value sum = Number(te_, 0);
    for (size_t i = 0; i < weights.size(); ++i) {
      const Value outside = first - 1 + i < 0 || first + i > size;
      weights[i] = te::IfThenElse(outside, Number(te_, 0), weights[i]);
      sum = sum + weights[i];
    }
    for (Value& weight : weights) weight = te::Div(weight, sum);
  }

  Value Cubic(Value at_y, Value at_x, PixelFn pixel, const std::vector<ResizedAxis>& sizes) const {
    const Value x = Whole(topi::Floor(at_x));
    const Value y = Whole(topi::Floor(at_y));
    std::vector<Value> of_x = CubicWeights(at_x - topi::Floor(at_x));
    std::vector<Value> of_y = CubicWeights(at_y - topi::Floor(at_y));
    if (options_.exclude) {
      ExcludeOutside(of_x, x, sizes[1].in);
      ExcludeOutside(of_y, y, sizes[0].in);
    }
    Value value = Number(te_, 0);
    for (size_t j = 0; j < 4; ++j) {
      Value row = Number(te_, 0);
      for (size_t i = 0; i < 4; ++i) row = row + pixel(y + j - 1, x + i - 1) * of_x[i];
      value = value + row * of_y[j];
    }
    return value;
  }

  te::Builder& te_;
  const Tensor& x_;
  const ResizeOptions options_;
  std::string method_;
};

// `names` are the letters of the axes, of which the region of interest lists the begins, then the ends, in the order
// `places`.
template <class Attrs>
const Expr* LegalizeResize(LegalizeCall& call, std::string_view name, std::string_view names,
                           std::span<const size_t> places) {
  const Attrs attrs(call.call());
  const ShapeExpr* size = call.ShapeArg(1);
  if (!size) return call.Unchanged("its size is not an expression");
  std::string method(attrs.method());
  std::transform(method.begin(), method.end(), method.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (method != "nearest_neighbor" && method != "linear" && method != "cubic")
    return call.Error("invalid method: expected nearest_neighbor, linear or cubic");
  TeCall te(call, name);
  const Tensor x = te.Arg(0);
  const te::Shape target = te.Dims(size->values.span());
  std::vector<size_t> axes;
  size_t at = 0;
  for (const char c : attrs.layout()) {
    if (names.find(c) != std::string_view::npos) axes.push_back(at);
    at += c < '0' || c > '9';
  }
  const size_t rank = names.size();
  if (axes.size() != rank) return call.Unchanged("its layout lacks an axis");
  te::Shape shape = x.shape();
  for (size_t k = 0; k < rank; ++k) shape[axes[k]] = target[k];
  std::vector<double> roi = attrs.roi();
  if (roi.size() != 2 * rank) roi.assign(2 * rank, 0);
  const Resizer resizer(x, ResizeOptions(attrs), method);
  const auto element = [&](te::Values i) {
    std::vector<ResizedAxis> sizes;
    for (size_t k = 0; k < rank; ++k)
      sizes.push_back({i[axes[k]], x.dim(axes[k]), target[k], roi[places[k]], roi[rank + places[k]]});
    return rank == 2 ? resizer.Element(i, axes, sizes) : resizer.Element3d(i, axes, sizes);
  };
  return te.Finish({te.Compute("resize", shape, element, te::PythonAxes())});
}

}  // namespace

const Expr* LegalizeImageResize2d(LegalizeCall& call) {
  constexpr size_t kPlaces[] = {0, 1};
  return LegalizeResize<Resize2DAttrs>(call, "resize2d", "HW", kPlaces);
}

// The region of interest has the axes in reverse order, as in TVM.
const Expr* LegalizeImageResize3d(LegalizeCall& call) {
  constexpr size_t kPlaces[] = {2, 1, 0};
  return LegalizeResize<Resize3DAttrs>(call, "resize3d", "DHW", kPlaces);
}

}  // namespace iropt::legalize
