#include "written_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/op_attrs.h"
#include "written_constants.h"

namespace iropt::relay {

namespace {

using Integers = std::vector<int64_t>;

// ---- Values of attributes

std::string Number(double value) { return fmt::format("{}f", value); }
std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }
std::string Listed(const Integers& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

// Nothing if the attribute is as if it were not there.
std::optional<std::string> ValueOf(const Attr& attr, AttrKind kind) {
  if (const auto* number = As<IntAttr>(&attr)) {
    if (kind == AttrKind::kBool) return number->value != 0 ? "True" : "False";
    return fmt::format("{}", number->value);
  }
  if (const auto* number = As<FloatAttr>(&attr)) return Number(number->value);
  if (const auto* text = As<StrAttr>(&attr))
    return text->value.empty() ? std::nullopt : std::optional(Quoted(text->value));
  if (const auto* dtype = As<DTypeAttr>(&attr))
    return dtype->value.is_void() ? std::nullopt : std::optional(Quoted(dtype->value.ToString()));
  const auto* list = As<ListAttr>(&attr);
  if (!list) return std::nullopt;
  std::vector<std::string> items;
  for (const Attr* item : list->values) items.push_back(ValueOf(*item, AttrKind::kInt).value_or("None"));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

const ObjectAttr* RecordOf(const Call& call) { return As<ObjectAttr>(call.attrs); }

std::optional<std::string> AttributeOf(const Call& call, std::string_view name) {
  const OpInfo& info = *To<Op>(call.op)->info;
  const OpAttr* attr = info.FindAttr(name);
  const ObjectAttr* record = RecordOf(call);
  if (!attr || !record) return std::nullopt;
  return ValueOf(*record->values[static_cast<size_t>(attr - info.attrs.data())], attr->kind);
}

// The numbers of a tuple or a shape, if all are known.
std::optional<Integers> NumbersOf(const Expr* operand) {
  Integers numbers;
  const auto add = [&](const PrimExpr* value) {
    const int64_t* number = value ? arith::AsInt(value) : nullptr;
    if (number) numbers.push_back(*number);
    return number != nullptr;
  };
  if (const auto* shape = As<ShapeExpr>(operand))
    return std::ranges::all_of(shape->values, add) ? std::optional(numbers) : std::nullopt;
  const auto* tuple = As<Tuple>(operand);
  if (!tuple) return std::nullopt;
  for (const Expr* field : tuple->fields) {
    const auto* scalar = As<PrimValue>(field);
    if (!scalar || !add(scalar->value)) return std::nullopt;
  }
  return numbers;
}

// ---- Rows

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

WrittenCall AllOperands(std::string_view name, const Call& call) {
  return {name, {call.args.begin(), call.args.end()}, {}};
}

std::optional<WrittenCall> WriteClip(const Call& call) {
  WrittenCall written{"clip", {call.args[0]}, {}};
  const char* const names[] = {"a_min", "a_max"};
  for (uint32_t i = 0; i < 2; ++i) {
    const auto* bound = As<PrimValue>(call.args[i + 1]);
    const auto* real = bound ? As<tir::FloatImm>(bound->value) : nullptr;
    if (!real) return std::nullopt;  // the reader makes floats
    written.attributes += fmt::format(", {}={}", names[i], Number(real->value));
  }
  return written;
}

// Dimensions that are not known are those of the operand (0), or one is computed from the others (-1).
std::optional<WrittenCall> WriteReshape(const Call& call) {
  const auto* shape = As<ShapeExpr>(call.args[1]);
  const auto* data = As<TensorType>(call.args[0]->type);
  if (!shape) return std::nullopt;
  Integers numbers;
  bool has_zero = false;
  bool has_copy = false;
  bool has_rest = false;
  for (uint32_t i = 0; i < shape->values.size(); ++i) {
    const int64_t* number = arith::AsInt(shape->values[i]);
    const bool copies = !number && data && data->known && i < data->dims.size() && data->dims[i] == shape->values[i];
    if (!number && !copies && std::exchange(has_rest, true)) return std::nullopt;
    has_zero |= number && *number == 0;
    has_copy |= copies;
    numbers.push_back(number ? *number : copies ? 0 : -1);
  }
  if (has_zero && has_copy) return std::nullopt;
  return WrittenCall{
      "reshape", {call.args[0]}, fmt::format(", newshape={}{}", Listed(numbers), has_zero ? ", allowzero=1" : "")};
}

std::optional<WrittenCall> WriteBroadcast(const Call& call) {
  const auto numbers = NumbersOf(call.args[1]);
  if (!numbers) return std::nullopt;
  return WrittenCall{"broadcast_to", {call.args[0]}, fmt::format(", shape={}", Listed(*numbers))};
}

std::optional<WrittenCall> WriteFilled(const Call& call) {
  const auto numbers = NumbersOf(call.args[0]);
  const auto* result = As<TensorType>(call.type);
  if (!numbers || !result) return std::nullopt;
  WrittenCall written{To<Op>(call.op)->info->script.substr(2), {}, {}};
  for (uint32_t i = 1; i < call.args.size(); ++i) written.operands.push_back(call.args[i]);
  written.attributes = fmt::format(", shape={}, dtype={}", Listed(*numbers), Quoted(result->dtype.ToString()));
  return written;
}

// Neighbouring axes.
std::optional<WrittenCall> WriteExpandDims(const Call& call) {
  const Integers axes = ExpandDimsAttrs(call).axis().vector();
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[0] + static_cast<int64_t>(i)) return std::nullopt;
  }
  if (axes.empty()) return std::nullopt;
  const std::string count = axes.size() > 1 ? fmt::format(", num_newaxis={}", axes.size()) : "";
  return WrittenCall{"expand_dims", {call.args[0]}, fmt::format(", axis={}{}", axes[0], count)};
}

std::optional<WrittenCall> WriteStridedSlice(const Call& call) {
  WrittenCall written{"strided_slice", {call.args[0]}, {}};
  const char* const names[] = {"axes", "begin", "end", "strides"};
  for (uint32_t i = 1; i < call.args.size(); ++i) {
    const auto numbers = NumbersOf(call.args[i]);
    if (!numbers) return std::nullopt;
    written.attributes += fmt::format(", {}={}", names[i - 1], Listed(*numbers));
  }
  return call.args.size() >= 4 ? std::optional(written) : std::nullopt;
}

std::optional<WrittenCall> WritePad(const Call& call) {
  const PadAttrs attrs(call);
  const Integers widths = attrs.pad_width().vector();
  std::vector<std::string> pairs;
  for (size_t i = 0; i + 1 < widths.size(); i += 2) pairs.push_back(Listed({widths[i], widths[i + 1]}));
  WrittenCall written = AllOperands("nn.pad", call);
  written.attributes = fmt::format(", pad_width=[{}], pad_mode={}", fmt::join(pairs, ", "), Quoted(attrs.pad_mode()));
  return written;
}

// Matrices, or batches of them.
std::optional<WrittenCall> WriteMatmul(const Call& call) {
  const auto* a = As<TensorType>(call.args[0]->type);
  const auto* b = As<TensorType>(call.args[1]->type);
  if (!a || !b || a->ndim != b->ndim || (a->ndim != 2 && a->ndim != 3)) return std::nullopt;
  const bool is_batch = a->ndim == 3;
  if (is_batch && (!a->known || !b->known || a->dims[0] != b->dims[0])) return std::nullopt;
  WrittenCall written = AllOperands(is_batch ? "nn.batch_matmul" : "nn.matmul", call);
  if (is_batch) written.attributes = ", transpose_b=False";
  if (const auto dtype = AttributeOf(call, "out_dtype")) written.attributes += ", out_dtype=" + *dtype;
  return written;
}

std::optional<WrittenCall> WriteLayerNorm(const Call& call) {
  const Integers axes = LayerNormAttrs(call).axes().vector();
  if (axes.size() != 1) return std::nullopt;
  WrittenCall written = AllOperands("nn.layer_norm", call);
  written.attributes = fmt::format(", axis={}, epsilon={}", axes[0], Number(LayerNormAttrs(call).epsilon()));
  return written;
}

// ---- Scalars

// A scalar as a constant in the text.
std::optional<std::string> ScalarText(const Expr* operand) {
  const auto* scalar = As<PrimValue>(operand);
  if (!scalar) return std::nullopt;
  if (const int64_t* number = arith::AsInt(scalar->value)) return fmt::format("{}", *number);
  const auto* real = As<tir::FloatImm>(scalar->value);
  return real ? std::optional(Number(real->value)) : std::nullopt;
}

std::optional<WrittenCall> WriteArange(const Call& call) {
  WrittenCall written{"arange", {}, {}};
  for (const Expr* arg : call.args) {
    const auto scalar = ScalarText(arg);
    if (!scalar) return std::nullopt;
    written.attributes += ", " + *scalar;
  }
  const auto* result = As<TensorType>(call.type);
  if (!result || call.args.size() != 3) return std::nullopt;
  written.attributes += fmt::format(", dtype={}", Quoted(result->dtype.ToString()));
  return written;
}

std::optional<WrittenCall> WriteOneHot(const Call& call) {
  const auto on = ScalarText(call.args[1]);
  const auto off = ScalarText(call.args[2]);
  const auto* result = As<TensorType>(call.type);
  if (!on || !off || !result) return std::nullopt;
  const OneHotAttrs attrs(call);
  return WrittenCall{"one_hot",
                     {call.args[0]},
                     fmt::format(", {}, {}, depth={}, axis={}, dtype={}", *on, *off, attrs.depth(), attrs.axis(),
                                 Quoted(result->dtype.ToString()))};
}

std::optional<WrittenCall> WriteTriangle(const Call& call) {
  const auto k = ScalarText(call.args[1]);
  if (!k) return std::nullopt;
  const bool upper = To<Op>(call.op)->id == OpId::kTriu;
  return WrittenCall{"trilu", {call.args[0]}, fmt::format(", {}, upper={}", *k, upper ? "True" : "False")};
}

// ---- Searches

std::string Truth(bool value) { return value ? "True" : "False"; }

std::optional<WrittenCall> WriteArgsort(const Call& call) {
  const ArgsortAttrs attrs(call);
  return WrittenCall{"argsort",
                     {call.args[0]},
                     fmt::format(", axis={}, is_ascend={}, dtype={}", attrs.axis(), Truth(!attrs.descending()),
                                 Quoted(attrs.dtype().ToString()))};
}

std::optional<WrittenCall> WriteSort(const Call& call) {
  const SortAttrs attrs(call);
  return WrittenCall{
      "sort", {call.args[0]}, fmt::format(", axis={}, is_ascend={}", attrs.axis(), Truth(!attrs.descending()))};
}

std::optional<WrittenCall> WriteTopk(const Call& call) {
  const TopKAttrs attrs(call);
  return WrittenCall{"topk",
                     {call.args[0]},
                     fmt::format(", k={}, axis={}, ret_type={}, is_ascend={}, dtype={}", attrs.k(), attrs.axis(),
                                 Quoted(attrs.ret_type()), Truth(!attrs.largest()), Quoted(attrs.dtype().ToString()))};
}

// ---- Calls that use others

// The positions of elements that are not zero, one in each row: those of Relax in columns, exchanged.
bool IsExchangedNonzero(const Call& call, BoundValue bound) {
  const auto* op = As<Op>(call.op);
  return op && op->id == OpId::kPermuteDims && CallOf(bound(call.args[0]), OpId::kNonzero);
}

// An argmax or argmin, which is of int32 in Relay and of int64 in Relax; positions of int32; else a conversion.
std::optional<WrittenCall> WriteCast(const Call& call, BoundValue bound) {
  const Expr* value = bound(call.args[0]);
  const Call* index = CallOf(value, OpId::kArgmax);
  if (!index) index = CallOf(value, OpId::kArgmin);
  const std::string dtype = AstypeAttrs(call).dtype().ToString();
  const auto* inner = As<Call>(value);
  if (inner && dtype == "int32" && IsExchangedNonzero(*inner, bound))
    return WrittenCall{"argwhere", {To<Call>(bound(inner->args[0]))->args[0]}, {}};
  if (!index) return WrittenCall{"cast", {call.args[0]}, fmt::format(", dtype={}", Quoted(dtype))};
  const auto axis = AttributeOf(*index, "axis");
  if (dtype != "int32" || !axis || AttributeOf(*index, "keepdims") != "False") return std::nullopt;
  const std::string_view name = To<Op>(index->op)->info->script.substr(2);
  return WrittenCall{name, {index->args[0]}, fmt::format(", axis=[{}]", *axis)};
}

// The size of a tensor as numbers.
std::optional<WrittenCall> WriteShapeOf(const Call&, const Expr* value) {
  const Call* shape = CallOf(value, OpId::kShapeOf);
  if (!shape) return std::nullopt;
  return WrittenCall{"shape_of", {shape->args[0]}, ", dtype=\"int64\""};
}

// Indices whose first axis was moved behind the others, as Relay has it in front.
const Expr* IndicesInFront(const Expr* indices, const Expr* value) {
  const auto* type = As<TensorType>(indices->type);
  if (type && type->ndim == 1) return indices;
  const Call* moved = CallOf(value, OpId::kPermuteDims);
  if (!moved) return nullptr;
  const auto given = PermuteDimsAttrs(*moved).axes();
  const Integers axes = given ? given->vector() : Integers();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>((i + 1) % axes.size())) return nullptr;
  }
  return axes.empty() ? nullptr : moved->args[0];
}

std::optional<WrittenCall> WriteGatherNd(const Call& call, const Expr* value) {
  const Expr* indices = IndicesInFront(call.args[1], value);
  if (!indices) return std::nullopt;
  return WrittenCall{
      "gather_nd", {call.args[0], indices}, fmt::format(", batch_dims={}", GatherNDAttrs(call).batch_dims())};
}

std::optional<WrittenCall> WriteScatterNd(const Call& call, const Expr* value) {
  const Expr* indices = IndicesInFront(call.args[1], value);
  if (!indices) return std::nullopt;
  return WrittenCall{"scatter_nd",
                     {call.args[0], indices, call.args[2]},
                     fmt::format(", mode={}", Quoted(ScatterNDAttrs(call).reduction()))};
}

// ---- Others

// The operator of Relay gives numbers of int32.
std::optional<WrittenCall> WriteBucketize(const Call& call) {
  const BucketizeAttrs attrs(call);
  if (!attrs.out_int32()) return std::nullopt;
  return WrittenCall{
      "searchsorted", {call.args[1], call.args[0]}, fmt::format(", right={}, dtype=\"int32\"", Truth(attrs.right()))};
}

std::optional<WrittenCall> WriteAffineGrid(const Call& call) {
  const auto size = NumbersOf(call.args[1]);
  if (!size || !AffineGridAttrs(call).align_corners()) return std::nullopt;
  return WrittenCall{"image.affine_grid", {call.args[0]}, fmt::format(", target_shape={}", Listed(*size))};
}

std::optional<WrittenCall> WriteRoiAlign(const Call& call) {
  const ROIAlignAttrs attrs(call);
  if (attrs.aligned()) return std::nullopt;
  return WrittenCall{"vision.roi_align",
                     {call.args[0], call.args[1]},
                     fmt::format(", pooled_size={}, spatial_scale={}, sample_ratio={}, layout={}, mode={}",
                                 Listed(attrs.pooled_size().vector()), Number(attrs.spatial_scale()),
                                 attrs.sample_ratio(), Quoted(attrs.layout()), Quoted(attrs.mode()))};
}

std::optional<WrittenCall> WriteIndexTensor(const Call& call) {
  const auto* indices = As<Tuple>(call.args[1]);
  if (!indices) return std::nullopt;
  WrittenCall written{"adv_index", {call.args[0]}, {}, true};
  written.operands.insert(written.operands.end(), indices->fields.begin(), indices->fields.end());
  return written;
}

std::optional<WrittenCall> WriteGroupNorm(const Call& call) {
  const GroupNormAttrs attrs(call);
  return WrittenCall{"nn.group_norm",
                     {call.args.begin(), call.args.end()},
                     fmt::format(", num_groups={}, axis={}, epsilon={}", attrs.num_groups(), attrs.channel_axis(),
                                 Number(attrs.epsilon()))};
}

constexpr std::string_view kResize =
    "roi layout method coordinate_transformation_mode cubic_alpha cubic_exclude extrapolation_value out_dtype";

std::string AttributesOf(const Call& call, std::string_view names) {
  std::string text;
  for (std::string_view rest = names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const size_t colon = name.find(':');
    const std::string_view relay = colon == name.npos ? name : name.substr(colon + 1);
    const auto value = AttributeOf(call, name.substr(0, colon));
    if (value) text += fmt::format(", {}={}", relay, *value);
  }
  return text;
}

// The rounding may be an empty text, which is not the default.
std::optional<WrittenCall> WriteResize(const Call& call) {
  const auto size = NumbersOf(call.args[1]);
  if (!size) return std::nullopt;
  return WrittenCall{To<Op>(call.op)->info->script.substr(2),
                     {call.args[0]},
                     fmt::format(", size={}{}, rounding_method={}", Listed(*size), AttributesOf(call, kResize),
                                 AttributeOf(call, "rounding_method").value_or(Quoted("")))};
}

constexpr std::string_view kConv = "strides padding dilation groups data_layout kernel_layout out_layout out_dtype";
constexpr std::string_view kConvTranspose =
    "strides padding output_padding dilation groups data_layout kernel_layout out_layout out_dtype";
constexpr std::string_view kMaxPool = "pool_size strides dilation padding layout out_layout ceil_mode";
constexpr std::string_view kAvgPool =
    "pool_size strides dilation padding layout out_layout ceil_mode count_include_pad";
constexpr std::string_view kAdaptive = "output_size layout out_layout";
constexpr std::string_view kReduce = "axis keepdims";

constexpr WrittenRow kRows[] = {
    {OpId::kAbs, "abs", ""},
    {OpId::kAcos, "acos", ""},
    {OpId::kAcosh, "acosh", ""},
    {OpId::kAdd, "add", ""},
    {OpId::kArange, "arange", "", &WriteArange},
    {OpId::kArgsort, "argsort", "", &WriteArgsort},
    {OpId::kAsin, "asin", ""},
    {OpId::kAsinh, "asinh", ""},
    {OpId::kAstype, "cast", ""},  // see WriteCast
    {OpId::kAtan, "atan", ""},
    {OpId::kAtanh, "atanh", ""},
    {OpId::kBitwiseAnd, "bitwise_and", ""},
    {OpId::kBitwiseNot, "bitwise_not", ""},
    {OpId::kBitwiseOr, "bitwise_or", ""},
    {OpId::kBitwiseXor, "bitwise_xor", ""},
    {OpId::kBroadcastTo, "broadcast_to", "", &WriteBroadcast},
    {OpId::kBucketize, "searchsorted", "", &WriteBucketize},
    {OpId::kCeil, "ceil", ""},
    {OpId::kClip, "clip", "", &WriteClip},
    {OpId::kCollapseSumLike, "collapse_sum_like", ""},
    {OpId::kCollapseSumTo, "collapse_sum_to", "", nullptr, nullptr, 0, &WriteCollapseSumTo},
    {OpId::kConcat, "concatenate", "axis"},
    {OpId::kCos, "cos", ""},
    {OpId::kCosh, "cosh", ""},
    {OpId::kCumprod, "cumprod", "axis dtype exclusive"},
    {OpId::kCumsum, "cumsum", "axis dtype exclusive"},
    {OpId::kDivide, "divide", ""},
    {OpId::kEinsum, "einsum", "subscripts:equation"},
    {OpId::kEqual, "equal", ""},
    {OpId::kErf, "erf", ""},
    {OpId::kExp, "exp", ""},
    {OpId::kExpandDims, "expand_dims", "", &WriteExpandDims},
    {OpId::kFlip, "reverse", "axis"},
    {OpId::kFloor, "floor", ""},
    {OpId::kFloorDivide, "floor_divide", ""},
    {OpId::kFloorMod, "floor_mod", ""},
    {OpId::kFull, "full", "", &WriteFilled},
    {OpId::kFullLike, "full_like", ""},
    {OpId::kGatherElements, "gather", "axis"},
    {OpId::kGatherNd, "gather_nd", "", nullptr, &WriteGatherNd, 1},
    {OpId::kGradAvgPool2dBackward, "nn.avg_pool2d_grad", kAvgPool},
    {OpId::kGradMaxPool2dBackward, "nn.max_pool2d_grad", kMaxPool},
    {OpId::kGreater, "greater", ""},
    {OpId::kGreaterEqual, "greater_equal", ""},
    {OpId::kImageAffineGrid, "image.affine_grid", "", &WriteAffineGrid},
    {OpId::kImageGridSample, "image.grid_sample", "method layout padding_mode align_corners"},
    {OpId::kImageResize2d, "image.resize2d", "", &WriteResize},
    {OpId::kImageResize3d, "image.resize3d", "", &WriteResize},
    {OpId::kIndexTensor, "adv_index", "", &WriteIndexTensor},
    {OpId::kIsFinite, "isfinite", ""},
    {OpId::kIsInf, "isinf", ""},
    {OpId::kIsNan, "isnan", ""},
    {OpId::kLeftShift, "left_shift", ""},
    {OpId::kLess, "less", ""},
    {OpId::kLessEqual, "less_equal", ""},
    {OpId::kLog, "log", ""},
    {OpId::kLogicalAnd, "logical_and", ""},
    {OpId::kLogicalNot, "logical_not", ""},
    {OpId::kLogicalOr, "logical_or", ""},
    {OpId::kLogicalXor, "logical_xor", ""},
    {OpId::kMatmul, "nn.matmul", "", &WriteMatmul},
    {OpId::kMax, "max", kReduce},
    {OpId::kMaximum, "maximum", ""},
    {OpId::kMean, "mean", kReduce},
    {OpId::kMeshgrid, "meshgrid", "indexing"},
    {OpId::kMin, "min", kReduce},
    {OpId::kMinimum, "minimum", ""},
    {OpId::kMod, "mod", ""},
    {OpId::kMultiply, "multiply", ""},
    {OpId::kNegative, "negative", ""},
    {OpId::kNnAdaptiveAvgPool1d, "nn.adaptive_avg_pool1d", kAdaptive},
    {OpId::kNnAdaptiveAvgPool2d, "nn.adaptive_avg_pool2d", kAdaptive},
    {OpId::kNnAdaptiveAvgPool3d, "nn.adaptive_avg_pool3d", kAdaptive},
    {OpId::kNnAvgPool1d, "nn.avg_pool1d", kAvgPool},
    {OpId::kNnAvgPool2d, "nn.avg_pool2d", kAvgPool},
    {OpId::kNnAvgPool3d, "nn.avg_pool3d", kAvgPool},
    {OpId::kNnBatchNorm, "nn.batch_norm", "axis epsilon center scale"},
    {OpId::kNnConv1d, "nn.conv1d", kConv},
    {OpId::kNnConv1dTranspose, "nn.conv1d_transpose", kConvTranspose},
    {OpId::kNnConv2d, "nn.conv2d", kConv},
    {OpId::kNnConv2dTranspose, "nn.conv2d_transpose", kConvTranspose},
    {OpId::kNnConv3d, "nn.conv3d", kConv},
    {OpId::kNnGroupNorm, "nn.group_norm", "", &WriteGroupNorm},
    {OpId::kNnInstanceNorm, "nn.instance_norm", "channel_axis:axis epsilon"},
    {OpId::kNnLayerNorm, "nn.layer_norm", "", &WriteLayerNorm},
    {OpId::kNnLeakyrelu, "nn.leaky_relu", "alpha"},
    {OpId::kNnLogSoftmax, "nn.log_softmax", "axis"},
    {OpId::kNnMaxPool1d, "nn.max_pool1d", kMaxPool},
    {OpId::kNnMaxPool2d, "nn.max_pool2d", kMaxPool},
    {OpId::kNnMaxPool3d, "nn.max_pool3d", kMaxPool},
    {OpId::kNnNllLoss, "nn.nll_loss", "reduction ignore_index"},
    {OpId::kNnPad, "nn.pad", "", &WritePad},
    {OpId::kNnPrelu, "nn.prelu", "axis"},
    {OpId::kNnRelu, "nn.relu", ""},
    {OpId::kNnSoftmax, "nn.softmax", "axis"},
    {OpId::kNotEqual, "not_equal", ""},
    {OpId::kOneHot, "one_hot", "", &WriteOneHot},
    {OpId::kOnes, "ones", "", &WriteFilled},
    {OpId::kOnesLike, "ones_like", ""},
    {OpId::kPermuteDims, "transpose", "axes"},
    {OpId::kPower, "power", ""},
    {OpId::kProd, "prod", kReduce},
    {OpId::kRepeat, "repeat", "repeats axis"},
    {OpId::kReshape, "reshape", "", &WriteReshape},
    {OpId::kReverseSequence, "reverse_sequence", "seq_axis batch_axis"},
    {OpId::kRightShift, "right_shift", ""},
    {OpId::kRound, "round", ""},
    {OpId::kRsqrt, "rsqrt", ""},
    {OpId::kScatterElements, "scatter_elements", "axis reduction"},
    {OpId::kScatterNd, "scatter_nd", "", nullptr, &WriteScatterNd, 1},
    {OpId::kShapeToTensor, "shape_of", "", nullptr, &WriteShapeOf},
    {OpId::kSigmoid, "sigmoid", ""},
    {OpId::kSign, "sign", ""},
    {OpId::kSin, "sin", ""},
    {OpId::kSinh, "sinh", ""},
    {OpId::kSort, "sort", "", &WriteSort},
    {OpId::kSplit, "split", "indices_or_sections axis"},
    {OpId::kSqrt, "sqrt", ""},
    {OpId::kSqueeze, "squeeze", "axis"},
    {OpId::kStack, "stack", "axis"},
    {OpId::kStridedSlice, "strided_slice", "", &WriteStridedSlice},
    {OpId::kSubtract, "subtract", ""},
    {OpId::kSum, "sum", kReduce},
    {OpId::kTake, "take", "axis mode"},
    {OpId::kTan, "tan", ""},
    {OpId::kTanh, "tanh", ""},
    {OpId::kTile, "tile", "repeats:reps"},
    {OpId::kTopk, "topk", "", &WriteTopk},
    {OpId::kTril, "trilu", "", &WriteTriangle},
    {OpId::kTriu, "trilu", "", &WriteTriangle},
    {OpId::kTrunc, "trunc", ""},
    {OpId::kVisionAllClassNonMaxSuppression, "vision.all_class_non_max_suppression", "output_format"},
    {OpId::kVisionGetValidCounts, "vision.get_valid_counts", "", nullptr, nullptr, 0, &WriteGetValidCounts},
    {OpId::kVisionNonMaxSuppression, "vision.non_max_suppression", "", nullptr, nullptr, 0, &WriteNonMaxSuppression},
    {OpId::kVisionRoiAlign, "vision.roi_align", "", &WriteRoiAlign},
    {OpId::kVisionRoiPool, "vision.roi_pool", "pooled_size spatial_scale layout"},
    {OpId::kWhere, "where", ""},
    {OpId::kZeros, "zeros", "", &WriteFilled},
    {OpId::kZerosLike, "zeros_like", ""},
};

}  // namespace

std::optional<WrittenCall> WriteOperator(const Call& call, BoundValue bound, Workspace& workspace) {
  const auto* op = As<Op>(call.op);
  const auto* row = std::ranges::find(kRows, op ? op->id : OpId{}, &WrittenRow::op);
  if (!op || row == std::end(kRows)) return std::nullopt;
  if (op->id == OpId::kAstype) return WriteCast(call, bound);
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
  return IsOneOf(*op, OpId::kArgmax, OpId::kArgmin, OpId::kNonzero, OpId::kShapeOf) || IsExchangedNonzero(call, bound);
}

}  // namespace iropt::relay
