// Boxes in images: the selection of valid ones, their decoding, and the suppression of those that overlap better ones.
// Boxes of float64 are computed in it, others in float32.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "elementwise.h"
#include "iropt/op/ops/vision.h"
#include "kernel.h"
#include "numeric.h"

namespace iropt::eval {

namespace {

// Boxes in the format that they are computed in, float or double: (batch, anchors, elements).
template <class R>
struct Boxes {
  DataType dtype;
  Tensor tensor;
  int64_t batch = 0;
  int64_t anchors = 0;
  int64_t elements = 0;

  const R* At(int64_t b, int64_t i) const { return tensor->As<R>().data() + (b * anchors + i) * elements; }
};

using OutTensor = std::shared_ptr<NDArray>;

template <class R>
constexpr DataType kFormat = DataType::Float(8 * static_cast<int>(sizeof(R)));

// Calls the function with an object of the format for boxes of the dtype of the operand.
template <class F>
Result<HostValue> InFormatOf(const KernelCall& call, size_t operand, F&& f) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(operand));
  return x->dtype() == kFormat<double> ? f(std::type_identity<double>()) : f(std::type_identity<float>());
}

template <class R>
Result<Boxes<R>> ReadBoxes(KernelCall& call, size_t operand) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(operand));
  if (!x->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  if (x->shape().size() != 3) return call.Fail("the boxes must have rank 3");
  IROPT_ASSIGN_OR_RETURN(Tensor wide, CastTensor(call, x, kFormat<R>));
  return Boxes<R>{x->dtype(), std::move(wide), x->shape()[0], x->shape()[1], x->shape()[2]};
}

template <class R>
bool IsElement(const Boxes<R>& boxes, int64_t index) {
  return index >= 0 && index < boxes.elements;
}

// Intersection over union of two boxes, which are given by two corners in any order.
template <class R>
R Overlap(const R* a, const R* b) {
  const auto side = [&](size_t i) {
    const R a0 = std::min(a[i], a[i + 2]);
    const R a1 = std::max(a[i], a[i + 2]);
    const R b0 = std::min(b[i], b[i + 2]);
    const R b1 = std::max(b[i], b[i + 2]);
    return std::array{std::max(R(0), std::min(a1, b1) - std::max(a0, b0)), a1 - a0, b1 - b0};
  };
  const auto width = side(0);
  const auto height = side(1);
  const R common = width[0] * height[0];
  const R all = width[1] * height[1] + width[2] * height[2] - common;
  return all <= 0 ? 0 : common / all;
}

Result<OutTensor> FilledInts(KernelCall& call, Shape shape, int32_t value) {
  IROPT_ASSIGN_OR_RETURN(OutTensor out, call.Allocate(DataType::Int(32), std::move(shape)));
  std::ranges::fill(out->MutableAs<int32_t>(), value);
  return out;
}

Result<HostValue> TupleOf(KernelCall& call, std::initializer_list<std::pair<Tensor, DataType>> tensors) {
  TupleValue result;
  for (const auto& [tensor, dtype] : tensors) {
    IROPT_ASSIGN_OR_RETURN(Tensor cast, CastTensor(call, tensor, dtype));
    result.fields.emplace_back(std::move(cast));
  }
  return HostValue(std::move(result));
}

constexpr DataType kIndex = DataType::Int(32);

// Moves the boxes above the threshold to the front; the rest is -1.
template <class R>
Result<HostValue> GetValidCounts(KernelCall& call) {
  const auto attrs = call.attrs<GetValidCountsAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> x, ReadBoxes<R>(call, 0));
  if (!IsElement(x, attrs.score_index()) || (attrs.id_index() >= 0 && !IsElement(x, attrs.id_index())))
    return call.Fail("an index is not one of an element of a box");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x.tensor->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const OutTensor counts, FilledInts(call, {x.batch}, 0));
  IROPT_ASSIGN_OR_RETURN(const OutTensor indices, FilledInts(call, {x.batch, x.anchors}, -1));
  IROPT_ASSIGN_OR_RETURN(const OutTensor out, call.Allocate(kFormat<R>, ShapeOf(*x.tensor)));
  std::ranges::fill(out->MutableAs<R>(), R(-1));
  const auto threshold = static_cast<R>(attrs.score_threshold());
  for (int64_t b = 0; b < x.batch; ++b) {
    int32_t& count = counts->MutableAs<int32_t>()[static_cast<size_t>(b)];
    for (int64_t i = 0; i < x.anchors; ++i) {
      const R* box = x.At(b, i);
      if (!(box[attrs.score_index()] > threshold) || (attrs.id_index() >= 0 && !(box[attrs.id_index()] >= 0))) continue;
      const int64_t at = b * x.anchors + count++;
      std::copy(box, box + x.elements, out->MutableAs<R>().begin() + at * x.elements);
      indices->MutableAs<int32_t>()[static_cast<size_t>(at)] = static_cast<int32_t>(i);
    }
  }
  return TupleOf(call, {{counts, kIndex}, {out, x.dtype}, {indices, kIndex}});
}

}  // namespace

Result<HostValue> EvalGetValidCounts(KernelCall& call) {
  return InFormatOf(call, 0, [&]<class R>(std::type_identity<R>) { return GetValidCounts<R>(call); });
}

namespace {

// The suppression within one image. `order` are the boxes that are left, by descending score.
template <class R>
class Suppression {
 public:
  Suppression(const NonMaximumSuppressionAttrs& attrs, const Boxes<R>& boxes, int64_t batch, std::vector<int64_t> order)
      : attrs_(attrs), elements_(boxes.elements), threshold_(soft() ? Rounded(attrs.score_threshold()) : 0) {
    for (const int64_t i : order) {
      const R* box = boxes.At(batch, i);
      boxes_.insert(boxes_.end(), box, box + elements_);
    }
    indices_ = std::move(order);
  }

  // Keeps the best boxes first; returns their number.
  size_t RunSoft() {
    size_t kept = 0;
    const R scale = Rounded(-0.5 / attrs_.soft_nms_sigma());
    while (MayKeep(kept)) {
      size_t best = indices_.size();
      for (size_t i = kept; i < indices_.size(); ++i) {
        const bool better = best == indices_.size() ? Score(i) > threshold_ : Score(i) > Score(best);
        if (indices_[i] >= 0 && better) best = i;
      }
      if (best == indices_.size()) break;
      std::swap(indices_[best], indices_[kept]);
      if (best != kept) std::swap_ranges(Box(best), Box(best) + elements_, Box(kept));
      for (size_t i = kept + 1; i < indices_.size(); ++i) {
        if (indices_[i] < 0 || !(Score(i) > threshold_) || !SameClass(kept, i)) continue;
        const R overlap = OverlapOf(kept, i);
        if (overlap < Rounded(attrs_.iou_threshold())) Score(i) *= std::exp(scale * overlap * overlap);
        if (overlap >= Rounded(attrs_.iou_threshold()) || Score(i) <= threshold_) indices_[i] = -1;
      }
      ++kept;
    }
    return kept;
  }

  // Marks the boxes that are suppressed.
  void RunHard() {
    size_t kept = 0;
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (!(Score(i) > threshold_) || !MayKeep(kept)) {
        std::fill_n(Box(i), elements_, R(-1));
        indices_[i] = -1;
        continue;
      }
      ++kept;
      for (size_t k = i + 1; k < indices_.size(); ++k) {
        if (!(Score(k) > threshold_) || !SameClass(i, k)) continue;
        if (OverlapOf(i, k) < Rounded(attrs_.iou_threshold())) continue;
        Score(k) = -1;
        indices_[k] = -1;
      }
    }
  }

  bool soft() const { return attrs_.soft_nms_sigma() > 0; }
  R* Box(size_t i) { return boxes_.data() + static_cast<int64_t>(i) * elements_; }
  R& Score(size_t i) { return Box(i)[attrs_.score_index()]; }
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  static R Rounded(double value) { return static_cast<R>(value); }
  bool MayKeep(size_t kept) const {
    return kept < indices_.size() &&
           (attrs_.max_output_size() <= 0 || static_cast<int64_t>(kept) < attrs_.max_output_size());
  }
  bool SameClass(size_t a, size_t b) {
    const int64_t id = attrs_.id_index();
    return attrs_.force_suppress() || id < 0 || Box(a)[id] == Box(b)[id];
  }
  R OverlapOf(size_t a, size_t b) { return Overlap(Box(a) + attrs_.coord_start(), Box(b) + attrs_.coord_start()); }

  const NonMaximumSuppressionAttrs attrs_;
  int64_t elements_;
  R threshold_;
  std::vector<R> boxes_;
  std::vector<int64_t> indices_;  // in the input; -1 if suppressed
};

// The results of all images.
struct NmsResults {
  OutTensor data, indices, counts;
};

// The boxes of an image by descending score: as many as are valid, and at most top_k.
template <class R>
Result<std::vector<int64_t>> OrderBoxes(const KernelCall& call, const NonMaximumSuppressionAttrs& attrs,
                                        const Boxes<R>& boxes, int64_t batch, int64_t valid) {
  if (valid < 0 || valid > boxes.anchors) return call.Fail("the number of valid boxes is out of range");
  std::vector<int64_t> order(static_cast<size_t>(valid));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return boxes.At(batch, a)[attrs.score_index()] > boxes.At(batch, b)[attrs.score_index()];
  });
  if (attrs.top_k() > 0 && attrs.top_k() < valid) order.resize(static_cast<size_t>(attrs.top_k()));
  return order;
}

template <class R>
void StoreImage(const NonMaximumSuppressionAttrs& attrs, Suppression<R>& image, std::span<const int64_t> given,
                int64_t batch, const NmsResults& out) {
  const int64_t anchors = out.indices->shape()[1];
  const int64_t elements = out.data->shape()[2];
  const size_t kept = image.soft() ? image.RunSoft() : image.indices().size();
  if (!image.soft()) image.RunHard();
  R* data = out.data->MutableAs<R>().data() + batch * anchors * elements;
  int32_t* indices = out.indices->MutableAs<int32_t>().data() + batch * anchors;
  int32_t count = 0;
  for (size_t i = 0; i < kept; ++i) {
    const int64_t index = image.indices()[i];
    if (index >= 0) indices[count++] = static_cast<int32_t>(given[static_cast<size_t>(index)]);
    if (attrs.invalid_to_bottom() && !attrs.return_indices() && image.Score(i) < 0) continue;
    data = std::copy(image.Box(i), image.Box(i) + elements, data);
  }
  out.counts->MutableAs<int32_t>()[static_cast<size_t>(batch)] = count;
}

template <class R>
Result<HostValue> NonMaxSuppression(KernelCall& call) {
  const auto attrs = call.attrs<NonMaximumSuppressionAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> x, ReadBoxes<R>(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor counts, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(2));
  if (!IsElement(x, attrs.score_index()) || !IsElement(x, attrs.coord_start()) ||
      !IsElement(x, attrs.coord_start() + 3) || (attrs.id_index() >= 0 && !IsElement(x, attrs.id_index())))
    return call.Fail("an index is not one of an element of a box");
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> valid, IntElements(call, *counts));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> given, IntElements(call, *indices));
  if (static_cast<int64_t>(valid.size()) != x.batch || static_cast<int64_t>(given.size()) != x.batch * x.anchors)
    return call.Fail("the counts or indices do not fit the boxes");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x.batch * x.anchors) * static_cast<uint64_t>(x.anchors)));
  NmsResults out;
  IROPT_ASSIGN_OR_RETURN(out.data, call.Allocate(kFormat<R>, ShapeOf(*x.tensor)));
  std::ranges::fill(out.data->MutableAs<R>(), R(-1));
  IROPT_ASSIGN_OR_RETURN(out.indices, FilledInts(call, {x.batch, x.anchors}, -1));
  IROPT_ASSIGN_OR_RETURN(out.counts, FilledInts(call, {x.batch, 1}, 0));
  for (int64_t b = 0; b < x.batch; ++b) {
    IROPT_ASSIGN_OR_RETURN(std::vector<int64_t> order, OrderBoxes(call, attrs, x, b, valid[static_cast<size_t>(b)]));
    Suppression<R> image(attrs, x, b, std::move(order));
    StoreImage(attrs, image, std::span(given).subspan(static_cast<size_t>(b * x.anchors)), b, out);
  }
  if (!attrs.return_indices()) {
    IROPT_ASSIGN_OR_RETURN(Tensor result, CastTensor(call, out.data, x.dtype));
    return HostValue(std::move(result));
  }
  if (attrs.soft_nms_sigma() > 0)
    return TupleOf(call, {{out.data, x.dtype}, {out.indices, kIndex}, {out.counts, kIndex}});
  return TupleOf(call, {{out.indices, kIndex}, {out.counts, kIndex}});
}

}  // namespace

Result<HostValue> EvalNonMaxSuppression(KernelCall& call) {
  return InFormatOf(call, 0, [&]<class R>(std::type_identity<R>) { return NonMaxSuppression<R>(call); });
}

namespace {

template <class R>
struct AllClassArgs {
  int64_t most = 0;
  R overlap = 0;
  R score = 0;
};

template <class R>
Result<AllClassArgs<R>> ReadAllClassArgs(KernelCall& call) {
  AllClassArgs<R> args;
  std::array<double, 3> numbers{};
  for (size_t i = 0; i < 3; ++i) {
    IROPT_ASSIGN_OR_RETURN(const Tensor t, call.TensorArg(2 + i));
    if (t->num_elements() != 1) return call.Fail("a limit is not a single number");
    IROPT_ASSIGN_OR_RETURN(const Tensor number, CastTensor(call, t, DataType::Float(64)));
    numbers[i] = number->As<double>()[0];
  }
  if (std::isnan(numbers[0])) return call.Fail("the number of boxes is not a number");
  // No tensor has more boxes than this.
  args.most = static_cast<int64_t>(std::clamp(numbers[0], 0.0, 0x1p62));
  args.overlap = static_cast<R>(numbers[1]);
  args.score = static_cast<R>(numbers[2]);
  return args;
}

// The boxes that are selected for a class of an image, by descending score. As in TVM, which gives suppressed boxes the
// score -1, those of a score up to that are never selected, and those of a score up to 0 never suppressed.
template <class R>
std::vector<int64_t> SelectBoxes(const AllClassArgs<R>& args, const Boxes<R>& boxes, int64_t batch, const R* scores) {
  std::vector<int64_t> order(static_cast<size_t>(boxes.anchors));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> selected;
  for (const int64_t i : order) {
    if (!(scores[i] > std::max(args.score, R(-1))) || static_cast<int64_t>(selected.size()) >= args.most ||
        args.overlap <= 0)
      break;
    const bool covered = scores[i] > 0 && std::ranges::any_of(selected, [&](int64_t k) {
                           return Overlap(boxes.At(batch, k), boxes.At(batch, i)) >= args.overlap;
                         });
    if (!covered) selected.push_back(i);
  }
  return selected;
}

// Rows after the selected ones are 0.
template <class R>
Result<HostValue> AllClassNonMaxSuppression(KernelCall& call) {
  const bool onnx = call.attrs<AllClassNonMaximumSuppressionAttrs>().output_format() == "onnx";
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> boxes, ReadBoxes<R>(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> scores, ReadBoxes<R>(call, 1));
  IROPT_ASSIGN_OR_RETURN(const AllClassArgs<R> args, ReadAllClassArgs<R>(call));
  const int64_t classes = scores.anchors;
  if (scores.batch != boxes.batch || scores.elements != boxes.anchors || boxes.elements != 4)
    return call.Fail("the scores do not fit the boxes");
  const int64_t rows = boxes.batch * classes * boxes.anchors;
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(rows) * static_cast<uint64_t>(boxes.anchors)));
  const int64_t per_image = classes * boxes.anchors;
  const Shape shape = onnx ? Shape{rows, 3} : Shape{boxes.batch, per_image, 2};
  IROPT_ASSIGN_OR_RETURN(const OutTensor indices, call.Allocate(DataType::Int(64), shape));
  IROPT_ASSIGN_OR_RETURN(const OutTensor values, call.Allocate(kFormat<R>, {boxes.batch, per_image}));
  IROPT_ASSIGN_OR_RETURN(const OutTensor counts, call.Allocate(DataType::Int(64), {onnx ? 1 : boxes.batch}));
  for (int64_t b = 0; b < boxes.batch; ++b) {
    int64_t& count = counts->MutableAs<int64_t>()[static_cast<size_t>(onnx ? 0 : b)];
    for (int64_t c = 0; c < classes; ++c) {
      const R* of_class = scores.At(b, c);
      for (const int64_t i : SelectBoxes(args, boxes, b, of_class)) {
        int64_t* row = indices->MutableAs<int64_t>().data() + (onnx ? count * 3 : (b * per_image + count) * 2);
        if (onnx) *row++ = b;
        *row++ = c;
        *row = i;
        if (!onnx) values->MutableAs<R>()[static_cast<size_t>(b * per_image + count)] = of_class[i];
        ++count;
      }
    }
  }
  constexpr DataType kLong = DataType::Int(64);
  if (onnx) return TupleOf(call, {{indices, kLong}, {counts, kLong}});
  return TupleOf(call, {{indices, kLong}, {values, DataType::Float(32)}, {counts, kLong}});
}

}  // namespace

Result<HostValue> EvalAllClassNonMaxSuppression(KernelCall& call) {
  return InFormatOf(call, 0, [&]<class R>(std::type_identity<R>) { return AllClassNonMaxSuppression<R>(call); });
}

namespace {

// (ymin, xmin, ymax, xmax) of an anchor (left, top, right, bottom) that is moved and scaled by (x, y, w, h).
template <class R>
void DecodeBox(const MultiboxTransformLocAttrs& attrs, std::span<const R> variances, const R* place, const R* anchor,
               R* box) {
  const R center[] = {(anchor[1] + anchor[3]) * R(0.5), (anchor[0] + anchor[2]) * R(0.5)};
  const R length[] = {anchor[3] - anchor[1], anchor[2] - anchor[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t i = 1 - axis;
    const R middle = place[i] * variances[i] * length[axis] + center[axis];
    const R half = R(0.5) * std::exp(place[2 + i] * variances[2 + i]) * length[axis];
    box[axis] = middle - half;
    box[axis + 2] = middle + half;
  }
  if (!attrs.clip()) return;
  for (size_t i = 0; i < 4; ++i) box[i] = std::max(R(0), std::min(R(1), box[i]));
}

// The softmax over the classes of one anchor, of which those below the threshold are 0.
template <class R>
void NormalizeScores(const MultiboxTransformLocAttrs& attrs, int64_t classes, int64_t step, const R* in, R* out) {
  R greatest = in[0];
  for (int64_t c = 1; c < classes; ++c) greatest = std::max(greatest, in[c * step]);
  R sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += out[c * step] = std::exp(in[c * step] - greatest);
  for (int64_t c = 0; c < classes; ++c) {
    R& score = out[c * step];
    score /= sum;
    if (score < static_cast<R>(attrs.threshold()) || (c == 0 && !attrs.keep_background())) score = 0;
  }
}

template <class R>
Result<HostValue> MultiboxTransformLoc(KernelCall& call) {
  const auto attrs = call.attrs<MultiboxTransformLocAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> classes, ReadBoxes<R>(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor given, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor places, CastTensor(call, given, kFormat<R>));
  IROPT_ASSIGN_OR_RETURN(const Boxes<R> anchors, ReadBoxes<R>(call, 2));
  const int64_t number = classes.elements;
  const std::vector<double> wide = attrs.variances();
  const std::vector<R> variances(wide.begin(), wide.end());
  if (variances.size() != 4 || anchors.batch != 1 || anchors.anchors != number || anchors.elements != 4 ||
      places->num_elements() != classes.batch * number * 4)
    return call.Fail("the boxes do not fit the anchors");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(classes.tensor->num_elements()) * 4));
  IROPT_ASSIGN_OR_RETURN(const OutTensor boxes, call.Allocate(kFormat<R>, {classes.batch, number, 4}));
  IROPT_ASSIGN_OR_RETURN(const OutTensor scores, call.Allocate(kFormat<R>, ShapeOf(*classes.tensor)));
  for (int64_t b = 0; b < classes.batch; ++b) {
    for (int64_t i = 0; i < number; ++i) {
      const int64_t at = (b * number + i) * 4;
      DecodeBox<R>(attrs, variances, places->As<R>().data() + at, anchors.At(0, i), boxes->MutableAs<R>().data() + at);
      if (classes.anchors == 0) continue;
      R* out = scores->MutableAs<R>().data() + b * classes.anchors * number + i;
      NormalizeScores(attrs, classes.anchors, number, classes.At(b, 0) + i, out);
    }
  }
  return TupleOf(call, {{boxes, classes.dtype}, {scores, classes.dtype}});
}

}  // namespace

Result<HostValue> EvalMultiboxTransformLoc(KernelCall& call) {
  return InFormatOf(call, 0, [&]<class R>(std::type_identity<R>) { return MultiboxTransformLoc<R>(call); });
}

}  // namespace iropt::eval
