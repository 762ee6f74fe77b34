// Type rules of operators on boxes in images.
#include "iropt/op/ops/vision.h"

#include <fmt/format.h>

#include "infer/type_util.h"

namespace iropt {

using namespace rules;

namespace {

constexpr DataType kBoxCount = DataType::Int(32);

// A tensor operand of rank `ndim`, if its rank is known; null after an error.
const TensorType* RankedArg(const Call& call, size_t i, int ndim, InferContext& ctx) {
  const TensorType* t = TensorArg(call, i, ctx);
  if (!t || !HasRank(t) || t->ndim == ndim) return t;
  ctx.Error(call, i, fmt::format("{} must have rank {}, but has {}", OperandName(call, i), ndim, t->ndim));
  return nullptr;
}

// A tensor of known dimensions, or of as many unknown ones if any is null.
const Type* Sized(std::span<const Dim> dims, DataType dtype, const VDeviceAttr* vdevice) {
  for (const Dim d : dims) {
    if (!d) return TensorType::Get(static_cast<int>(dims.size()), dtype, vdevice);
  }
  return TensorType::Get(dims, dtype, vdevice);
}

bool CheckLength(const Call& call, size_t i, const TensorType* t, int axis, int64_t expected, InferContext& ctx) {
  const int64_t* length = t->known ? arith::AsInt(t->dims[axis]) : nullptr;
  if (!length || *length == expected) return true;
  ctx.Error(
      call, i,
      fmt::format("{} must have length {} on axis {}, but has {}", OperandName(call, i), expected, axis, *length));
  return false;
}

bool CheckSameLength(const Call& call, size_t i, Dim found, Dim expected, std::string_view what, InferContext& ctx) {
  if (!arith::ProveNotEqual(found, expected)) return true;
  ctx.Error(call, i,
            fmt::format("{} has {} {}, but the data has {}", OperandName(call, i), DimToString(found), what,
                        DimToString(expected)));
  return false;
}

// Returns whether an attribute is the index of an element of a box, or `least`.
bool CheckElement(const Call& call, std::string_view attr, int64_t index, int64_t least, int64_t length,
                  InferContext& ctx) {
  if (index >= least && index < length) return true;
  ctx.Error(call, fmt::format("has {} = {}, but boxes of {} elements", attr, index, length));
  return false;
}

// The three lengths of a batch of boxes; null if they are not known.
struct BoxShape {
  Dim batch = nullptr;
  Dim anchors = nullptr;
  Dim elements = nullptr;
  const int64_t* number() const { return elements ? arith::AsInt(elements) : nullptr; }
};

BoxShape BoxesOf(const TensorType* data) {
  return data->known ? BoxShape{data->dims[0], data->dims[1], data->dims[2]} : BoxShape();
}

}  // namespace

IROPT_TYPE_RULE(InferVisionAllClassNms,
                "a tuple of the selected boxes and their number; in the format tensorflow also of their scores") {
  if (!CheckArity(call, 5, 5, ctx)) return nullptr;
  const TensorType* boxes = RankedArg(call, 0, 3, ctx);
  const TensorType* scores = boxes ? RankedArg(call, 1, 3, ctx) : nullptr;
  if (!scores) return nullptr;
  for (size_t i = 2; i < 5; ++i) {
    if (!TensorArg(call, i, ctx)) return nullptr;
  }
  for (size_t i = 0; i < 2; ++i) {
    const TensorType* t = i == 0 ? boxes : scores;
    if (!t->known) return ctx.Error(call, i, fmt::format("{} must have a known shape", OperandName(call, i)));
  }
  if (!CheckLength(call, 0, boxes, 2, 4, ctx) ||
      !CheckSameLength(call, 1, scores->dims[0], boxes->dims[0], "images", ctx) ||
      !CheckSameLength(call, 1, scores->dims[2], boxes->dims[1], "boxes", ctx))
    return nullptr;
  const std::string_view format = AllClassNonMaximumSuppressionAttrs(call).output_format();
  if (!CheckChoice(call, "output_format", format, "onnx tensorflow", ctx)) return nullptr;
  const Dim batch = boxes->dims[0];
  const Dim per_image = kDims.Mul(scores->dims[1], boxes->dims[1]);
  const DataType index = DataType::Int(64);
  const VDeviceAttr* vdevice = boxes->vdevice;
  if (format == "onnx") {
    const Dim selected[] = {kDims.Mul(kDims.Mul(batch, scores->dims[1]), boxes->dims[1]), kDims.Int(3)};
    const Dim one[] = {One()};
    const Type* fields[] = {TensorType::Get(selected, index, vdevice), TensorType::Get(one, index, vdevice)};
    return TupleType::Get(fields);
  }
  const Dim selected[] = {batch, per_image, kDims.Int(2)};
  const Dim of_scores[] = {batch, per_image};
  const Dim counts[] = {batch};
  const Type* fields[] = {TensorType::Get(selected, index, vdevice),
                          TensorType::Get(of_scores, DataType::Float(32), vdevice),
                          TensorType::Get(counts, index, vdevice)};
  return TupleType::Get(fields);
}

IROPT_TYPE_RULE(InferVisionGetValidCounts,
                "a tuple of the number of valid boxes of each image, the boxes and their indices") {
  if (!CheckArity(call, 1, 1, ctx)) return nullptr;
  const TensorType* data = RankedArg(call, 0, 3, ctx);
  if (!data) return nullptr;
  const GetValidCountsAttrs attrs(call);
  const auto [batch, anchors, elements] = BoxesOf(data);
  if (const int64_t* number = elements ? arith::AsInt(elements) : nullptr) {
    if (!CheckElement(call, "score_index", attrs.score_index(), 0, *number, ctx) ||
        !CheckElement(call, "id_index", attrs.id_index(), -1, *number, ctx))
      return nullptr;
  }
  const Dim counts[] = {batch};
  const Dim boxes[] = {batch, anchors, elements};
  const Dim indices[] = {batch, anchors};
  const Type* fields[] = {Sized(counts, kBoxCount, data->vdevice), Sized(boxes, data->dtype, data->vdevice),
                          Sized(indices, kBoxCount, data->vdevice)};
  return TupleType::Get(fields);
}

namespace {

struct MultiboxOperands {
  const TensorType* classes;  // (batch, classes, anchors)
  const TensorType* places;   // (batch, 4 * anchors)
  const TensorType* anchors;  // (1, anchors, 4)
};

bool CheckMultibox(const Call& call, const MultiboxOperands& x, InferContext& ctx) {
  if (!CommonDType(call, 0, x.classes->dtype, 1, x.places->dtype, ctx) ||
      !CommonDType(call, 0, x.classes->dtype, 2, x.anchors->dtype, ctx))
    return false;
  const int64_t* width = x.places->known ? arith::AsInt(x.places->dims[1]) : nullptr;
  if (width && *width % 4 != 0) {
    ctx.Error(call, 1, fmt::format("{} must have 4 numbers for each anchor, but has {}", OperandName(call, 1), *width));
    return false;
  }
  if (!CheckLength(call, 2, x.anchors, 0, 1, ctx) || !CheckLength(call, 2, x.anchors, 2, 4, ctx)) return false;
  if (!x.classes->known) return true;
  const List<Dim>& dims = x.classes->dims;
  if (x.places->known) {
    const Dim numbers = kDims.Mul(dims[2], kDims.Int(4));
    if (!CheckSameLength(call, 1, x.places->dims[0], dims[0], "images", ctx)) return false;
    if (arith::ProveNotEqual(x.places->dims[1], numbers)) {
      ctx.Error(call, 1,
                fmt::format("{} has {} numbers, but {} are needed", OperandName(call, 1),
                            DimToString(x.places->dims[1]), DimToString(numbers)));
      return false;
    }
  }
  return !x.anchors->known || CheckSameLength(call, 2, x.anchors->dims[1], dims[2], "anchors", ctx);
}

}  // namespace

IROPT_TYPE_RULE(InferVisionMultiboxTransformLoc, "a tuple of a box for each anchor and the scores of each class") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  const TensorType* classes = RankedArg(call, 0, 3, ctx);
  const TensorType* places = classes ? RankedArg(call, 1, 2, ctx) : nullptr;
  const TensorType* anchors = places ? RankedArg(call, 2, 3, ctx) : nullptr;
  if (!anchors || !CheckMultibox(call, {classes, places, anchors}, ctx)) return nullptr;
  if (MultiboxTransformLocAttrs(call).variances().size() != 4) return ctx.Error(call, "needs four variances");
  const auto [batch, count, number] = BoxesOf(classes);
  const Dim boxes[] = {batch, number, kDims.Int(4)};
  const Dim scores[] = {batch, count, number};
  const Type* fields[] = {Sized(boxes, classes->dtype, classes->vdevice),
                          Sized(scores, classes->dtype, classes->vdevice)};
  return TupleType::Get(fields);
}

namespace {

struct NmsOperands {
  const TensorType* data;     // (batch, anchors, elements)
  const TensorType* counts;   // (batch,)
  const TensorType* indices;  // (batch, anchors)
};

bool CheckNmsDtypes(const Call& call, const NmsOperands& x, InferContext& ctx) {
  for (size_t i = 1; i < 3; ++i) {
    const DataType dtype = i == 1 ? x.counts->dtype : x.indices->dtype;
    if (dtype.is_void() || dtype == kBoxCount) continue;
    ctx.Error(call, i, fmt::format("{} must have dtype int32, but has {}", OperandName(call, i), dtype.ToString()));
    return false;
  }
  return true;
}

bool CheckNmsShapes(const Call& call, const NmsOperands& x, const NonMaximumSuppressionAttrs& attrs,
                    InferContext& ctx) {
  if (!x.data->known) return true;
  const List<Dim>& dims = x.data->dims;
  if (x.counts->known && !CheckSameLength(call, 1, x.counts->dims[0], dims[0], "images", ctx)) return false;
  if (x.indices->known && (!CheckSameLength(call, 2, x.indices->dims[0], dims[0], "images", ctx) ||
                           !CheckSameLength(call, 2, x.indices->dims[1], dims[1], "anchors", ctx)))
    return false;
  const int64_t* elements = arith::AsInt(dims[2]);
  return !elements || (CheckElement(call, "score_index", attrs.score_index(), 0, *elements, ctx) &&
                       CheckElement(call, "coord_start", attrs.coord_start(), 0, *elements, ctx) &&
                       CheckElement(call, "coord_start + 3", attrs.coord_start() + 3, 0, *elements, ctx) &&
                       CheckElement(call, "id_index", attrs.id_index(), -1, *elements, ctx));
}

}  // namespace

IROPT_TYPE_RULE(InferVisionNonMaxSuppression,
                "that of `data`; with `return_indices` a tuple of the indices of boxes and their number in each image, "
                "and of the boxes if their scores decay") {
  if (!CheckArity(call, 3, 3, ctx)) return nullptr;
  const TensorType* data = RankedArg(call, 0, 3, ctx);
  const TensorType* counts = data ? RankedArg(call, 1, 1, ctx) : nullptr;
  const TensorType* indices = counts ? RankedArg(call, 2, 2, ctx) : nullptr;
  if (!indices) return nullptr;
  const NonMaximumSuppressionAttrs attrs(call);
  const NmsOperands operands{data, counts, indices};
  if (!CheckNmsDtypes(call, operands, ctx) || !CheckNmsShapes(call, operands, attrs, ctx)) return nullptr;
  const TensorType* boxes = data->known ? data : WithRank(data, 3);
  if (!attrs.return_indices()) return boxes;
  const auto [batch, anchors, elements] = BoxesOf(data);
  const Dim selected[] = {batch, anchors};
  const Dim number[] = {batch, One()};
  const Type* fields[] = {boxes, Sized(selected, kBoxCount, data->vdevice), Sized(number, kBoxCount, data->vdevice)};
  const std::span<const Type* const> all(fields);
  return TupleType::Get(attrs.soft_nms_sigma() > 0 ? all : all.subspan(1));
}

namespace {

// The type of the pooled regions; null after an error.
const Type* PooledRegions(const Call& call, std::string_view layout, const IntList& size, InferContext& ctx) {
  const TensorType* data = RankedArg(call, 0, 4, ctx);
  const TensorType* rois = data ? RankedArg(call, 1, 2, ctx) : nullptr;
  if (!rois || !CheckLength(call, 1, rois, 1, 5, ctx)) return nullptr;
  if (size.size() != 2) return ctx.Error(call, fmt::format("needs two pooled sizes, but has {}", size.size()));
  if (!data->known || !rois->known) return TensorType::Get(4, data->dtype, data->vdevice);
  const Dim height = kDims.Int(size[0]);
  const Dim width = kDims.Int(size[1]);
  const Dim number = rois->dims[0];
  const Dim first[] = {number, data->dims[1], height, width};
  const Dim last[] = {number, height, width, data->dims[3]};
  return TensorType::Get(layout == "NCHW" ? first : last, data->dtype, data->vdevice);
}

}  // namespace

IROPT_TYPE_RULE(InferVisionRoiAlign, "an image of `pooled_size` for each of `rois`, the dtype of `data`") {
  const ROIAlignAttrs attrs(call);
  if (!CheckArity(call, 2, 2, ctx) || !CheckChoice(call, "layout", attrs.layout(), "NCHW NHWC", ctx) ||
      !CheckChoice(call, "mode", attrs.mode(), "avg max", ctx))
    return nullptr;
  return PooledRegions(call, attrs.layout(), attrs.pooled_size(), ctx);
}

IROPT_TYPE_RULE(InferVisionRoiPool, "an image of `pooled_size` for each of `rois`, the dtype of `data`") {
  const ROIPoolAttrs attrs(call);
  if (!CheckArity(call, 2, 2, ctx) || !CheckChoice(call, "layout", attrs.layout(), "NCHW", ctx)) return nullptr;
  return PooledRegions(call, attrs.layout(), attrs.pooled_size(), ctx);
}

}  // namespace iropt
