#include "written_ops.h"

#include <algorithm>

#include "iropt/op/op.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/grad.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/op/ops/unary.h"
#include "iropt/op/ops/vision.h"
#include "written_constants.h"
#include "written_forms.h"

namespace iropt::relay {

namespace {

using MakeCall = std::optional<WrittenCall> (*)(const Call& call);
// With the value of an operand, or the operand.
using MakeCallOf = std::optional<WrittenCall> (*)(const Call& call, const Expr* value);
using MakeCallIn = std::optional<WrittenCall> (*)(const Call& call, Workspace& workspace);

struct WrittenRow {
  OpId op;
  std::string_view name;        // of Relay
  std::string_view attributes;  // of the record: "axis", or "repeats:reps" if Relay has another name
  MakeCall make = nullptr;      // for calls of another form
  MakeCallOf make_of = nullptr;
  uint32_t operand = 0;  // that make_of asks for
  MakeCallIn make_in = nullptr;
};

constexpr std::string_view kConv =
    "strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype";
constexpr std::string_view kConvTranspose =
    "strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype";
constexpr std::string_view kMaxPool = "pool_size, strides, dilation, padding, layout, out_layout, ceil_mode";
constexpr std::string_view kAvgPool =
    "pool_size, strides, dilation, padding, layout, out_layout, ceil_mode, count_include_pad";
constexpr std::string_view kAdaptive = "output_size, layout, out_layout";
constexpr std::string_view kReduceAttrs = "axis, keepdims";

constexpr WrittenRow kRows[] = {
    {op::kAbs, "abs", ""},
    {op::kAcos, "acos", ""},
    {op::kAcosh, "acosh", ""},
    {op::kAdd, "add", ""},
    {op::kArange, "arange", "", &WriteArange},
    {op::kArgsort, "argsort", "", &WriteArgsort},
    {op::kAsin, "asin", ""},
    {op::kAsinh, "asinh", ""},
    {op::kAstype, "cast", ""},  // see WriteCast
    {op::kAtan, "atan", ""},
    {op::kAtanh, "atanh", ""},
    {op::kBitwiseAnd, "bitwise_and", ""},
    {op::kBitwiseNot, "bitwise_not", ""},
    {op::kBitwiseOr, "bitwise_or", ""},
    {op::kBitwiseXor, "bitwise_xor", ""},
    {op::kBroadcastTo, "broadcast_to", "", &WriteBroadcast},
    {op::kBucketize, "searchsorted", "", &WriteBucketize},
    {op::kCeil, "ceil", ""},
    {op::kClip, "clip", "", &WriteClip},
    {op::kCollapseSumLike, "collapse_sum_like", ""},
    {op::kCollapseSumTo, "collapse_sum_to", "", nullptr, nullptr, 0, &WriteCollapseSumTo},
    {op::kConcat, "concatenate", "axis"},
    {op::kCos, "cos", ""},
    {op::kCosh, "cosh", ""},
    {op::kCumprod, "cumprod", "axis, dtype, exclusive"},
    {op::kCumsum, "cumsum", "axis, dtype, exclusive"},
    {op::kDivide, "divide", ""},
    {op::kEinsum, "einsum", "subscripts:equation"},
    {op::kEqual, "equal", ""},
    {op::kErf, "erf", ""},
    {op::kExp, "exp", ""},
    {op::kExpandDims, "expand_dims", "", &WriteExpandDims},
    {op::kFlip, "reverse", "axis"},
    {op::kFloor, "floor", ""},
    {op::kFloorDivide, "floor_divide", ""},
    {op::kFloorMod, "floor_mod", ""},
    {op::kFull, "full", "", &WriteFilled},
    {op::kFullLike, "full_like", ""},
    {op::kGatherElements, "gather", "axis"},
    {op::kGatherNd, "gather_nd", "", nullptr, &WriteGatherNd, 1},
    {op::kGradAvgPool2dBackward, "nn.avg_pool2d_grad", kAvgPool},
    {op::kGradMaxPool2dBackward, "nn.max_pool2d_grad", kMaxPool},
    {op::kGreater, "greater", ""},
    {op::kGreaterEqual, "greater_equal", ""},
    {op::kImageAffineGrid, "image.affine_grid", "", &WriteAffineGrid},
    {op::kImageGridSample, "image.grid_sample", "method, layout, padding_mode, align_corners"},
    {op::kImageResize2d, "image.resize2d", "", &WriteResize},
    {op::kImageResize3d, "image.resize3d", "", &WriteResize},
    {op::kIndexTensor, "adv_index", "", &WriteIndexTensor},
    {op::kIsFinite, "isfinite", ""},
    {op::kIsInf, "isinf", ""},
    {op::kIsNan, "isnan", ""},
    {op::kLeftShift, "left_shift", ""},
    {op::kLess, "less", ""},
    {op::kLessEqual, "less_equal", ""},
    {op::kLog, "log", ""},
    {op::kLogicalAnd, "logical_and", ""},
    {op::kLogicalNot, "logical_not", ""},
    {op::kLogicalOr, "logical_or", ""},
    {op::kLogicalXor, "logical_xor", ""},
    {op::kMatmul, "nn.matmul", "", &WriteMatmul},
    {op::kMax, "max", kReduceAttrs},
    {op::kMaximum, "maximum", ""},
    {op::kMean, "mean", kReduceAttrs},
    {op::kMeshgrid, "meshgrid", "indexing"},
    {op::kMin, "min", kReduceAttrs},
    {op::kMinimum, "minimum", ""},
    {op::kMod, "mod", ""},
    {op::kMultiply, "multiply", ""},
    {op::kNegative, "negative", ""},
    {op::kNnAdaptiveAvgPool1d, "nn.adaptive_avg_pool1d", kAdaptive},
    {op::kNnAdaptiveAvgPool2d, "nn.adaptive_avg_pool2d", kAdaptive},
    {op::kNnAdaptiveAvgPool3d, "nn.adaptive_avg_pool3d", kAdaptive},
    {op::kNnAvgPool1d, "nn.avg_pool1d", kAvgPool},
    {op::kNnAvgPool2d, "nn.avg_pool2d", kAvgPool},
    {op::kNnAvgPool3d, "nn.avg_pool3d", kAvgPool},
    {op::kNnBatchNorm, "nn.batch_norm", "axis, epsilon, center, scale"},
    {op::kNnConv1d, "nn.conv1d", kConv},
    {op::kNnConv1dTranspose, "nn.conv1d_transpose", kConvTranspose},
    {op::kNnConv2d, "nn.conv2d", kConv},
    {op::kNnConv2dTranspose, "nn.conv2d_transpose", kConvTranspose},
    {op::kNnConv3d, "nn.conv3d", kConv},
    {op::kNnGroupNorm, "nn.group_norm", "", &WriteGroupNorm},
    {op::kNnInstanceNorm, "nn.instance_norm", "channel_axis:axis, epsilon"},
    {op::kNnLayerNorm, "nn.layer_norm", "", &WriteLayerNorm},
    {op::kNnLeakyrelu, "nn.leaky_relu", "alpha"},
    {op::kNnLogSoftmax, "nn.log_softmax", "axis"},
    {op::kNnMaxPool1d, "nn.max_pool1d", kMaxPool},
    {op::kNnMaxPool2d, "nn.max_pool2d", kMaxPool},
    {op::kNnMaxPool3d, "nn.max_pool3d", kMaxPool},
    {op::kNnNllLoss, "nn.nll_loss", "reduction, ignore_index"},
    {op::kNnPad, "nn.pad", "", &WritePad},
    {op::kNnPrelu, "nn.prelu", "axis"},
    {op::kNnRelu, "nn.relu", ""},
    {op::kNnSoftmax, "nn.softmax", "axis"},
    {op::kNotEqual, "not_equal", ""},
    {op::kOneHot, "one_hot", "", &WriteOneHot},
    {op::kOnes, "ones", "", &WriteFilled},
    {op::kOnesLike, "ones_like", ""},
    {op::kPermuteDims, "transpose", "axes"},
    {op::kPower, "power", ""},
    {op::kProd, "prod", kReduceAttrs},
    {op::kRepeat, "repeat", "repeats, axis"},
    {op::kReshape, "reshape", "", &WriteReshape},
    {op::kReverseSequence, "reverse_sequence", "seq_axis, batch_axis"},
    {op::kRightShift, "right_shift", ""},
    {op::kRound, "round", ""},
    {op::kRsqrt, "rsqrt", ""},
    {op::kScatterElements, "scatter_elements", "axis, reduction"},
    {op::kScatterNd, "scatter_nd", "", nullptr, &WriteScatterNd, 1},
    {op::kShapeToTensor, "shape_of", "", nullptr, &WriteShapeOf},
    {op::kSigmoid, "sigmoid", ""},
    {op::kSign, "sign", ""},
    {op::kSin, "sin", ""},
    {op::kSinh, "sinh", ""},
    {op::kSort, "sort", "", &WriteSort},
    {op::kSplit, "split", "indices_or_sections, axis"},
    {op::kSqrt, "sqrt", ""},
    {op::kSqueeze, "squeeze", "axis"},
    {op::kStack, "stack", "axis"},
    {op::kStridedSlice, "strided_slice", "", &WriteStridedSlice},
    {op::kSubtract, "subtract", ""},
    {op::kSum, "sum", kReduceAttrs},
    {op::kTake, "take", "axis, mode"},
    {op::kTan, "tan", ""},
    {op::kTanh, "tanh", ""},
    {op::kTile, "tile", "repeats:reps"},
    {op::kTopk, "topk", "", &WriteTopk},
    {op::kTril, "trilu", "", &WriteTriangle},
    {op::kTriu, "trilu", "", &WriteTriangle},
    {op::kTrunc, "trunc", ""},
    {op::kVisionAllClassNonMaxSuppression, "vision.all_class_non_max_suppression", "output_format"},
    {op::kVisionGetValidCounts, "vision.get_valid_counts", "", nullptr, nullptr, 0, &WriteGetValidCounts},
    {op::kVisionNonMaxSuppression, "vision.non_max_suppression", "", nullptr, nullptr, 0, &WriteNonMaxSuppression},
    {op::kVisionRoiAlign, "vision.roi_align", "", &WriteRoiAlign},
    {op::kVisionRoiPool, "vision.roi_pool", "pooled_size, spatial_scale, layout"},
    {op::kWhere, "where", ""},
    {op::kZeros, "zeros", "", &WriteFilled},
    {op::kZerosLike, "zeros_like", ""},
};

}  // namespace

std::optional<WrittenCall> WriteOperator(const Call& call, BoundValue bound, Workspace& workspace) {
  const auto* op = As<Op>(call.op);
  const auto* row = std::ranges::find(kRows, op ? op->id : OpId{}, &WrittenRow::op);
  if (!op || row == std::end(kRows)) return std::nullopt;
  if (op->id == op::kAstype) return WriteCast(call, bound);
  if (row->make) return row->make(call);
  if (row->make_in) return row->make_in(call, workspace);
  if (row->make_of) {
    const Expr* operand = call.args[row->operand];
    const Expr* value = bound(operand);
    return row->make_of(call, value ? value : operand);
  }
  WrittenCall written = AllOperands(row->name, call);
  written.attributes = AttributesOf(call, row->attributes);
  return written;
}

bool IsWrittenByUser(const Call& call, BoundValue bound) {
  const auto* op = As<Op>(call.op);
  if (!op) return false;
  return IsOneOf(*op, op::kArgmax, op::kArgmin, op::kNonzero, op::kShapeOf) || IsExchangedNonzero(call, bound);
}

}  // namespace iropt::relay
