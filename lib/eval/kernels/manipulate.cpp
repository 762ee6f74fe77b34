// Operators that only move elements. Reshaping shares the bytes; all others are one strided copy: the result is
// traversed in order, and the operand along its strides (0 repeats, a negative one runs backwards).
#include <algorithm>
#include <numeric>

#include "iropt/infer/slice.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "kernel.h"
#include "loop_nest.h"
#include "rearrange.h"

namespace iropt::eval {

namespace {

// The number of elements; -1 on overflow. The product of the other dimensions is bounded also if one is zero: strides
// are computed from it.
int64_t Product(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (dim != 0 && __builtin_mul_overflow(product, dim, &product)) return -1;
  }
  return std::ranges::find(dims, 0) == dims.end() ? product : 0;
}

Result<HostValue> ReshapeTo(const KernelCall& call, const Tensor& x, Shape shape) {
  const auto inferred = std::ranges::find(shape, -1);
  if (inferred != shape.end()) {
    *inferred = 1;
    const int64_t others = Product(shape);
    if (others <= 0 || x->num_elements() % others != 0) return call.Fail("the dimension -1 cannot be computed");
    *inferred = x->num_elements() / others;
  }
  if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; }) || Product(shape) != x->num_elements()) {
    return call.Fail(fmt::format("cannot reshape {} to {}", ShapeText(x->shape()), ShapeText(shape)));
  }
  return HostValue(Reshaped(x, std::move(shape)));
}

// A tensor of shape `out_shape` whose elements are those of `x` from `start` on, along `strides` (in elements) of the
// `extents`, which have the product of `out_shape` but may be split more finely.
Result<HostValue> Gathered(KernelCall& call, const Tensor& x, Shape out_shape, std::span<const int64_t> extents,
                           std::span<const int64_t> strides, int64_t start = 0) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(x->dtype(), std::move(out_shape)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const size_t size = static_cast<size_t>(x->dtype().bytes());
  StridedCopy(out->mutable_data(), RowMajorStrides(extents), x->data() + start * static_cast<int64_t>(size), strides,
              extents, size);
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalReshape(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(Shape shape, call.ShapeArg(1));
  return ReshapeTo(call, x, std::move(shape));
}

Result<HostValue> EvalFlatten(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  return ReshapeTo(call, x, {x->num_elements()});
}

Result<HostValue> EvalBatchFlatten(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const std::span<const int64_t> shape = x->shape();
  if (shape.size() < 2) return call.Fail("expects a tensor of rank 2 or more");
  return ReshapeTo(call, x, {shape[0], Product(shape.subspan(1))});
}

// Blocks of factor * factor channels become blocks of the image.
Result<HostValue> EvalPixelShuffle(KernelCall& call) {
  const int64_t factor = call.attrs<PixelShuffleAttrs>().upscale_factor();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const std::span<const int64_t> shape = x->shape();
  if (shape.size() < 3 || factor <= 0) return call.Fail("expects an image and a positive factor");
  const size_t channel = shape.size() - 3;
  int64_t square;
  if (__builtin_mul_overflow(factor, factor, &square) || shape[channel] % square != 0)
    return call.Fail("the square of the factor does not divide the channels");
  Shape split(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(channel));
  Shape out = split;
  const int64_t channels = shape[channel] / square;
  split.insert(split.end(), {channels, factor, factor, shape[channel + 1], shape[channel + 2]});
  out.insert(out.end(), {channels, shape[channel + 1] * factor, shape[channel + 2] * factor});
  Shape axes(channel + 1);
  std::iota(axes.begin(), axes.end(), 0);
  for (const size_t axis : {3, 1, 4, 2}) axes.push_back(static_cast<int64_t>(channel + axis));
  IROPT_ASSIGN_OR_RETURN(const Tensor blocks, Permute(call, Reshaped(x, split), axes));
  return HostValue(Reshaped(blocks, out));
}

Result<HostValue> EvalExpandDims(KernelCall& call) {
  const auto attrs = call.attrs<ExpandDimsAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const Shape listed = attrs.axis().vector();
  const size_t rank = x->shape().size() + listed.size();
  IROPT_ASSIGN_OR_RETURN(const Shape axes, NormalizeAxes(call, listed, rank));
  Shape shape(rank, 0);
  for (const int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, static_cast<int64_t>(i)) == axes.end()) shape[i] = x->shape()[next++];
  }
  return ReshapeTo(call, x, std::move(shape));
}

Result<HostValue> EvalSqueeze(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  Shape axes;
  const auto listed = call.attrs<SqueezeAttrs>().axis();
  if (listed) {
    IROPT_ASSIGN_OR_RETURN(axes, NormalizeAxes(call, listed->vector(), x->shape().size()));
  }
  Shape shape;
  for (size_t i = 0; i < x->shape().size(); ++i) {
    const int64_t dim = x->shape()[i];
    const bool drop = listed ? std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end() : dim == 1;
    if (drop && dim != 1) return call.Fail(fmt::format("cannot squeeze a dimension of {}", dim));
    if (!drop) shape.push_back(dim);
  }
  return ReshapeTo(call, x, std::move(shape));
}

Result<HostValue> EvalPermuteDims(KernelCall& call) {
  const auto attrs = call.attrs<PermuteDimsAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const size_t rank = x->shape().size();
  Shape axes(rank);
  if (const auto given = attrs.axes()) {
    IROPT_ASSIGN_OR_RETURN(axes, NormalizeAxes(call, given->vector(), rank));
    if (axes.size() != rank) return call.Fail(fmt::format("{} axes for a tensor of rank {}", axes.size(), rank));
  } else {
    for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(rank - 1 - i);
  }
  IROPT_ASSIGN_OR_RETURN(Tensor permuted, Permute(call, x, axes));
  return HostValue(std::move(permuted));
}

Result<HostValue> EvalBroadcastTo(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Shape shape, call.ShapeArg(1));
  IROPT_ASSIGN_OR_RETURN(const Shape common, BroadcastShapes(call, x->shape(), shape));
  if (common != shape)
    return call.Fail(fmt::format("shape {} does not broadcast to {}", ShapeText(x->shape()), ShapeText(shape)));
  return Gathered(call, x, shape, shape, BroadcastStrides(x->shape(), shape));
}

Result<HostValue> EvalTile(KernelCall& call) {
  const auto attrs = call.attrs<TileAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  Shape repeats = attrs.repeats().vector();
  if (std::ranges::any_of(repeats, [](int64_t r) { return r < 0; }))
    return call.Fail("a number of repeats is negative");
  Shape dims = ShapeOf(*x);
  const size_t rank = std::max(dims.size(), repeats.size());
  dims.insert(dims.begin(), rank - dims.size(), 1);
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  const Shape from = RowMajorStrides(dims);
  Shape shape;
  Shape extents;
  Shape strides;
  for (size_t i = 0; i < rank; ++i) {
    int64_t length;
    if (__builtin_mul_overflow(dims[i], repeats[i], &length)) return call.Fail("too many repeats");
    shape.push_back(length);
    extents.insert(extents.end(), {repeats[i], dims[i]});
    strides.insert(strides.end(), {0, from[i]});
  }
  return Gathered(call, x, std::move(shape), extents, strides);
}

Result<HostValue> EvalRepeat(KernelCall& call) {
  const auto attrs = call.attrs<RepeatAttrs>();
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  const auto repeats = attrs.repeats();
  int64_t axis = 0;
  if (const auto given = attrs.axis()) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, *given, x->shape().size()));
  } else {
    x = Reshaped(x, {x->num_elements()});
  }
  const size_t at = static_cast<size_t>(axis);
  Shape shape = ShapeOf(*x);
  if (repeats < 0 || __builtin_mul_overflow(shape[at], repeats, &shape[at]))
    return call.Fail("the number of repeats is out of range");
  Shape extents = ShapeOf(*x);
  Shape strides = RowMajorStrides(extents);
  extents.insert(extents.begin() + axis + 1, repeats);
  strides.insert(strides.begin() + axis + 1, 0);
  return Gathered(call, x, std::move(shape), extents, strides);
}

Result<HostValue> EvalFlip(KernelCall& call) {
  const auto attrs = call.attrs<FlipAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const auto given = attrs.axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const Shape shape = ShapeOf(*x);
  Shape strides = RowMajorStrides(shape);
  int64_t& stride = strides[static_cast<size_t>(axis)];
  const int64_t last = std::max<int64_t>(shape[static_cast<size_t>(axis)] - 1, 0) * stride;
  stride = -stride;
  return Gathered(call, x, shape, shape, strides, last);
}

Result<HostValue> EvalConcat(KernelCall& call) {
  const auto attrs = call.attrs<ConcatAttrs>();
  IROPT_ASSIGN_OR_RETURN(std::vector<Tensor> parts, call.TensorsArg(0));
  if (parts.empty()) return call.Fail("nothing to concatenate");
  int64_t axis = 0;
  if (const auto given = attrs.axis()) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, *given, parts[0]->shape().size()));
  } else {
    for (Tensor& part : parts) part = Reshaped(part, {part->num_elements()});
  }
  const size_t at = static_cast<size_t>(axis);
  Shape shape = ShapeOf(*parts[0]);
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape expected = shape;
    if (part->shape().size() == shape.size()) expected[at] = part->shape()[at];
    if (part->dtype() != parts[0]->dtype() || ShapeOf(*part) != expected)
      return call.Fail("the tensors do not fit together");
    shape[at] += part->shape()[at];
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(parts[0]->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const size_t size = static_cast<size_t>(out->dtype().bytes());
  const Shape strides = RowMajorStrides(shape);
  std::byte* place = out->mutable_data();
  for (const Tensor& part : parts) {
    StridedCopy(place, strides, part->data(), RowMajorStrides(part->shape()), part->shape(), size);
    place += part->shape()[at] * strides[at] * static_cast<int64_t>(size);
  }
  return HostValue(Tensor(out));
}

namespace {

// The starts of the pieces of a split, and the end of the last.
Result<Shape> SplitPoints(const KernelCall& call, int64_t length) {
  const auto pieces = call.attrs<SplitAttrs>().indices_or_sections();
  Shape points{0};
  if (pieces.is_list) {
    for (const int64_t index : pieces) {
      const int64_t point = std::clamp<int64_t>(index, 0, length);
      if (point < points.back()) return call.Fail("the indices do not ascend");
      points.push_back(point);
    }
  } else {
    const int64_t sections = pieces[0];
    if (sections <= 0 || sections - 1 > length) return call.Fail("the number of sections is out of range");
    const int64_t piece = (length + sections - 1) / sections;
    if (piece * (sections - 1) > length)
      return call.Fail(fmt::format("{} elements do not split into {} pieces", length, sections));
    for (int64_t i = 1; i < sections; ++i) points.push_back(i * piece);
  }
  points.push_back(length);
  return points;
}

}  // namespace

Result<HostValue> EvalSplit(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const int64_t given = call.attrs<SplitAttrs>().axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const size_t at = static_cast<size_t>(axis);
  IROPT_ASSIGN_OR_RETURN(const Shape points, SplitPoints(call, x->shape()[at]));
  const Shape strides = RowMajorStrides(x->shape());
  TupleValue pieces;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    Shape shape = ShapeOf(*x);
    shape[at] = points[i + 1] - points[i];
    IROPT_ASSIGN_OR_RETURN(HostValue piece, Gathered(call, x, shape, shape, strides, points[i] * strides[at]));
    pieces.fields.push_back(std::move(piece));
  }
  return HostValue(std::move(pieces));
}

namespace {

Result<HostValue> Slice(KernelCall& call, const Tensor& x, std::span<const int64_t> axes, const Shape& begin,
                        const Shape& end, const Shape& steps) {
  if (begin.size() != axes.size() || end.size() != axes.size() || steps.size() != axes.size()) {
    return call.Fail("axes, begin, end and strides differ in length");
  }
  Shape shape = ShapeOf(*x);
  Shape strides = RowMajorStrides(shape);
  int64_t start = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t at = static_cast<size_t>(axes[i]);
    if (steps[i] == 0) return call.Fail("a stride is 0");
    const SliceRange range = RangeOfSlice(begin[i], end[i], steps[i], shape[at]);
    if (range.length > 0) start += range.first * strides[at];
    shape[at] = range.length;
    // With one element the stride is never taken; it might overflow.
    strides[at] = range.length > 1 ? strides[at] * steps[i] : 0;
  }
  return Gathered(call, x, shape, shape, strides, start);
}

}  // namespace

Result<HostValue> EvalStridedSlice(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Shape listed, call.IntsArg(1));
  IROPT_ASSIGN_OR_RETURN(const Shape axes, NormalizeAxes(call, listed, x->shape().size()));
  IROPT_ASSIGN_OR_RETURN(const Shape begin, call.IntsArg(2));
  IROPT_ASSIGN_OR_RETURN(const Shape end, call.IntsArg(3));
  Shape steps(axes.size(), 1);
  if (call.num_args() > 4) {
    IROPT_ASSIGN_OR_RETURN(steps, call.IntsArg(4));
  }
  return Slice(call, x, axes, begin, end, steps);
}

Result<HostValue> EvalDynamicStridedSlice(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  std::array<Shape, 3> ends;
  for (size_t i = 0; i < ends.size(); ++i) {
    IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(i + 1));
    IROPT_ASSIGN_OR_RETURN(ends[i], IntElements(call, *tensor));
    if (ends[i].size() != x->shape().size()) return call.Fail("begin, end and strides must cover every dimension");
  }
  Shape axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  return Slice(call, x, axes, ends[0], ends[1], ends[2]);
}

namespace {

// The scalar of the pad value in the dtype of the tensor that is padded.
Result<Tensor> PadValue(KernelCall& call, DataType dtype) {
  if (call.num_args() < 2)
    return MakeScalarTensor(dtype.is_floating() ? Scalar::Float(0, dtype) : Scalar::Int(0, dtype));
  IROPT_ASSIGN_OR_RETURN(const Tensor given, call.TensorArg(1));
  if (given->num_elements() != 1) return call.Fail("the pad value is not a scalar");
  return CastTensor(call, given, dtype);
}

}  // namespace

namespace {

int64_t FloorModulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// The place in a dimension of `length` whose element a place outside of it gets.
int64_t ReflectedPlace(int64_t at, int64_t length) {
  if (length == 1) return 0;
  const int64_t period = 2 * (length - 1);
  const int64_t place = FloorModulo(at, period);
  return place < length ? place : period - place;
}
int64_t ReplicatedPlace(int64_t at, int64_t length) { return std::clamp<int64_t>(at, 0, length - 1); }
int64_t CircularPlace(int64_t at, int64_t length) { return FloorModulo(at, length); }

using PadPlace = int64_t (*)(int64_t at, int64_t length);

PadPlace PlaceOf(std::string_view mode) {
  if (mode == "reflect") return ReflectedPlace;
  if (mode == "replicate") return ReplicatedPlace;
  return mode == "circular" ? CircularPlace : nullptr;
}

// Padding with elements of the tensor.
Result<HostValue> PadWithElements(KernelCall& call, const Tensor& x, const Shape& widths, const Shape& shape,
                                  PadPlace place) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(x->dtype(), shape));
  if (out->num_elements() == 0) return HostValue(Tensor(out));
  if (x->num_elements() == 0) return call.Fail("the operand has no element to pad with");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const Shape strides = RowMajorStrides(x->shape());
  const auto size = static_cast<size_t>(x->dtype().bytes());
  std::byte* to = out->mutable_data();
  ForEachIndex(shape, [&](const Shape& index) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += place(index[i] - widths[2 * i], x->shape()[i]) * strides[i];
    std::memcpy(to, x->data() + static_cast<size_t>(at) * size, size);
    to += size;
  });
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalPad(KernelCall& call) {
  const auto attrs = call.attrs<PadAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const Shape widths = attrs.pad_width().vector();
  const PadPlace place = PlaceOf(attrs.pad_mode());
  if (place == nullptr && attrs.pad_mode() != "constant")
    return call.Fail(
        fmt::format("unknown pad mode '{}': expected constant, reflect, replicate or circular", attrs.pad_mode()));
  const size_t rank = x->shape().size();
  if (widths.size() != 2 * rank) return call.Fail("expects two pad widths for each dimension");
  if (!IsElementType(x->dtype())) return call.UnsupportedDType(x->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor fill, PadValue(call, x->dtype()));
  Shape shape = ShapeOf(*x);
  for (size_t i = 0; i < rank; ++i) {
    if (widths[2 * i] < 0 || widths[2 * i + 1] < 0 || __builtin_add_overflow(shape[i], widths[2 * i], &shape[i]) ||
        __builtin_add_overflow(shape[i], widths[2 * i + 1], &shape[i])) {
      return call.Fail("a pad width is out of range");
    }
  }
  if (place != nullptr) return PadWithElements(call, x, widths, shape, place);
  const Shape zeros(rank, 0);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  const Shape strides = RowMajorStrides(shape);
  const size_t size = static_cast<size_t>(out->dtype().bytes());
  StridedCopy(out->mutable_data(), strides, fill->data(), zeros, shape, size);
  int64_t start = 0;
  for (size_t i = 0; i < rank; ++i) start += widths[2 * i] * strides[i];
  if (x->num_elements() == 0) return HostValue(Tensor(out));
  StridedCopy(out->mutable_data() + start * static_cast<int64_t>(size), strides, x->data(), RowMajorStrides(x->shape()),
              x->shape(), size);
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
