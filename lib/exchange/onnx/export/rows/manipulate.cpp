// Operators that rearrange elements.

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/export/op_rows.h"
#include "exchange/onnx/reshape_text.h"
#include "iropt/analysis/relax/free_vars.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/slice.h"

namespace iropt::onnx {

namespace {

// ---- Joining and splitting

Names ExportConcat(OpExport& op) {
  const auto axis = op.Attrs<ConcatAttrs>().axis();
  Names parts = op.TupleIn(0);
  if (axis) return {op.Add("Concat", std::move(parts), {IntAttribute("axis", *axis)})};
  for (std::string_view& part : parts) part = op.Reshape(part, {-1});
  return {op.Add("Concat", std::move(parts), {IntAttribute("axis", 0)})};
}

Names ExportStack(OpExport& op) {
  const int64_t axis = op.Attrs<StackAttrs>().axis().value_or(0);
  Names parts = op.TupleIn(0);
  // A negative axis counts from the end of the result, which an index from the front is here as well.
  const auto* type = op.ResultType();
  if (axis < 0 && (type == nullptr || type->ndim < 0)) return op.Lacks("its rank is not known");
  const int64_t front = axis < 0 ? axis + type->ndim : axis;
  for (std::string_view& part : parts) part = op.Unsqueeze(part, {front});
  return {op.Add("Concat", std::move(parts), {IntAttribute("axis", front)})};
}

// The lengths of the parts.
std::optional<std::vector<int64_t>> SplitLengths(OpExport& op, int64_t axis) {
  const auto* type = op.TypeOf(0);
  const auto* dim = type && type->known ? As<tir::IntImm>(type->dims[static_cast<uint32_t>(axis)]) : nullptr;
  if (dim == nullptr) return std::nullopt;
  const auto indices = op.Attrs<SplitAttrs>().indices_or_sections();
  std::vector<int64_t> lengths;
  if (!indices.is_list) {
    const int64_t count = indices[0];
    const int64_t length = (dim->value + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) lengths.push_back(std::clamp<int64_t>(dim->value - i * length, 0, length));
    return lengths;
  }
  int64_t begin = 0;
  for (const int64_t index : indices) {
    const int64_t end = std::clamp<int64_t>(index, begin, std::max(begin, dim->value));
    lengths.push_back(std::min(end, dim->value) - std::min(begin, dim->value));
    begin = end;
  }
  lengths.push_back(dim->value - std::min(begin, dim->value));
  return lengths;
}

// Cuts the parts out by slices, for a length that is not known. O(parts).
Names SplitIntoSlices(OpExport& op, const IntList& indices, int64_t axis) {
  Names parts;
  int64_t begin = 0;
  for (size_t i = 0; i <= indices.size(); ++i) {
    const int64_t end = i < indices.size() ? std::max(begin, indices[i]) : INT64_MAX;
    if (op.version() >= 10)
      parts.push_back(op.Add("Slice", {op.In(0), op.Ints({begin}), op.Ints({end}), op.Ints({axis})}));
    else
      parts.push_back(
          op.Add("Slice", {op.In(0)},
                 {IntsAttribute("axes", {axis}), IntsAttribute("starts", {begin}), IntsAttribute("ends", {end})}));
    begin = end;
  }
  return parts;
}

Names ExportSplit(OpExport& op) {
  const auto* type = op.TypeOf(0);
  const auto* results = As<TupleType>(op.call().type);
  if (type == nullptr || type->ndim < 1 || results == nullptr) return op.Lacks("the rank of its data is not known");
  int64_t axis = op.Attrs<SplitAttrs>().axis();
  if (axis < 0) axis += type->ndim;
  const auto lengths = SplitLengths(op, axis);
  const auto indices = op.Attrs<SplitAttrs>().indices_or_sections();
  std::vector<AttributeProto> attributes{IntAttribute("axis", axis)};
  Names inputs{op.In(0)};
  const size_t count = results->fields.size();
  if (lengths && op.version() >= 13) {
    inputs.push_back(op.Ints(*lengths));
  } else if (lengths) {
    attributes.push_back(IntsAttribute("split", *lengths));
  } else if (indices.is_list) {
    return SplitIntoSlices(op, indices, axis);
  } else if (op.version() >= 18) {
    attributes.push_back(IntAttribute("num_outputs", indices[0]));
  }
  return op.exporter().AddNode("Split", inputs, attributes, count);
}

// ---- Shapes

// A dimension of the target that a number can stand for: itself, or 0 for one that stays.
std::optional<std::vector<int64_t>> ReshapeNumbers(OpExport& op, const ShapeExpr* shape) {
  const TensorType* from = op.TypeOf(0);
  std::vector<int64_t> numbers;
  size_t unknown = 0;
  bool has_zero = false;
  for (uint32_t i = 0; i < shape->values.size(); ++i) {
    const PrimExpr* dim = shape->values[i];
    const auto* number = As<tir::IntImm>(dim);
    has_zero |= number != nullptr && number->value == 0;
    const bool stays = from != nullptr && from->known && i < from->dims.size() && from->dims[i] == dim;
    numbers.push_back(number ? number->value : stays ? 0 : -1);
    unknown += number == nullptr && !stays ? 1 : 0;
  }
  // A dimension of no elements would be read as one that stays.
  if (has_zero) return std::nullopt;
  return unknown <= 1 ? std::optional(numbers) : std::nullopt;
}

// A dimension as a scalar: reshape(shape_to_tensor(R.shape([n])), R.shape([])). Empty if a vector of what is computed
// is needed as well, or for other reshapes.
std::string_view ScalarDim(OpExport& op, const ShapeExpr* shape) {
  const auto* source = As<Call>(op.Resolved(0));
  const auto* callee = source ? As<Op>(source->op) : nullptr;
  if (shape == nullptr || !shape->values.empty() || callee == nullptr || callee->id != op::kShapeToTensor) return {};
  const auto* dims = As<ShapeExpr>(op.exporter().definitions().Resolve(source->args[0]));
  const auto* var = As<Var>(op.Arg(0));
  const bool is_dim = dims != nullptr && dims->values.size() == 1 &&
                      (Is<tir::Var>(dims->values[0]) || (var && op.exporter().definitions().IsUsedOnce(var)));
  return is_dim ? op.exporter().dims().DimScalar(dims->values[0]) : std::string_view();
}

// The axes of length 1 that make the longer list of dimensions of the shorter one; nothing if others differ.
std::optional<std::vector<int64_t>> AddedOnes(List<const PrimExpr*> shorter, List<const PrimExpr*> longer) {
  std::vector<int64_t> axes;
  uint32_t taken = 0;
  for (uint32_t i = 0; i < longer.size(); ++i) {
    if (taken < shorter.size() && DeepEqual(longer[i], shorter[taken])) {
      ++taken;
    } else if (arith::IsInt(longer[i], 1)) {
      axes.push_back(i);
    } else {
      return std::nullopt;
    }
  }
  return taken == shorter.size() ? std::optional(axes) : std::nullopt;
}

// The first axis of the second dimension, where a tensor becomes a matrix.
std::optional<int64_t> FlattenedFrom(List<const PrimExpr*> from, List<const PrimExpr*> to) {
  if (to.size() != 2) return std::nullopt;
  constexpr arith::PrimBuilder kBuilder;
  for (uint32_t axis = 0; axis <= from.size(); ++axis) {
    const PrimExpr* sizes[2] = {IRContext::Current().Int(1), IRContext::Current().Int(1)};
    for (uint32_t i = 0; i < from.size(); ++i) {
      const PrimExpr*& size = sizes[i < axis ? 0 : 1];
      size = kBuilder.Mul(size, from[i]);
    }
    if (DeepEqual(sizes[0], to[0]) && DeepEqual(sizes[1], to[1])) return axis;
  }
  return std::nullopt;
}

// What a reshape does where no elements decide a dimension, and numbers would not tell it. Empty for other reshapes.
std::string_view ReshapeOfNothing(OpExport& op, const ShapeExpr* shape) {
  const TensorType* from = op.TypeOf(0);
  const List<const PrimExpr*> to = shape->values;
  if (from == nullptr || !from->known) return {};
  if (to.size() > from->dims.size()) {
    if (auto axes = AddedOnes(from->dims, to)) return op.Unsqueeze(op.In(0), std::move(*axes));
  } else if (to.size() < from->dims.size()) {
    if (auto axes = AddedOnes(to, from->dims)) return op.Squeeze(op.In(0), std::move(*axes));
  }
  const auto axis = op.version() >= 9 ? FlattenedFrom(from->dims, to) : std::nullopt;
  return axis ? op.Add("Flatten", {op.In(0)}, {IntAttribute("axis", *axis)}) : std::string_view();
}

// Returns whether a run may have no elements where a dimension that stays is 0: runtimes refuse a -1 then.
bool IsRefusedForZero(OpExport& op, const ShapeExpr* shape, std::span<const int64_t> numbers) {
  const ReshapeForms& forms = op.exporter().context().reshape_forms();
  if (!forms.are_exact) return false;
  for (uint32_t i = 0; i < shape->values.size(); ++i) {
    if (numbers[i] != 0) continue;
    const std::vector<const tir::Var*> vars = SymVarsOf(shape->values[i]);
    if (std::ranges::any_of(vars, [&](const tir::Var* var) { return !forms.next_to_inferred.contains(var->name); }))
      return true;
  }
  return false;
}

// The attribute with which a computed size of 0 is one, and not the dimension of the operand. None if that is the same,
// or if the model had such a reshape without it.
std::vector<AttributeProto> SizesOfZero(OpExport& op, const ShapeExpr* shape) {
  if (op.version() < 14) return {};
  const TensorType* from = op.TypeOf(0);
  if (shape != nullptr && from != nullptr && from->known) {
    bool is_same = true;
    for (uint32_t i = 0; is_same && i < shape->values.size(); ++i) {
      const auto* number = As<tir::IntImm>(shape->values[i]);
      is_same = (number != nullptr && number->value != 0) ||
                (i < from->dims.size() && DeepEqual(from->dims[i], shape->values[i]));
    }
    const ReshapeForms& forms = op.exporter().context().reshape_forms();
    if (is_same || forms.copies_zeros.contains(TextOfReshape(*from, shape->values.span()))) return {};
  }
  return {IntAttribute("allowzero", 1)};
}

std::string_view ReshapeByComputed(OpExport& op, const ShapeExpr* shape) {
  std::vector<AttributeProto> attributes = SizesOfZero(op, shape);
  const TensorType* from = op.TypeOf(0);
  const bool copies = attributes.empty() && from != nullptr && from->known;
  const std::span<const PrimExpr* const> copied = copies ? from->dims.span() : std::span<const PrimExpr* const>();
  const std::string_view target = op.exporter().dims().ShapeTensor(shape->values.span(), copied);
  return target.empty() ? target : op.Add("Reshape", {op.In(0), target}, std::move(attributes));
}

std::string_view ReshapeByNumbers(OpExport& op, const ShapeExpr* shape, std::vector<int64_t> numbers) {
  const bool is_unclear = std::ranges::count(numbers, 0) != 0 && std::ranges::count(numbers, -1) != 0;
  if (is_unclear) {
    if (const std::string_view exact = ReshapeOfNothing(op, shape); !exact.empty()) return exact;
    if (IsRefusedForZero(op, shape, numbers)) {
      op.exporter().context().NoteExactReshape();
      return ReshapeByComputed(op, shape);
    }
  }
  return op.Reshape(op.In(0), std::move(numbers));
}

Names ExportReshape(OpExport& op) {
  const auto* shape = As<ShapeExpr>(op.Resolved(1));
  if (const std::string_view scalar = ScalarDim(op, shape); !scalar.empty()) return {scalar};
  if (shape != nullptr) {
    if (auto numbers = ReshapeNumbers(op, shape)) return {ReshapeByNumbers(op, shape, std::move(*numbers))};
  }
  if (shape != nullptr) return {ReshapeByComputed(op, shape)};
  const std::string_view target = op.ShapeOperand(op.Arg(1));
  return target.empty() ? Names() : Names{op.Add("Reshape", {op.In(0), target}, SizesOfZero(op, nullptr))};
}

Names ExportFlatten(OpExport& op) { return {op.Reshape(op.In(0), {-1})}; }
Names ExportBatchFlatten(OpExport& op) { return {op.Add("Flatten", {op.In(0)}, {IntAttribute("axis", 1)})}; }

// Both shapes broadcast in ONNX: a dimension that stays is 1 there, unless it is a number, which tells more.
std::string_view BroadcastShape(OpExport& op) {
  const auto* shape = As<ShapeExpr>(op.Resolved(1));
  const auto* type = op.TypeOf(0);
  if (shape == nullptr || type == nullptr || !type->known) return op.ShapeOperand(op.Arg(1));
  std::vector<const PrimExpr*> dims(shape->values.begin(), shape->values.end());
  for (size_t from_end = 1; from_end <= type->dims.size() && from_end <= dims.size(); ++from_end) {
    const PrimExpr*& dim = dims[dims.size() - from_end];
    const PrimExpr* old = type->dims[static_cast<uint32_t>(type->dims.size() - from_end)];
    if (!Is<tir::IntImm>(dim) && DeepEqual(dim, old)) dim = IRContext::Current().Int(1);
  }
  return op.exporter().dims().ShapeTensor(dims);
}

Names ExportBroadcastTo(OpExport& op) {
  const std::string_view shape = BroadcastShape(op);
  return shape.empty() ? Names() : Names{op.Add("Expand", {op.In(0), shape})};
}

Names ExportPermuteDims(OpExport& op) {
  const auto axes = op.Attrs<PermuteDimsAttrs>().axes();
  if (!axes) return {op.Add("Transpose", {op.In(0)})};
  std::vector<int64_t> perm = axes->vector();
  for (int64_t& axis : perm) axis += axis < 0 ? static_cast<int64_t>(perm.size()) : 0;
  return {op.Transpose(op.In(0), std::move(perm))};
}

// Axes count from the front where negative ones are not allowed.
std::vector<int64_t> FromFront(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) axis += axis < 0 && rank >= 0 ? rank : 0;
  return axes;
}

Names ExportSqueeze(OpExport& op) {
  const auto axes = op.Attrs<SqueezeAttrs>().axis();
  if (axes) return {op.Squeeze(op.In(0), FromFront(axes->vector(), op.Rank(0)))};
  const auto dims = StaticDimsOf(op.TypeOf(0));
  if (!dims) return {op.Add("Squeeze", {op.In(0)})};
  std::vector<int64_t> ones;
  for (size_t i = 0; i < dims->size(); ++i) {
    if ((*dims)[i] == 1) ones.push_back(static_cast<int64_t>(i));
  }
  return ones.empty() ? Names{op.In(0)} : Names{op.Squeeze(op.In(0), ones)};
}

Names ExportExpandDims(OpExport& op) {
  const std::vector<int64_t> axes = op.Attrs<ExpandDimsAttrs>().axis().vector();
  const int rank = op.Rank(0);
  if (rank < 0 && std::ranges::any_of(axes, [](int64_t a) { return a < 0; }))
    return op.Lacks("the rank of its data is not known");
  return {op.Unsqueeze(op.In(0), FromFront(axes, rank + static_cast<int>(axes.size())))};
}

Names ExportTile(OpExport& op) {
  std::vector<int64_t> repeats = op.Attrs<TileAttrs>().repeats().vector();
  const int rank = op.Rank(0);
  if (rank < 0) return op.Lacks("the rank of its data is not known");
  std::string_view x = op.In(0);
  if (repeats.size() < static_cast<size_t>(rank))
    repeats.insert(repeats.begin(), static_cast<size_t>(rank) - repeats.size(), 1);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < static_cast<int64_t>(repeats.size()) - rank; ++i) axes.push_back(i);
  if (!axes.empty()) x = op.Unsqueeze(x, axes);
  return {op.Add("Tile", {x, op.Ints(repeats)})};
}

// Each element several times, one after the other: a new dimension after the axis that is then part of it.
Names ExportRepeat(OpExport& op) {
  const auto attrs = op.Attrs<RepeatAttrs>();
  const auto dims = StaticDimsOf(op.TypeOf(0));
  if (!dims) return op.Lacks("the shape of its data is not known");
  std::vector<int64_t> shape = *dims;
  std::string_view x = op.In(0);
  int64_t axis = attrs.axis().value_or(0);
  if (!attrs.axis()) {
    x = op.Reshape(x, {-1});
    int64_t product = 1;
    for (const int64_t dim : shape) product *= dim;
    shape = {product};
  }
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> repeats(shape.size() + 1, 1);
  repeats[at + 1] = attrs.repeats();
  const std::string_view tiled = op.Add("Tile", {op.Unsqueeze(x, {axis + 1}), op.Ints(repeats)});
  shape[at] *= attrs.repeats();
  return {op.Reshape(tiled, shape)};
}

// Steps of -1 from the last element on.
Names ExportFlip(OpExport& op) {
  if (op.version() < 10) return op.Needs(10);
  const int64_t axis = op.Attrs<FlipAttrs>().axis();
  return {op.Add("Slice", {op.In(0), op.Ints({-1}), op.Ints({INT64_MIN}), op.Ints({axis}), op.Ints({-1})})};
}

// ---- Parts

// The numbers of a tuple of PrimValues.
std::optional<std::vector<const PrimExpr*>> PrimsOf(OpExport& op, size_t i) {
  std::vector<const PrimExpr*> prims;
  const auto* tuple = As<iropt::Tuple>(op.Resolved(i));
  if (tuple == nullptr) return std::nullopt;
  for (const Expr* field : tuple->fields) {
    const auto* value = As<PrimValue>(op.exporter().definitions().Resolve(field));
    if (value == nullptr) return std::nullopt;
    prims.push_back(value->value);
  }
  return prims;
}

std::optional<std::vector<int64_t>> NumbersOf(const std::vector<const PrimExpr*>& prims) {
  std::vector<int64_t> numbers;
  for (const PrimExpr* prim : prims) {
    const auto* number = As<tir::IntImm>(prim);
    if (number == nullptr) return std::nullopt;
    numbers.push_back(number->value);
  }
  return numbers;
}

// Ends that are the lengths of the dimensions need not be computed.
void OpenEnds(const TensorType* type, std::span<const int64_t> axes, std::vector<const PrimExpr*>& ends) {
  if (type == nullptr || !type->known) return;
  const auto rank = static_cast<int64_t>(type->dims.size());
  for (size_t i = 0; i < ends.size() && i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (!Is<tir::IntImm>(ends[i]) && axis >= 0 && axis < rank &&
        DeepEqual(ends[i], type->dims[static_cast<uint32_t>(axis)]))
      ends[i] = IRContext::Current().Int(INT64_MAX);
  }
}

Names ExportStridedSlice(OpExport& op) {
  const auto axes = PrimsOf(op, 1);
  const auto begin = PrimsOf(op, 2);
  auto end = PrimsOf(op, 3);
  if (!axes || !begin || !end) return op.Lacks("its bounds are not known");
  const auto strides = op.num_args() > 4 ? PrimsOf(op, 4) : std::vector<const PrimExpr*>();
  if (!strides) return op.Lacks("its strides are not known");
  const auto axis_numbers = NumbersOf(*axes);
  const auto stride_numbers = NumbersOf(*strides);
  if (!axis_numbers || !stride_numbers) return op.Lacks("its axes are not known");
  const bool steps = std::ranges::any_of(*stride_numbers, [](int64_t s) { return s != 1; });
  if (std::ranges::all_of(*stride_numbers, [](int64_t s) { return s > 0; }))
    OpenEnds(op.TypeOf(0), *axis_numbers, *end);
  FunctionExporter& exporter = op.exporter();
  if (op.version() < 10) {
    const auto begins = NumbersOf(*begin);
    const auto ends = NumbersOf(*end);
    if (steps || !begins || !ends) return op.Needs(10);
    return {
        op.Add("Slice", {op.In(0)},
               {IntsAttribute("axes", *axis_numbers), IntsAttribute("starts", *begins), IntsAttribute("ends", *ends)})};
  }
  Names inputs{op.In(0), exporter.dims().ShapeTensor(*begin), exporter.dims().ShapeTensor(*end),
               op.Ints(*axis_numbers)};
  if (steps) inputs.push_back(op.Ints(*stride_numbers));
  return {op.Add("Slice", inputs)};
}

Names ExportDynamicStridedSlice(OpExport& op) {
  if (op.version() < 10) return op.Needs(10);
  const int rank = op.Rank(0);
  if (rank < 0) return op.Lacks("the rank of its data is not known");
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return {op.Add("Slice", {op.In(0), op.In(1), op.In(2), op.Ints(axes), op.In(3)})};
}

// Indices out of range are clipped, or wrap around, unless they cannot be.
Names ExportTake(OpExport& op) {
  const auto attrs = op.Attrs<TakeAttrs>();
  std::string_view x = op.In(0);
  std::string_view indices = op.In(1);
  if (!attrs.axis()) x = op.Reshape(x, {-1});
  const DataType dtype = op.Dtype(1);
  if (dtype != DataType::Int(64) && dtype != DataType::Int(32)) indices = op.Cast(indices, dtype, DataType::Int(64));
  const int64_t axis = attrs.axis().value_or(0);
  const auto* type = op.TypeOf(0);
  // A node that was read counts from the end, too, and has no index beyond that.
  const bool wraps = attrs.mode() == "wrap" && !op.exporter().context().came_from_onnx();
  const bool in_range = attrs.mode() != "clip" && !wraps;
  if (!in_range && !Is<iropt::Constant>(op.Resolved(1))) {
    const auto at = static_cast<uint32_t>(axis < 0 && type ? axis + type->ndim : axis);
    const auto* dim = type && type->known && attrs.axis() ? As<tir::IntImm>(type->dims[at]) : nullptr;
    if (dim == nullptr) return op.Lacks("the dimension that it takes from is not known");
    const DataType index = dtype == DataType::Int(32) ? dtype : DataType::Int(64);
    if (wraps) {
      indices = op.Add("Mod", {indices, op.Scalar(static_cast<double>(dim->value), index)});
    } else {
      if (op.version() < 12) return op.Needs(12);
      indices = op.Add("Clip", {indices, op.Scalar(0, index), op.Scalar(static_cast<double>(dim->value - 1), index)});
    }
  }
  return {op.Add("Gather", {x, indices}, {IntAttribute("axis", axis)})};
}

Names ExportGatherElements(OpExport& op) {
  return {
      op.Add("GatherElements", {op.In(0), op.In(1)}, {IntAttribute("axis", op.Attrs<GatherElementsAttrs>().axis())})};
}

Names ExportGatherNd(OpExport& op) {
  const int64_t batch = op.Attrs<GatherNDAttrs>().batch_dims();
  if (batch == 0) return {op.Add("GatherND", {op.In(0), op.In(1)})};
  if (op.version() < 12) return op.Needs(12);
  return {op.Add("GatherND", {op.In(0), op.In(1)}, {IntAttribute("batch_dims", batch)})};
}

// The reductions of ONNX's scatters, and the versions that have them.
Names ExportScatter(OpExport& op, std::string_view kind, std::string_view reduction,
                    std::vector<AttributeProto> attributes) {
  const bool newer = reduction == "min" || reduction == "max";
  if (reduction != "update") {
    if (reduction != "add" && reduction != "mul" && !newer)
      return op.Lacks(fmt::format("ONNX has no reduction '{}'", reduction));
    const int since = newer ? 18 : 16;
    if (op.version() < since) return op.Needs(since);
    attributes.push_back(TextAttribute("reduction", reduction));
  }
  return {op.Add(kind, {op.In(0), op.In(1), op.In(2)}, attributes)};
}

Names ExportScatterElements(OpExport& op) {
  const auto attrs = op.Attrs<ScatterElementsAttrs>();
  return ExportScatter(op, op.version() < 11 ? "Scatter" : "ScatterElements", attrs.reduction(),
                       {IntAttribute("axis", attrs.axis())});
}

Names ExportScatterNd(OpExport& op) {
  return ExportScatter(op, "ScatterND", op.Attrs<ScatterNDAttrs>().reduction(), {});
}

// Returns whether no element of a constant is negative.
bool HasNoNegatives(const iropt::Constant* indices) {
  if (indices == nullptr) return false;
  const NDArray& array = *indices->data;
  const auto fits = [](auto index) { return index >= 0; };
  if (array.dtype() == DataType::Int(64)) return std::ranges::all_of(array.As<int64_t>(), fits);
  return array.dtype() == DataType::Int(32) && std::ranges::all_of(array.As<int32_t>(), fits);
}

// Negative indices are out of range in Relax, and count from the end in ONNX.
Names ExportOneHot(OpExport& op) {
  const auto attrs = op.Attrs<OneHotAttrs>();
  const auto* on = As<PrimValue>(op.Resolved(1));
  const auto* off = As<PrimValue>(op.Resolved(2));
  std::shared_ptr<const NDArray> values =
      on && off && op.ResultType() ? OneHotValues(*on, *off, op.ResultType()->dtype) : nullptr;
  if (values == nullptr) return op.Lacks("its values are not numbers");
  const DataType dtype = op.Dtype(0);
  std::string_view indices = op.In(0);
  if (!dtype.is_uint() && !HasNoNegatives(As<iropt::Constant>(op.Resolved(0)))) {
    const std::string_view is_negative = op.Add("Less", {indices, op.Scalar(0, dtype)});
    indices = op.Add("Where", {is_negative, op.Scalar(static_cast<double>(attrs.depth()), dtype), indices});
  }
  return {op.Add("OneHot",
                 {indices, op.Ints({attrs.depth()}), op.exporter().context().Initializer(std::move(values), "")},
                 {IntAttribute("axis", attrs.axis())})};
}

Names ExportReverseSequence(OpExport& op) {
  const auto attrs = op.Attrs<ReverseSequenceAttrs>();
  return {op.Add("ReverseSequence", {op.In(0), op.Cast(op.In(1), op.Dtype(1), DataType::Int(64))},
                 {IntAttribute("batch_axis", attrs.batch_axis()), IntAttribute("time_axis", attrs.seq_axis())})};
}

constexpr ExportRow kManipulateExports[] = {
    {op::kBroadcastTo, "Expand", 8, ExportBroadcastTo},
    {op::kConcat, "Concat", 4, ExportConcat},
    {op::kDynamicStridedSlice, "Slice", 10, ExportDynamicStridedSlice},
    {op::kExpandDims, "Unsqueeze", 1, ExportExpandDims},
    {op::kFlatten, "Reshape", 5, ExportFlatten},
    {op::kFlip, "Slice", 10, ExportFlip},
    {op::kGatherElements, "GatherElements", 11, ExportGatherElements},
    {op::kGatherNd, "GatherND", 11, ExportGatherNd},
    {op::kNnBatchFlatten, "Flatten", 9, ExportBatchFlatten},
    {op::kNonzero, "NonZero", 9},
    {op::kOneHot, "OneHot", 9, ExportOneHot},
    {op::kPermuteDims, "Transpose", 1, ExportPermuteDims},
    {op::kRepeat, "", 6, ExportRepeat},  // Unsqueeze, Tile, Reshape
    {op::kReshape, "Reshape", 5, ExportReshape},
    {op::kReverseSequence, "ReverseSequence", 10, ExportReverseSequence},
    {op::kScatterElements, "", 9, ExportScatterElements},  // ScatterElements; before 11 Scatter
    {op::kScatterNd, "ScatterND", 11, ExportScatterNd},
    {op::kSplit, "Split", 2, ExportSplit},
    {op::kSqueeze, "Squeeze", 1, ExportSqueeze},
    {op::kStack, "", 4, ExportStack},  // Unsqueeze, Concat
    {op::kStridedSlice, "Slice", 1, ExportStridedSlice},
    {op::kTake, "Gather", 1, ExportTake},
    {op::kTile, "Tile", 6, ExportTile},
};

}  // namespace

std::span<const ExportRow> ManipulateExports() { return kManipulateExports; }

}  // namespace iropt::onnx
