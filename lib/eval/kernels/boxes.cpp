// Boxes in images: the selection of valid ones, their decoding, and the suppression of those that overlap better ones.
// Boxes are computed in float32.
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

// Boxes in float32: (batch, anchors, elements).
struct Boxes {
  DataType dtype;
  Tensor tensor;
  int64_t batch = 0;
  int64_t anchors = 0;
  int64_t elements = 0;

  const float* At(int64_t b, int64_t i) const { return tensor->As<float>().data() + (b * anchors + i) * elements; }
};

Result<Boxes> ReadBoxes(KernelCall& call, size_t operand) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(operand));
  if (!x->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  if (x->shape().size() != 3) return call.Fail("the boxes must have rank 3");
  IROPT_ASSIGN_OR_RETURN(Tensor wide, CastTensor(call, x, DataType::Float(32)));
  return Boxes{x->dtype(), std::move(wide), x->shape()[0], x->shape()[1], x->shape()[2]};
}

bool IsElement(const Boxes& boxes, int64_t index) { return index >= 0 && index < boxes.elements; }

// Intersection over union of two boxes, which are given by two corners in any order.
float Overlap(const float* a, const float* b) {
  const auto side = [&](size_t i) {
    const float a0 = std::min(a[i], a[i + 2]);
    const float a1 = std::max(a[i], a[i + 2]);
    const float b0 = std::min(b[i], b[i + 2]);
    const float b1 = std::max(b[i], b[i + 2]);
    return std::array{std::max(0.0f, std::min(a1, b1) - std::max(a0, b0)), a1 - a0, b1 - b0};
  };
  const auto width = side(0);
  const auto height = side(1);
  const float common = width[0] * height[0];
  const float all = width[1] * height[1] + width[2] * height[2] - common;
  return all <= 0 ? 0 : common / all;
}

Result<std::shared_ptr<NDArray>> FilledInts(KernelCall& call, Shape shape, int32_t value) {
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<NDArray> out, call.Allocate(DataType::Int(32), std::move(shape)));
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

}  // namespace

// Moves the boxes above the threshold to the front; the rest is -1.
Result<HostValue> EvalGetValidCounts(KernelCall& call) {
  const auto attrs = call.attrs<GetValidCountsAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes x, ReadBoxes(call, 0));
  if (!IsElement(x, attrs.score_index()) || (attrs.id_index() >= 0 && !IsElement(x, attrs.id_index())))
    return call.Fail("an index is not one of an element of a box");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x.tensor->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const auto counts, FilledInts(call, {x.batch}, 0));
  IROPT_ASSIGN_OR_RETURN(const auto indices, FilledInts(call, {x.batch, x.anchors}, -1));
  IROPT_ASSIGN_OR_RETURN(const auto out, call.Allocate(DataType::Float(32), ShapeOf(*x.tensor)));
  std::ranges::fill(out->MutableAs<float>(), -1.0f);
  const auto threshold = static_cast<float>(attrs.score_threshold());
  for (int64_t b = 0; b < x.batch; ++b) {
    int32_t& count = counts->MutableAs<int32_t>()[static_cast<size_t>(b)];
    for (int64_t i = 0; i < x.anchors; ++i) {
      const float* box = x.At(b, i);
      if (!(box[attrs.score_index()] > threshold) || (attrs.id_index() >= 0 && !(box[attrs.id_index()] >= 0))) continue;
      const int64_t at = b * x.anchors + count++;
      std::copy(box, box + x.elements, out->MutableAs<float>().begin() + at * x.elements);
      indices->MutableAs<int32_t>()[static_cast<size_t>(at)] = static_cast<int32_t>(i);
    }
  }
  return TupleOf(call, {{counts, kIndex}, {out, x.dtype}, {indices, kIndex}});
}

namespace {

// The suppression within one image. `order` are the boxes that are left, by descending score.
class Suppression {
 public:
  Suppression(const NonMaximumSuppressionAttrs& attrs, const Boxes& boxes, int64_t batch, std::vector<int64_t> order)
      : attrs_(attrs), elements_(boxes.elements), threshold_(soft() ? ToFloat(attrs.score_threshold()) : 0) {
    for (const int64_t i : order) {
      const float* box = boxes.At(batch, i);
      boxes_.insert(boxes_.end(), box, box + elements_);
    }
    indices_ = std::move(order);
  }

  // Keeps the best boxes first; returns their number.
  size_t RunSoft() {
    size_t kept = 0;
    const float scale = ToFloat(-0.5 / attrs_.soft_nms_sigma());
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
        const float overlap = OverlapOf(kept, i);
        if (overlap < ToFloat(attrs_.iou_threshold())) Score(i) *= std::exp(scale * overlap * overlap);
        if (overlap >= ToFloat(attrs_.iou_threshold()) || Score(i) <= threshold_) indices_[i] = -1;
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
        std::fill_n(Box(i), elements_, -1.0f);
        indices_[i] = -1;
        continue;
      }
      ++kept;
      for (size_t k = i + 1; k < indices_.size(); ++k) {
        if (!(Score(k) > threshold_) || !SameClass(i, k)) continue;
        if (OverlapOf(i, k) < ToFloat(attrs_.iou_threshold())) continue;
        Score(k) = -1;
        indices_[k] = -1;
      }
    }
  }

  bool soft() const { return attrs_.soft_nms_sigma() > 0; }
  float* Box(size_t i) { return boxes_.data() + static_cast<int64_t>(i) * elements_; }
  float& Score(size_t i) { return Box(i)[attrs_.score_index()]; }
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  static float ToFloat(double value) { return static_cast<float>(value); }
  bool MayKeep(size_t kept) const {
    return kept < indices_.size() &&
           (attrs_.max_output_size() <= 0 || static_cast<int64_t>(kept) < attrs_.max_output_size());
  }
  bool SameClass(size_t a, size_t b) {
    const int64_t id = attrs_.id_index();
    return attrs_.force_suppress() || id < 0 || Box(a)[id] == Box(b)[id];
  }
  float OverlapOf(size_t a, size_t b) { return Overlap(Box(a) + attrs_.coord_start(), Box(b) + attrs_.coord_start()); }

  const NonMaximumSuppressionAttrs attrs_;
  int64_t elements_;
  float threshold_;
  std::vector<float> boxes_;
  std::vector<int64_t> indices_;  // in the input; -1 if suppressed
};

// The results of all images.
struct NmsResults {
  std::shared_ptr<NDArray> data, indices, counts;
};

// The boxes of an image by descending score: as many as are valid, and at most top_k.
Result<std::vector<int64_t>> OrderBoxes(const KernelCall& call, const NonMaximumSuppressionAttrs& attrs,
                                        const Boxes& boxes, int64_t batch, int64_t valid) {
  if (valid < 0 || valid > boxes.anchors) return call.Fail("the number of valid boxes is out of range");
  std::vector<int64_t> order(static_cast<size_t>(valid));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    return boxes.At(batch, a)[attrs.score_index()] > boxes.At(batch, b)[attrs.score_index()];
  });
  if (attrs.top_k() > 0 && attrs.top_k() < valid) order.resize(static_cast<size_t>(attrs.top_k()));
  return order;
}

void StoreImage(const NonMaximumSuppressionAttrs& attrs, Suppression& image, std::span<const int64_t> given,
                int64_t batch, const NmsResults& out) {
  const int64_t anchors = out.indices->shape()[1];
  const int64_t elements = out.data->shape()[2];
  const size_t kept = image.soft() ? image.RunSoft() : image.indices().size();
  if (!image.soft()) image.RunHard();
  float* data = out.data->MutableAs<float>().data() + batch * anchors * elements;
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

}  // namespace

Result<HostValue> EvalNonMaxSuppression(KernelCall& call) {
  const auto attrs = call.attrs<NonMaximumSuppressionAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes x, ReadBoxes(call, 0));
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
  IROPT_ASSIGN_OR_RETURN(out.data, call.Allocate(DataType::Float(32), ShapeOf(*x.tensor)));
  std::ranges::fill(out.data->MutableAs<float>(), -1.0f);
  IROPT_ASSIGN_OR_RETURN(out.indices, FilledInts(call, {x.batch, x.anchors}, -1));
  IROPT_ASSIGN_OR_RETURN(out.counts, FilledInts(call, {x.batch, 1}, 0));
  for (int64_t b = 0; b < x.batch; ++b) {
    IROPT_ASSIGN_OR_RETURN(std::vector<int64_t> order, OrderBoxes(call, attrs, x, b, valid[static_cast<size_t>(b)]));
    Suppression image(attrs, x, b, std::move(order));
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

namespace {

struct AllClassArgs {
  int64_t most = 0;
  float overlap = 0;
  float score = 0;
};

Result<AllClassArgs> ReadAllClassArgs(KernelCall& call) {
  AllClassArgs args;
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
  args.overlap = static_cast<float>(numbers[1]);
  args.score = static_cast<float>(numbers[2]);
  return args;
}

// The boxes that are selected for a class of an image, by descending score. As in TVM, which gives suppressed boxes the
// score -1, those of a score up to that are never selected, and those of a score up to 0 never suppressed.
std::vector<int64_t> SelectBoxes(const AllClassArgs& args, const Boxes& boxes, int64_t batch, const float* scores) {
  std::vector<int64_t> order(static_cast<size_t>(boxes.anchors));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> selected;
  for (const int64_t i : order) {
    if (!(scores[i] > std::max(args.score, -1.0f)) || static_cast<int64_t>(selected.size()) >= args.most ||
        args.overlap <= 0)
      break;
    const bool covered = scores[i] > 0 && std::ranges::any_of(selected, [&](int64_t k) {
                           return Overlap(boxes.At(batch, k), boxes.At(batch, i)) >= args.overlap;
                         });
    if (!covered) selected.push_back(i);
  }
  return selected;
}

}  // namespace

// Rows after the selected ones are 0.
Result<HostValue> EvalAllClassNonMaxSuppression(KernelCall& call) {
  const bool onnx = call.attrs<AllClassNonMaximumSuppressionAttrs>().output_format() == "onnx";
  IROPT_ASSIGN_OR_RETURN(const Boxes boxes, ReadBoxes(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Boxes scores, ReadBoxes(call, 1));
  IROPT_ASSIGN_OR_RETURN(const AllClassArgs args, ReadAllClassArgs(call));
  const int64_t classes = scores.anchors;
  if (scores.batch != boxes.batch || scores.elements != boxes.anchors || boxes.elements != 4)
    return call.Fail("the scores do not fit the boxes");
  const int64_t rows = boxes.batch * classes * boxes.anchors;
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(rows) * static_cast<uint64_t>(boxes.anchors)));
  const int64_t per_image = classes * boxes.anchors;
  const Shape shape = onnx ? Shape{rows, 3} : Shape{boxes.batch, per_image, 2};
  IROPT_ASSIGN_OR_RETURN(const auto indices, call.Allocate(DataType::Int(64), shape));
  IROPT_ASSIGN_OR_RETURN(const auto values, call.Allocate(DataType::Float(32), {boxes.batch, per_image}));
  IROPT_ASSIGN_OR_RETURN(const auto counts, call.Allocate(DataType::Int(64), {onnx ? 1 : boxes.batch}));
  for (int64_t b = 0; b < boxes.batch; ++b) {
    int64_t& count = counts->MutableAs<int64_t>()[static_cast<size_t>(onnx ? 0 : b)];
    for (int64_t c = 0; c < classes; ++c) {
      const float* of_class = scores.At(b, c);
      for (const int64_t i : SelectBoxes(args, boxes, b, of_class)) {
        int64_t* row = indices->MutableAs<int64_t>().data() + (onnx ? count * 3 : (b * per_image + count) * 2);
        if (onnx) *row++ = b;
        *row++ = c;
        *row = i;
        if (!onnx) values->MutableAs<float>()[static_cast<size_t>(b * per_image + count)] = of_class[i];
        ++count;
      }
    }
  }
  constexpr DataType kLong = DataType::Int(64);
  if (onnx) return TupleOf(call, {{indices, kLong}, {counts, kLong}});
  return TupleOf(call, {{indices, kLong}, {values, DataType::Float(32)}, {counts, kLong}});
}

namespace {

// (ymin, xmin, ymax, xmax) of an anchor (left, top, right, bottom) that is moved and scaled by (x, y, w, h).
void DecodeBox(const MultiboxTransformLocAttrs& attrs, std::span<const float> variances, const float* place,
               const float* anchor, float* box) {
  const float center[] = {(anchor[1] + anchor[3]) * 0.5f, (anchor[0] + anchor[2]) * 0.5f};
  const float length[] = {anchor[3] - anchor[1], anchor[2] - anchor[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t i = 1 - axis;
    const float middle = place[i] * variances[i] * length[axis] + center[axis];
    const float half = 0.5f * std::exp(place[2 + i] * variances[2 + i]) * length[axis];
    box[axis] = middle - half;
    box[axis + 2] = middle + half;
  }
  if (!attrs.clip()) return;
  for (size_t i = 0; i < 4; ++i) box[i] = std::max(0.0f, std::min(1.0f, box[i]));
}

// The softmax over the classes of one anchor, of which those below the threshold are 0.
void NormalizeScores(const MultiboxTransformLocAttrs& attrs, int64_t classes, int64_t step, const float* in,
                     float* out) {
  float greatest = in[0];
  for (int64_t c = 1; c < classes; ++c) greatest = std::max(greatest, in[c * step]);
  float sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += out[c * step] = std::exp(in[c * step] - greatest);
  for (int64_t c = 0; c < classes; ++c) {
    float& score = out[c * step];
    score /= sum;
    if (score < static_cast<float>(attrs.threshold()) || (c == 0 && !attrs.keep_background())) score = 0;
  }
}

}  // namespace

Result<HostValue> EvalMultiboxTransformLoc(KernelCall& call) {
  const auto attrs = call.attrs<MultiboxTransformLocAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Boxes classes, ReadBoxes(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor given, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor places, CastTensor(call, given, DataType::Float(32)));
  IROPT_ASSIGN_OR_RETURN(const Boxes anchors, ReadBoxes(call, 2));
  const int64_t number = classes.elements;
  const std::vector<double> wide = attrs.variances();
  const std::vector<float> variances(wide.begin(), wide.end());
  if (variances.size() != 4 || anchors.batch != 1 || anchors.anchors != number || anchors.elements != 4 ||
      places->num_elements() != classes.batch * number * 4)
    return call.Fail("the boxes do not fit the anchors");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(classes.tensor->num_elements()) * 4));
  IROPT_ASSIGN_OR_RETURN(const auto boxes, call.Allocate(DataType::Float(32), {classes.batch, number, 4}));
  IROPT_ASSIGN_OR_RETURN(const auto scores, call.Allocate(DataType::Float(32), ShapeOf(*classes.tensor)));
  for (int64_t b = 0; b < classes.batch; ++b) {
    for (int64_t i = 0; i < number; ++i) {
      const int64_t at = (b * number + i) * 4;
      DecodeBox(attrs, variances, places->As<float>().data() + at, anchors.At(0, i),
                boxes->MutableAs<float>().data() + at);
      if (classes.anchors == 0) continue;
      float* out = scores->MutableAs<float>().data() + b * classes.anchors * number + i;
      NormalizeScores(attrs, classes.anchors, number, classes.At(b, 0) + i, out);
    }
  }
  return TupleOf(call, {{boxes, classes.dtype}, {scores, classes.dtype}});
}

}  // namespace iropt::eval
