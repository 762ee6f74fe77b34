// Legalization of operators that sample images at points that are given as data.
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/vision.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;
using te::Values;

Value ToInt(Value x) { return te::Cast(DataType::Int(64), x); }

}  // namespace

const Expr* LegalizeImageAffineGrid(LegalizeCall& call) {
  const ShapeExpr* size = call.ShapeArg(1);
  if (!size) return call.Unchanged("its size is not an expression");
  const bool corners = AffineGridAttrs(call.call()).align_corners();
  TeCall te(call, "affine_grid");
  const Tensor x = te.Arg(0);
  const size_t rank = size->values.size();
  te::Shape shape = {x.dim(0), Value(rank)};
  std::vector<Value> starts, steps;
  for (const PrimExpr* length : size->values) {
    const int64_t* known = arith::AsInt(length);
    if (!known || *known < (corners ? 2 : 1)) return call.Unchanged("its size is symbolic, or too small");
    const auto n = static_cast<double>(*known);
    starts.push_back(te.Const(corners ? -1.0 : -1.0 + 1.0 / n, x.dtype()));
    steps.push_back(te.Const(corners ? (2.0 - 1e-7) / (n - 1) : 2.0 / n, x.dtype()));
    shape.emplace_back(*known);
  }
  const auto element = [&](Values i) {
    Value value = x(i[0], i[1], Value(rank));
    for (size_t r = 0; r < rank; ++r)
      value = value + x(i[0], i[1], Value(rank - 1 - r)) * (starts[r] + i[2 + r] * steps[r]);
    return value;
  };
  return te.Finish({te.Compute("compute", shape, element, te::PythonAxes({"n", "dim", "i0", "i1", "i2"}))});
}

namespace {

// The positions on the axes of an image, the last one first in the grid.
class GridSampler {
 public:
  GridSampler(const Tensor& x, const Tensor& grid, const GridSampleAttrs& attrs)
      : te_(x.te()), x_(x), grid_(grid), attrs_(attrs), rank_(x.ndim() - 2) {}

  Value Element(Values i) const {
    if (attrs_.method() == "bicubic") return Cubic(i);
    const std::vector<Value> at = Positions(i, true);
    if (attrs_.method() == "bilinear") return Linear(i, at);
    std::vector<Value> place;
    for (const Value& position : at) place.push_back(ToInt(te::Call(op::kTirNearbyint, {position})));
    return Pixel(i, place);
  }

 private:
  Value Number(double value) const { return te_.Const(value, grid_.dtype()); }
  Value Length(size_t axis) const { return x_.dim(2 + axis); }

  // Positions are not farther away, and NaN is as far, so that integers can hold them.
  double Bound() const { return grid_.dtype().bits < 32 ? 65504 : 1e9; }

  // By axis of the image: depth, height, width.
  std::vector<Value> Positions(Values i, bool padded) const {
    std::vector<Value> at;
    for (size_t axis = 0; axis < rank_; ++axis) {
      std::vector<Value> place = {i[0], Value(rank_ - 1 - axis)};
      place.insert(place.end(), i.begin() + 2, i.end());
      const Value given = grid_(Values(place)) + Number(1);
      const Value position = attrs_.align_corners() ? te::Div(given * (Length(axis) - 1), Number(2))
                                                    : Number(-0.5) + te::Div(given * Length(axis), Number(2));
      const Value least = Number(-Bound());
      const Value bounded = te::Min(te::Select(position > least, position, least), Number(Bound()));
      at.push_back(padded ? Padded(bounded, axis) : bounded);
    }
    return at;
  }

  Value Padded(Value x, size_t axis) const {
    if (attrs_.padding_mode() == "zeros") return x;
    // A single element has nowhere to reflect.
    if (attrs_.align_corners() && Length(axis).Is(1)) return Number(0);
    if (attrs_.padding_mode() == "reflection") x = Reflected(x, axis);
    return te::Min(te::Max(x, 0), Length(axis) - 1);
  }

  Value Reflected(Value x, size_t axis) const {
    const Value begin = attrs_.align_corners() ? Number(0) : Number(-0.5);
    const Value size = attrs_.align_corners() ? Length(axis) - 1 : Length(axis);
    const Value distance = topi::Abs(begin - x);
    const Value times = te::Div(ToInt(distance), size);
    const Value extra = distance - times * size;
    const Value reflected = te::IfThenElse(te::TruncMod(times, 2) == 0, extra + begin, size - extra + begin);
    return te::IfThenElse(x >= begin && x <= size + begin, x, reflected);
  }

  Value Pixel(Values i, const std::vector<Value>& place) const {
    Value inside = place[0] >= 0;
    for (size_t axis = 1; axis < rank_; ++axis) inside = inside && place[axis] >= 0;
    for (size_t axis = 0; axis < rank_; ++axis) inside = inside && place[axis] < Length(axis);
    std::vector<Value> own = {i[0], i[1]};
    own.insert(own.end(), place.begin(), place.end());
    return te::IfThenElse(inside, x_(Values(own)), te_.Const(0, x_.dtype()));
  }

  // The sum over the corners of the cell.
  Value Linear(Values i, const std::vector<Value>& at) const {
    std::vector<Value> first;
    for (const Value& position : at) first.push_back(ToInt(topi::Floor(position)));
    Value sum;
    for (size_t corner = 0; corner < size_t{1} << rank_; ++corner) {
      std::vector<Value> place = first;
      std::vector<Value> weights;
      for (size_t axis = 0; axis < rank_; ++axis) {
        const bool second = (corner >> (rank_ - 1 - axis) & 1) != 0;
        const Value fraction = at[axis] - first[axis];
        if (second) place[axis] = place[axis] + 1;
        weights.push_back(second ? fraction : Number(1) - fraction);
      }
      Value term = Pixel(i, place);
      for (const Value& weight : weights) term = term * weight;
      sum = corner == 0 ? term : sum + term;
    }
    return sum;
  }

  std::vector<Value> CubicWeights(Value t) const {
    constexpr double kA = -0.75;
    const auto near = [&](Value x) { return (Number(kA + 2) * x - Number(kA + 3)) * x * x + Number(1); };
    const auto far = [&](Value x) {
      return ((Number(kA) * x - Number(5 * kA)) * x + Number(8 * kA)) * x - Number(4 * kA);
    };
    return {far(t + Number(1)), near(t), near(Number(1) - t), far(Number(2) - t)};
  }

  Value Cubic(Values i) const {
    const std::vector<Value> at = Positions(i, false);
    std::vector<Value> first;
    std::vector<std::vector<Value>> weights;
    for (const Value& position : at) {
      first.push_back(ToInt(topi::Floor(position)));
      weights.push_back(CubicWeights(position - first.back()));
    }
    const auto place = [&](size_t axis, size_t k) {
      const Value index = first[axis] + k - 1;
      return attrs_.padding_mode() == "zeros" ? index : ToInt(Padded(te::Cast(grid_.dtype(), index), axis));
    };
    Value sum;
    for (size_t y = 0; y < 4; ++y) {
      Value row;
      for (size_t x = 0; x < 4; ++x) {
        const Value term = Pixel(i, {place(0, y), place(1, x)}) * weights[1][x];
        row = x == 0 ? term : row + term;
      }
      sum = y == 0 ? row * weights[0][y] : sum + row * weights[0][y];
    }
    return sum;
  }

  te::Builder& te_;
  const Tensor& x_;
  const Tensor& grid_;
  const GridSampleAttrs& attrs_;
  size_t rank_;
};

}  // namespace

const Expr* LegalizeImageGridSample(LegalizeCall& call) {
  const GridSampleAttrs attrs(call.call());
  if (attrs.layout() != "NCHW" && attrs.layout() != "NCDHW")
    return call.Unchanged("its layout is neither NCHW nor NCDHW");
  if (attrs.method() == "bicubic" && attrs.layout() != "NCHW") return call.Unchanged("bicubic needs the layout NCHW");
  TeCall te(call, "grid_sample");
  const Tensor x = te.Arg(0);
  const Tensor grid = te.Arg(1);
  te::Shape shape = {x.dim(0), x.dim(1)};
  for (size_t i = 2; i < grid.ndim(); ++i) shape.push_back(grid.dim(i));
  const GridSampler sampler(x, grid, attrs);
  const auto names = x.ndim() == 4 ? te::PythonAxes({"n", "c", "h", "w"}) : te::PythonAxes({"n", "c", "d", "h", "w"});
  return te.Finish({te.Compute(
      "compute", shape, [&](Values i) { return te::Cast(x.dtype(), sampler.Element(i)); }, names)});
}

// ---- Regions

namespace {

// The values of one region: five numbers.
class RegionSampler {
 public:
  RegionSampler(const Tensor& x, const Tensor& rois, bool channels_last)
      : te_(x.te()), x_(x), rois_(rois), channels_last_(channels_last) {}

  Value Number(double value) const { return te_.Const(value, rois_.dtype()); }
  Value Roi(Value i, size_t k) const { return rois_(i, Value(k)); }
  Value Batch(Value i) const { return ToInt(Roi(i, 0)); }
  Value height() const { return x_.dim(channels_last_ ? 1 : 2); }
  Value width() const { return x_.dim(channels_last_ ? 2 : 3); }
  Value At(Value n, Value c, Value y, Value x) const { return channels_last_ ? x_(n, y, x, c) : x_(n, c, y, x); }

  // The value between four elements, 0 outside of the image.
  Value Bilinear(Value n, Value c, Value y, Value x) const {
    const auto wide = [&](Value length) { return te::Cast(rois_.dtype(), length); };
    const Value outside = y < Number(-1) || x < Number(-1) || y > wide(height()) || x > wide(width());
    y = te::Min(te::Max(y, Number(0)), wide(height() - 1));
    x = te::Min(te::Max(x, Number(0)), wide(width() - 1));
    const Value top = ToInt(topi::Floor(y));
    const Value left = ToInt(topi::Floor(x));
    const Value bottom = te::Min(top + 1, height() - 1);
    const Value right = te::Min(left + 1, width() - 1);
    const Value v = y - top;
    const Value u = x - left;
    const Value one = Number(1);
    const Value value = At(n, c, top, left) * (one - v) * (one - u) + At(n, c, top, right) * (one - v) * u +
                        At(n, c, bottom, left) * v * (one - u) + At(n, c, bottom, right) * v * u;
    return te::IfThenElse(outside, te_.Const(0, x_.dtype()), te::Cast(x_.dtype(), value));
  }

 private:
  te::Builder& te_;
  const Tensor& x_;
  const Tensor& rois_;
  bool channels_last_;
};

// One side of a region: its start, the length of a bin, and the number of samples in each.
struct SampledSide {
  Value start, bin, samples;
};

}  // namespace

const Expr* LegalizeVisionRoiAlign(LegalizeCall& call) {
  const ROIAlignAttrs attrs(call.call());
  if (attrs.sample_ratio() <= 0) return call.Unchanged("the number of samples depends on the regions");
  const bool last = attrs.layout() == "NHWC";
  const bool average = attrs.mode() == "avg";
  TeCall te(call, "roi_align");
  const Tensor x = te.Arg(0);
  const Tensor rois = te.Arg(1);
  const RegionSampler region(x, rois, last);
  const auto side = [&](Value i, size_t k, Value bin, int64_t bins) {
    const Value scale = region.Number(attrs.spatial_scale());
    const Value start = region.Roi(i, k) * scale;
    const Value whole = region.Roi(i, k + 2) * scale - start;
    const Value length = attrs.aligned() ? whole : te::Max(whole, region.Number(1));
    const Value size = te::Div(length, region.Number(static_cast<double>(bins)));
    return SampledSide{start + te::Cast(rois.dtype(), bin) * size, size, Value(attrs.sample_ratio())};
  };
  const auto place = [&](const SampledSide& s, Value i) {
    return s.start + te::Div((te::Cast(rois.dtype(), i) + region.Number(0.5)) * s.bin,
                             region.Number(static_cast<double>(attrs.sample_ratio())));
  };
  const IntList size = attrs.pooled_size();
  const auto sample = [&](Values i, Values r) {
    const SampledSide rows = side(i[0], 2, i[last ? 1 : 2], size[0]);
    const SampledSide columns = side(i[0], 1, i[last ? 2 : 3], size[1]);
    const Value value = region.Bilinear(region.Batch(i[0]), i[last ? 3 : 1], place(rows, r[0]), place(columns, r[1]));
    const auto count = static_cast<double>(attrs.sample_ratio() * attrs.sample_ratio());
    return average ? te::Div(value, te.Const(count, x.dtype())) : value;
  };
  const te::Shape shape = te.Dims(call.result()->dims.span());
  const te::ReduceAxis loops[] = {{"rh", Value(attrs.sample_ratio())}, {"rw", Value(attrs.sample_ratio())}};
  const auto names = last ? te::PythonAxes({"i", "ph", "pw", "c"}) : te::PythonAxes({"i", "c", "ph", "pw"});
  return te.Finish(
      {te.Reduce("compute", shape, loops, average ? te::Reducer::kSum : te::Reducer::kMax, sample, names)});
}

const Expr* LegalizeVisionRoiPool(LegalizeCall& call) {
  const ROIPoolAttrs attrs(call.call());
  TeCall te(call, "roi_pool");
  const Tensor x = te.Arg(0);
  const Tensor rois = te.Arg(1);
  const RegionSampler region(x, rois, false);
  const IntList size = attrs.pooled_size();
  // The first element of a bin and the one after its last, within the image.
  const auto bounds = [&](Value i, size_t k, Value bin, int64_t bins, Value length) {
    const Value scale = region.Number(attrs.spatial_scale());
    const auto round = [&](Value v) { return ToInt(topi::Floor(v * scale + region.Number(0.5))); };
    const Value first = round(region.Roi(i, k));
    const Value whole = te::Max(round(region.Roi(i, k + 2)) - first + 1, 1);
    const auto real = [&](Value v) { return te::Cast(rois.dtype(), v); };
    const Value step = te::Div(real(whole), region.Number(static_cast<double>(bins)));
    const auto clamp = [&](Value v) { return te::Min(te::Max(v + first, 0), length); };
    return std::pair(clamp(ToInt(topi::Floor(real(bin) * step))), clamp(ToInt(topi::Ceil(real(bin + 1) * step))));
  };
  const auto rows = [&](Values i) { return bounds(i[0], 2, i[2], size[0], x.dim(2)); };
  const auto columns = [&](Values i) { return bounds(i[0], 1, i[3], size[1], x.dim(3)); };
  const auto sample = [&](Values i, Values r) {
    const auto [top, bottom] = rows(i);
    const auto [left, right] = columns(i);
    const Value inside = top <= r[0] && r[0] < bottom && left <= r[1] && r[1] < right;
    return te::IfThenElse(inside, x(region.Batch(i[0]), i[1], r[0], r[1]), te.Infinity(x.dtype()) * -1);
  };
  const te::Shape shape = te.Dims(call.result()->dims.span());
  const te::ReduceAxis loops[] = {{"rh", x.dim(2)}, {"rw", x.dim(3)}};
  const auto names = te::PythonAxes({"i", "c", "ph", "pw"});
  const Tensor pooled = te.Reduce("compute", shape, loops, te::Reducer::kMax, sample, names);
  const auto element = [&](Values i) {
    const auto [top, bottom] = rows(i);
    const auto [left, right] = columns(i);
    return te::IfThenElse(bottom <= top || right <= left, te.Const(0, x.dtype()), pooled(i));
  };
  return te.Finish({te.Compute("compute", shape, element, names)});
}

const Expr* LegalizeVisionMultiboxTransformLoc(LegalizeCall& call) {
  const MultiboxTransformLocAttrs attrs(call.call());
  TeCall te(call, "multibox_transform_loc");
  const Tensor classes = te.Arg(0);
  const Tensor given = te.Arg(1);
  const Tensor anchor = te.Arg(2);
  const DataType dtype = classes.dtype();
  const Value boxes_shape[] = {classes.dim(0), classes.dim(2), 4};
  const Tensor places = topi::Reshape(given, boxes_shape);
  const std::vector<double> variances = attrs.variances();
  const auto number = [&](double value) { return te.Const(value, dtype); };
  const auto decode = [&](Values i) {
    const auto side = [&](size_t k) {  // 0: x, 1: y
      const Value center = (anchor(0, i[1], Value(k)) + anchor(0, i[1], Value(k + 2))) * number(0.5);
      const Value length = anchor(0, i[1], Value(k + 2)) - anchor(0, i[1], Value(k));
      const auto place = [&](size_t n) { return places(i[0], i[1], Value(n)); };
      const Value middle = place(k) * number(variances[k]) * length + center;
      const Value half = number(0.5) * topi::Exp(place(k + 2) * number(variances[k + 2])) * length;
      std::array<Value, 2> ends = {middle - half, middle + half};
      for (Value& end : ends) {
        if (attrs.clip()) end = te::Max(number(0), te::Min(number(1), end));
      }
      return ends;
    };
    const auto y = side(1);
    const auto x = side(0);
    return te::Select(i[2] == 0, y[0], te::Select(i[2] == 1, x[0], te::Select(i[2] == 2, y[1], x[1])));
  };
  const Tensor boxes = te.Compute("multibox_boxes", boxes_shape, decode, te::PythonAxes({"b", "a", "k"}));
  const Tensor softmax = topi::Softmax(classes, 1);
  const Tensor mask =
      topi::Broadcast(softmax, number(attrs.threshold()), "T_greater_equal", [](Value a, Value b) { return a >= b; });
  Tensor scores = topi::Multiply(softmax, topi::Cast(mask, dtype));
  if (!attrs.keep_background()) {
    const Tensor all = scores;
    scores = te.Compute(
        "multibox_scores_bg", all.shape(), [&](Values i) { return te::IfThenElse(i[1] == 0, number(0), all(i)); },
        te::PythonAxes({"b", "c", "n"}));
  }
  return te.Finish({boxes, scores});
}

}  // namespace iropt::legalize
