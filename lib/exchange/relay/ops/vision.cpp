// Operators on boxes in images.
#include "iropt/infer/ops/vision.h"

#include <cmath>

#include "exchange/relay/constants.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/broadcast.h"
#include "iropt/infer/ops/create.h"
#include "iropt/infer/ops/gather.h"
#include "iropt/infer/ops/reduction.h"
#include "iropt/infer/ops/scan.h"
#include "iropt/infer/ops/slice.h"
#include "iropt/infer/ops/sorting.h"
#include "relay_builder.h"
#include "shape_values.h"

namespace iropt::relay {

namespace {

using Value = const Expr*;

// The value of an operand that Relax has as an attribute; nothing after an error.
std::optional<double> ConstantOperand(OpCall& call, size_t i, std::string_view name) {
  const auto numbers = ConstantNumbers(call.arg(i));
  if (numbers && !numbers->empty()) return numbers->front();
  call.NoCounterpart(std::string(name) + " that is not a constant");
  return std::nullopt;
}

// ---- Regions

const Expr* BuildRoiAlign(OpCall& call) {
  return op::VisionRoiAlign(call, call.arg(0), call.arg(1),
                            {.pooled_size = call.Ints("pooled_size"),
                             .spatial_scale = call.Float("spatial_scale"),
                             .sample_ratio = call.Int("sample_ratio"),
                             .layout = call.String("layout"),
                             .mode = call.String("mode")});
}

const Expr* BuildRoiPool(OpCall& call) {
  return op::VisionRoiPool(call, call.arg(0), call.arg(1),
                           {.pooled_size = call.Ints("pooled_size"),
                            .spatial_scale = call.Float("spatial_scale"),
                            .layout = call.String("layout")});
}

// ---- Choice of boxes

const Expr* BuildGetValidCounts(OpCall& call) {
  const auto threshold = ConstantOperand(call, 1, "a threshold");
  if (!threshold) return nullptr;
  return op::VisionGetValidCounts(
      call, call.arg(0),
      {.score_threshold = *threshold, .id_index = call.Int("id_index"), .score_index = call.Int("score_index")});
}

const Expr* BuildNonMaxSuppression(OpCall& call) {
  const auto size = ConstantOperand(call, 3, "a number of boxes");
  const auto threshold = ConstantOperand(call, 4, "a threshold");
  if (!size || !threshold) return nullptr;
  return op::VisionNonMaxSuppression(call, call.arg(0), call.arg(1), call.arg(2),
                                     {.max_output_size = static_cast<int64_t>(*size),
                                      .iou_threshold = *threshold,
                                      .force_suppress = call.Bool("force_suppress"),
                                      .top_k = call.Int("top_k"),
                                      .coord_start = call.Int("coord_start"),
                                      .score_index = call.Int("score_index"),
                                      .id_index = call.Int("id_index"),
                                      .return_indices = call.Bool("return_indices"),
                                      .invalid_to_bottom = call.Bool("invalid_to_bottom")});
}

const Expr* BuildAllClassNonMaxSuppression(OpCall& call) {
  return op::VisionAllClassNonMaxSuppression(call, call.arg(0), call.arg(1), call.arg(2), call.arg(3), call.arg(4),
                                             {.output_format = call.String("output_format")});
}

// ---- Anchors

// The boxes only depend on the size of the image.
const Expr* BuildMultiboxPrior(OpCall& call) {
  const auto shape = StaticDimsOf(call.arg(0));
  const std::vector<double> sizes = call.Floats("sizes");
  const std::vector<double> ratios = call.Floats("ratios");
  const std::vector<double> steps = call.Floats("steps");
  const std::vector<double> offsets = call.Floats("offsets");
  if (!shape || shape->size() != 4) return call.NoCounterpart("anchors of an image of unknown size");
  if (sizes.empty() || ratios.empty() || steps.size() != 2 || offsets.size() != 2)
    return call.Error("bad-argument", "needs sizes, ratios, two steps and two offsets");
  const auto boxes_of_pixel = static_cast<int64_t>(sizes.size() + ratios.size());
  if (!call.MayTabulate({(*shape)[2], (*shape)[3], boxes_of_pixel})) return nullptr;
  const auto height = static_cast<double>((*shape)[2]);
  const auto width = static_cast<double>((*shape)[3]);
  std::vector<std::pair<double, double>> halves;  // of the width and the height
  for (const double size : sizes) halves.emplace_back(size * height / width / 2, size / 2);
  for (size_t i = 1; i < ratios.size(); ++i) {
    const double root = std::sqrt(ratios[i]);
    halves.emplace_back(sizes[0] * height / width * root / 2, sizes[0] / root / 2);
  }
  std::vector<double> boxes;
  for (double i = 0; i < height; ++i) {
    const double y = (i + offsets[0]) * (steps[0] > 0 ? steps[0] : 1 / height);
    for (double j = 0; j < width; ++j) {
      const double x = (j + offsets[1]) * (steps[1] > 0 ? steps[1] : 1 / width);
      for (const auto& [w, h] : halves) boxes.insert(boxes.end(), {x - w, y - h, x + w, y + h});
    }
  }
  if (call.Bool("clip")) {
    for (double& side : boxes) side = std::min(std::max(side, 0.0), 1.0);
  }
  const int64_t dims[] = {1, static_cast<int64_t>(boxes.size()) / 4, 4};
  return MakeConstant(kFloat32, dims, boxes, call.workspace());
}

// Boxes from anchors and predictions, with their classes; the boxes of a class come first.
class MultiboxDetection {
 public:
  explicit MultiboxDetection(OpCall& call) : call_(call), relay_(call), variances_(call.Floats("variances")) {}

  Value Build() {
    const auto dims = DimsOf(call_.arg(0));
    if (!dims || dims->size() != 3 || variances_.size() != 4)
      return call_.Error("type-inference", "the probabilities do not have three dimensions, or the variances not four");
    const bool keep = call_.Bool("keep_background");
    Value probabilities = call_.arg(0);
    if (!keep) probabilities = Part(probabilities, 1, 1, INT64_MAX);
    Value score = op::Max(call_, probabilities, {.axis = Ints{1}});
    Value best = call_.Cast(op::Argmax(call_, probabilities, {.axis = 1}), kFloat32);
    Value low = relay_.Less(score, relay_.Float(call_.Float("threshold")));
    // Without the background, class 0 is the first one of the others, and what is below the threshold is left out.
    Value id = keep ? relay_.Where(low, relay_.Float(0), best) : best;
    Value columns[] = {Column(id), Column(score), Boxes(*dims)};
    Value rows = call_.Concat(columns, 2);
    Value goes = keep ? op::ZerosLike(call_, call_.Cast(low, kInt32)) : call_.Cast(low, kInt32);
    Value count = relay_.Subtract(SizeOfAxis(call_, goes, 1, kInt32), op::Sum(call_, goes, {.axis = Ints{1}}));
    const Value results[] = {keep ? rows : InOrder(rows, goes, *dims), count};
    return call_.MakeTuple(results);
  }

 private:
  Value Part(Value tensor, int64_t axis, int64_t begin, int64_t end) {
    return call_.Slice(tensor, {axis}, {begin}, {end});
  }
  Value Column(Value vector) { return call_.ExpandDims(vector, {2}); }

  // Left, top, right, bottom.
  Value Boxes(const DimList& dims) {
    const arith::PrimBuilder make;
    const DimList shape{dims[0], dims[2], make.Int(4)};
    Value places = call_.Reshape(call_.arg(1), shape);
    Value sides[4];
    for (int64_t axis = 0; axis < 2; ++axis) {
      Value begin = Part(call_.arg(2), 2, axis, axis + 1);
      Value end = Part(call_.arg(2), 2, axis + 2, axis + 3);
      Value size = relay_.Subtract(end, begin);
      Value center = relay_.Divide(relay_.Add(begin, end), relay_.Float(2));
      Value shift = relay_.Multiply(Part(places, 2, axis, axis + 1), Variance(axis));
      Value growth = relay_.Multiply(Part(places, 2, axis + 2, axis + 3), Variance(axis + 2));
      Value middle = relay_.Add(relay_.Multiply(shift, size), center);
      Value half = relay_.Divide(relay_.Multiply(relay_.Unary("exp", growth), size), relay_.Float(2));
      sides[axis] = relay_.Subtract(middle, half);
      sides[axis + 2] = relay_.Add(middle, half);
    }
    Value boxes = call_.Concat(sides, 2);
    return call_.Bool("clip") ? relay_.Clip(boxes, 0, 1) : boxes;
  }

  Value Variance(int64_t i) { return relay_.Float(variances_[static_cast<size_t>(i)]); }

  // The rows that stay, in order, before the others.
  Value InOrder(Value rows, Value goes, const DimList& dims) {
    Value places = call_.Iota(dims[2], kInt32);
    Value size = SizeOfAxis(call_, goes, 1, kInt32);
    Value order = op::Argsort(call_, relay_.Add(relay_.Multiply(goes, size), places), {.axis = 1, .dtype = kInt64});
    const arith::PrimBuilder make;
    const DimList shape{dims[0], dims[2], make.Int(6)};
    Value indices = op::BroadcastTo(call_, Column(order), call_.Shape(shape));
    return op::GatherElements(call_, rows, indices, {.axis = 1});
  }

  OpCall& call_;
  RelayBuilder relay_;
  std::vector<double> variances_;
};

const Expr* BuildMultiboxTransformLoc(OpCall& call) { return MultiboxDetection(call).Build(); }

// ---- Others

// The elements of an image in another order, which the operator defines by their places in memory.
const Expr* BuildYoloReorg(OpCall& call) {
  const auto shape = StaticDimsOf(call.arg(0));
  const int64_t stride = call.Int("stride");
  if (!shape || shape->size() != 4) return call.NoCounterpart("a reorganization of an image of unknown size");
  const int64_t channels = (*shape)[1];
  const int64_t height = (*shape)[2];
  const int64_t width = (*shape)[3];
  constexpr int64_t kLargestStride = 1 << 15;
  if (stride < 1 || stride > kLargestStride || channels % (stride * stride) != 0 || height % stride != 0 ||
      width % stride != 0)
    return call.Error("bad-argument", "the stride does not divide the image");
  if (!call.MayTabulate({channels, height, width})) return nullptr;
  const int64_t groups = channels / (stride * stride);
  std::vector<int64_t> places;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        const int64_t part = c / groups;
        const int64_t row = c % groups * stride * stride * height + (y * stride + part / stride) * stride;
        places.push_back(row * width + x * stride + part % stride);
      }
    }
  }
  Value flat = call.Reshape(call.arg(0), {(*shape)[0], channels * height * width});
  Value moved = op::Take(call, flat, call.IntTensor(places, kInt64), {.axis = 1});
  return call.Reshape(moved, {(*shape)[0], channels * stride * stride, height / stride, width / stride});
}

const Expr* BuildProposal(OpCall& call) { return call.NoCounterpart("region proposals"); }
const Expr* BuildRegularNonMaxSuppression(OpCall& call) {
  return call.NoCounterpart("the non-maximum suppression of a number of detections per class");
}

constexpr OperatorRow kVision[] = {
    {"vision.all_class_non_max_suppression",
     "boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold", "output_format=\"onnx\"",
     BuildAllClassNonMaxSuppression},
    {"vision.get_valid_counts", "data, score_threshold", "score_threshold=None, id_index=0, score_index=1",
     BuildGetValidCounts},
    {"vision.multibox_prior", "data", "sizes=[1f], ratios=[1f], steps=[-1f, -1f], offsets=[0.5f, 0.5f], clip=False",
     BuildMultiboxPrior},
    {"vision.multibox_transform_loc", "cls_prob, loc_pred, anchor",
     "clip=True, threshold=0.01f, variances=[0.1f, 0.1f, 0.2f, 0.2f], keep_background=False",
     BuildMultiboxTransformLoc},
    {"vision.non_max_suppression", "data, valid_count, indices, max_output_size, iou_threshold",
     "max_output_size=None, iou_threshold=None, force_suppress=False, top_k=-1, coord_start=2, score_index=1, "
     "id_index=0, return_indices=True, invalid_to_bottom=False",
     BuildNonMaxSuppression},
    {"vision.proposal", "cls_prob, bbox_pred, im_info", "*", BuildProposal},
    {"vision.regular_non_max_suppression", "boxes, scores", "*", BuildRegularNonMaxSuppression},
    {"vision.roi_align", "data, rois", "pooled_size, spatial_scale, sample_ratio=-1, layout=\"NCHW\", mode=\"avg\"",
     BuildRoiAlign},
    {"vision.roi_pool", "data, rois", "pooled_size, spatial_scale, layout=\"NCHW\"", BuildRoiPool},
    {"vision.yolo_reorg", "data", "stride=1", BuildYoloReorg},
};

}  // namespace

std::span<const OperatorRow> VisionOperators() { return kVision; }

}  // namespace iropt::relay
