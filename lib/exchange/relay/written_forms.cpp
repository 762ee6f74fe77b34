#include "written_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/op/ops/vision.h"

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

}  // namespace

// ---- Forms

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

namespace {

// A scalar as a constant in the text.
std::optional<std::string> ScalarText(const Expr* operand) {
  const auto* scalar = As<PrimValue>(operand);
  if (!scalar) return std::nullopt;
  if (const int64_t* number = arith::AsInt(scalar->value)) return fmt::format("{}", *number);
  const auto* real = As<tir::FloatImm>(scalar->value);
  return real ? std::optional(Number(real->value)) : std::nullopt;
}

}  // namespace

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
  const bool upper = To<Op>(call.op)->info->script == "R.triu";
  return WrittenCall{"trilu", {call.args[0]}, fmt::format(", {}, upper={}", *k, upper ? "True" : "False")};
}

// ---- Searches

namespace {

std::string Truth(bool value) { return value ? "True" : "False"; }

}  // namespace

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
  return op && op->id == op::kPermuteDims && CallOf(bound(call.args[0]), op::kNonzero);
}

// An argmax or argmin, which is of int32 in Relay and of int64 in Relax; positions of int32; else a conversion.
std::optional<WrittenCall> WriteCast(const Call& call, BoundValue bound) {
  const Expr* value = bound(call.args[0]);
  const Call* index = CallOf(value, op::kArgmax);
  if (!index) index = CallOf(value, op::kArgmin);
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
  const Call* shape = CallOf(value, op::kShapeOf);
  if (!shape) return std::nullopt;
  return WrittenCall{"shape_of", {shape->args[0]}, ", dtype=\"int64\""};
}

namespace {

// Indices whose first axis was moved after the others, as Relay has it in front.
const Expr* IndicesInFront(const Expr* indices, const Expr* value) {
  const auto* type = As<TensorType>(indices->type);
  if (type && type->ndim == 1) return indices;
  const Call* moved = CallOf(value, op::kPermuteDims);
  if (!moved) return nullptr;
  const auto given = PermuteDimsAttrs(*moved).axes();
  const Integers axes = given ? given->vector() : Integers();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>((i + 1) % axes.size())) return nullptr;
  }
  return axes.empty() ? nullptr : moved->args[0];
}

}  // namespace

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

namespace {

constexpr std::string_view kResize =
    "roi, layout, method, coordinate_transformation_mode, cubic_alpha, cubic_exclude, extrapolation_value, out_dtype";

}  // namespace

std::string AttributesOf(const Call& call, std::string_view names) {
  std::string text;
  for (std::string_view rest = names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + std::string_view(", ").size()));
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

}  // namespace iropt::relay
