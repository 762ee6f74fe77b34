// Operators that choose elements, and rare ones that are a few nodes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/ir/structural.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/device.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/grad.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/repeat.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/statistical.h"

namespace iropt::onnx {

namespace {

// ---- Indices

// The tensors of a tuple, or the tensor.
std::vector<const Expr*> TensorsOf(OpExport& op, size_t i) {
  const auto* tuple = As<iropt::Tuple>(op.Resolved(i));
  if (tuple == nullptr) return {op.Arg(i)};
  return {tuple->fields.begin(), tuple->fields.end()};
}

// Index tensors as int64[dims..., their number].
std::string_view JoinedIndices(OpExport& op, const std::vector<const Expr*>& indices,
                               const std::vector<const PrimExpr*>& dims) {
  Names columns;
  for (const Expr* index : indices) {
    const TensorType* type = OpExport::TensorOf(index);
    const bool is_whole = type->known && std::ranges::equal(type->dims, dims);
    std::string_view column = op.Cast(op.exporter().NameOf(index), type->dtype, DataType::Int(64));
    if (!is_whole) column = op.Add("Expand", {column, op.exporter().dims().ShapeTensor(dims)});
    columns.push_back(op.Unsqueeze(column, {static_cast<int64_t>(dims.size())}));
  }
  return op.Add("Concat", std::move(columns), {IntAttribute("axis", -1)});
}

bool HasTypes(const std::vector<const Expr*>& indices) {
  return !indices.empty() && std::ranges::all_of(indices, [](const Expr* index) {
    const TensorType* type = OpExport::TensorOf(index);
    return type != nullptr && type->known && type->dtype.is_integer() && !type->dtype.is_bool();
  });
}

Names ExportIndexTensor(OpExport& op) {
  const std::vector<const Expr*> indices = TensorsOf(op, 1);
  const TensorType* result = op.ResultType();
  const int rank = op.Rank(0);
  if (!HasTypes(indices) || result == nullptr || !result->known || rank < 0)
    return op.Lacks("the shapes of its indices are not known");
  if (indices.size() == 1) {
    const DataType dtype = OpExport::TensorOf(indices[0])->dtype;
    const bool fits = dtype == DataType::Int(32) || dtype == DataType::Int(64);
    const std::string_view places = op.exporter().NameOf(indices[0]);
    return {op.Add("Gather", {op.In(0), fits ? places : op.Cast(places, dtype, DataType::Int(64))},
                   {IntAttribute("axis", 0)})};
  }
  const size_t kept = static_cast<size_t>(rank) - indices.size();
  const std::vector<const PrimExpr*> dims(result->dims.begin(), result->dims.end() - static_cast<ptrdiff_t>(kept));
  return {op.Add("GatherND", {op.In(0), JoinedIndices(op, indices, dims)})};
}

Names ExportIndexPut(OpExport& op) {
  const std::vector<const Expr*> indices = TensorsOf(op, 1);
  const TensorType* values = op.TypeOf(2);
  if (!HasTypes(indices) || values == nullptr || !values->known)
    return op.Lacks("the shapes of its indices and values are not known");
  // They are repeated to the shape of the values.
  const auto spreads = [&](const Expr* index) {
    const auto& own = OpExport::TensorOf(index)->dims;
    if (own.size() > values->dims.size()) return false;
    for (uint32_t i = 1; i <= own.size(); ++i) {
      const PrimExpr* dim = own[own.size() - i];
      const auto* number = As<tir::IntImm>(dim);
      if (!(number && number->value == 1) && !StructuralEqual(dim, values->dims[values->dims.size() - i])) return false;
    }
    return true;
  };
  if (!std::ranges::all_of(indices, spreads)) return op.Lacks("its values do not have the shape of the indices");
  const std::vector<const PrimExpr*> dims(values->dims.begin(), values->dims.end());
  std::vector<AttributeProto> attributes;
  if (op.Attrs<IndexPutAttrs>().accumulate()) {
    if (op.version() < 16) return op.Needs(16);
    attributes.push_back(TextAttribute("reduction", "add"));
  }
  return {op.Add("ScatterND", {op.In(0), JoinedIndices(op, indices, dims), op.In(2)}, std::move(attributes))};
}

// The number of boundaries that are below the value, or not above it.
Names ExportBucketize(OpExport& op) {
  const auto attrs = op.Attrs<BucketizeAttrs>();
  const int rank = op.Rank(0);
  if (rank < 0) return op.Lacks("the rank of its data is not known");
  const std::string_view values = op.Unsqueeze(op.In(0), {rank});
  const std::string_view is_passed = op.Add(attrs.right() ? "LessOrEqual" : "Less", {op.In(1), values});
  const DataType dtype = DataType::Int(attrs.out_int32() ? 32 : 64);
  return {op.Reduce("ReduceSum", op.Cast(is_passed, DataType::Bool(), dtype), {rank}, false)};
}

Names ExportUnique(OpExport& op) {
  std::vector<AttributeProto> attributes;
  int64_t flags[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    const auto flag = op.IntArg(i + 1);
    if (!flag) return op.Lacks("its flags and its axis are not numbers");
    flags[i] = *flag;
  }
  attributes.push_back(IntAttribute("sorted", flags[0] != 0 ? 1 : 0));
  if (op.num_args() > 5) {
    const auto axis = op.IntArg(5);
    if (!axis) return op.Lacks("its flags and its axis are not numbers");
    attributes.push_back(IntAttribute("axis", *axis));
  }
  const Names all = op.exporter().AddNode("Unique", {op.In(0)}, std::move(attributes), 4);
  Names results{all[0]};
  for (size_t i = 1; i < 4; ++i) {
    if (flags[i] != 0) results.push_back(all[i]);
  }
  return results;
}

// ---- Parts

Names ExportSliceScatter(OpExport& op) {
  const TensorType* type = op.TypeOf(0);
  const auto start = op.IntArg(2), end = op.IntArg(3), step = op.IntArg(4);
  if (!start || !end || !step || *step < 1 || *start < 0 || *end < *start)
    return op.Lacks("its range is not given by numbers");
  if (type == nullptr || !type->known) return op.Lacks("its shape is not known");
  int64_t axis = op.Attrs<SliceScatterAttrs>().axis();
  axis += axis < 0 ? type->ndim : 0;
  const auto* length = As<tir::IntImm>(type->dims[static_cast<uint32_t>(axis)]);
  if (length != nullptr && *end > length->value) return op.Lacks("its range ends behind the tensor");
  if (length == nullptr && *step != 1) return op.Lacks("the length of its axis is not known");
  if (*step == 1) {
    const auto part = [&](int64_t from, int64_t to) {
      return op.Add("Slice", {op.In(0), op.Ints({from}), op.Ints({to}), op.Ints({axis})});
    };
    Names parts;
    if (*start > 0) parts.push_back(part(0, *start));
    parts.push_back(op.In(1));
    if (length == nullptr || length->value != *end) parts.push_back(part(*end, std::numeric_limits<int64_t>::max()));
    return {op.Add("Concat", std::move(parts), {IntAttribute("axis", axis)})};
  }
  // Places along the first axis.
  std::vector<int64_t> places;
  for (int64_t i = *start; i < *end; i += *step) places.push_back(i);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < type->ndim; ++i) axes.push_back(i);
  std::swap(axes[0], axes[static_cast<size_t>(axis)]);
  const auto swapped = [&](std::string_view x) { return axis == 0 ? x : op.Transpose(x, axes); };
  const std::string_view indices = op.Unsqueeze(op.Ints(places), {1});
  return {swapped(op.Add("ScatterND", {swapped(op.In(0)), indices, swapped(op.In(1))}))};
}

Names ExportMeshgrid(OpExport& op) {
  const std::vector<const Expr*> vectors = TensorsOf(op, 0);
  const auto* tuple = As<TupleType>(op.call().type);
  const bool swaps = op.Attrs<MeshgridAttrs>().indexing() == "xy" && vectors.size() > 1;
  Names results;
  for (uint32_t i = 0; i < vectors.size(); ++i) {
    const auto* vector = OpExport::TensorOf(vectors[i]);
    const auto* grid = tuple && i < tuple->fields.size() ? As<TensorType>(tuple->fields[i]) : nullptr;
    if (vector == nullptr || vector->ndim != 1 || grid == nullptr || !grid->known)
      return op.Lacks("its operands are not vectors of known length");
    const int64_t own = swaps && i < 2 ? 1 - static_cast<int64_t>(i) : i;
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < grid->ndim; ++axis) {
      if (axis != own) axes.push_back(axis);
    }
    const std::string_view line = op.exporter().NameOf(vectors[i]);
    const std::string_view shape = op.exporter().dims().ShapeTensor({grid->dims.begin(), grid->dims.end()});
    results.push_back(op.Add("Expand", {axes.empty() ? line : op.Unsqueeze(line, axes), shape}));
  }
  return results;
}

// ---- Sums and products

Names CollapsedSum(OpExport& op, std::span<const PrimExpr* const> dims) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known || type->dims.size() < dims.size()) return op.Lacks("its shape is not known");
  const size_t added = type->dims.size() - dims.size();
  std::vector<int64_t> axes, front;
  for (size_t i = 0; i < type->dims.size(); ++i) {
    const auto* target = i < added ? nullptr : As<tir::IntImm>(dims[i - added]);
    if (i < added) front.push_back(static_cast<int64_t>(i));
    if (i < added || (target != nullptr && target->value == 1)) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return {op.In(0)};
  const std::string_view sum = op.Reduce("ReduceSum", op.In(0), axes, true);
  return {front.empty() ? sum : op.Squeeze(sum, front)};
}

Names ExportCollapseSumTo(OpExport& op) {
  const auto* shape = As<ShapeExpr>(op.Resolved(1));
  return shape ? CollapsedSum(op, {shape->values.begin(), shape->values.end()}) : op.Lacks("its shape is not known");
}

Names ExportCollapseSumLike(OpExport& op) {
  const TensorType* target = op.TypeOf(1);
  if (target == nullptr || !target->known) return op.Lacks("its shape is not known");
  return CollapsedSum(op, {target->dims.begin(), target->dims.end()});
}

Names ExportCumprod(OpExport& op) {
  const auto attrs = op.Attrs<ScanopAttrs>();
  const DataType dtype = op.ResultType() ? op.ResultType()->dtype : op.Dtype(0);
  const std::string_view x = attrs.axis() ? op.In(0) : op.Reshape(op.In(0), {-1});
  return {op.Add("CumProd", {op.Cast(x, op.Dtype(0), dtype), op.exporter().IntScalar(attrs.axis().value_or(0))},
                 {IntAttribute("exclusive", attrs.exclusive() ? 1 : 0)})};
}

// The negated sum of the products, divided by the length of the batch if there is one.
Names ExportCrossEntropyWithLogits(OpExport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known) return op.Lacks("its shape is not known");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < type->ndim; ++i) axes.push_back(i);
  const std::string_view products = op.Add("Mul", {op.In(0), op.In(1)});
  const std::string_view loss = op.Add("Neg", {op.Reduce("ReduceSum", products, axes, false)});
  if (type->ndim < 2) return {loss};
  const std::string_view batch = op.exporter().dims().DimScalar(type->dims[0]);
  return {op.Add("Div", {loss, op.Cast(batch, DataType::Int(64), type->dtype)})};
}

// A graph of ONNX has no devices, and no gradients.
Names ExportOperand(OpExport& op) {
  if (op.TypeOf(0) == nullptr) return op.Lacks("its operand is not a tensor");
  return {op.In(0)};
}

// As many classes as have sums of probabilities that do not exceed the number, but not all.
Names ExportMultinomialFromUniform(OpExport& op) {
  const TensorType* type = op.TypeOf(0);
  const auto* classes = type && type->known ? As<tir::IntImm>(type->dims[1]) : nullptr;
  if (classes == nullptr) return op.Lacks("the number of its classes is not known");
  const std::string_view rows = op.Add("Gather", {op.In(0), op.Squeeze(op.In(2), {1})}, {IntAttribute("axis", 0)});
  const std::string_view sums = op.Add("CumSum", {rows, op.Scalar(1, DataType::Int(64))});
  const std::string_view below = op.Add("LessOrEqual", {sums, op.Cast(op.In(1), op.Dtype(1), op.Dtype(0))});
  const std::string_view count = op.Reduce("ReduceSum", op.Cast(below, DataType::Bool(), DataType::Int(64)), {1}, true);
  const auto dtype = op.ResultType() ? op.ResultType()->dtype : DataType::Int(64);
  const double last = static_cast<double>(classes->value - 1);
  return {op.Cast(op.Add("Min", {count, op.Scalar(last, DataType::Int(64))}), DataType::Int(64), dtype)};
}

// ONNX's has other factors.
Names ExportHammingWindow(OpExport& op) {
  const auto size = op.IntArg(0), periodic = op.IntArg(1);
  const auto alpha = op.FloatArg(2), beta = op.FloatArg(3);
  if (!size || !periodic || !alpha || !beta || *size < 1 || *size > (int64_t{1} << 24) ||
      op.Attrs<InitAttrs>().dtype() != DataType::Float(32))
    return op.Lacks("its size and factors are not known, or its dtype is not float32");
  auto window = NDArray::Make(DataType::Float(32), {*size});
  const double period = static_cast<double>(*size) - (*periodic != 0 ? 0 : 1);
  const std::span<float> numbers = window->MutableAs<float>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    numbers[i] = static_cast<float>(*size == 1 ? 1 : *alpha - *beta * std::cos(angle));
  }
  return {op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(window)), "window")};
}

constexpr ExportRow kSelectionExports[] = {
    {op::kBucketize, "", 12, ExportBucketize},  // Less, Cast, ReduceSum
    {op::kCollapseSumLike, "ReduceSum", 1, ExportCollapseSumLike},
    {op::kCollapseSumTo, "ReduceSum", 1, ExportCollapseSumTo},
    {op::kCumprod, "CumProd", 26, ExportCumprod},
    {op::kGradEndCheckpoint, "", 1, ExportOperand},    // nothing
    {op::kGradNoGrad, "", 1, ExportOperand},           // nothing
    {op::kGradStartCheckpoint, "", 1, ExportOperand},  // nothing
    {op::kHammingWindow, "", 1, ExportHammingWindow},  // a constant
    {op::kHintOnDevice, "", 1, ExportOperand},         // nothing
    {op::kIndexPut, "ScatterND", 11, ExportIndexPut},
    {op::kIndexTensor, "GatherND", 11, ExportIndexTensor},
    {op::kMeshgrid, "Expand", 8, ExportMeshgrid},
    {op::kMultinomialFromUniform, "", 13, ExportMultinomialFromUniform},   // CumSum, LessOrEqual, ReduceSum, Min
    {op::kNnCrossEntropyWithLogits, "", 7, ExportCrossEntropyWithLogits},  // Mul, ReduceSum, Neg, Div
    {op::kSliceScatter, "", 11, ExportSliceScatter},                       // Slice, Concat; ScatterND for steps
    {op::kToVdevice, "", 1, ExportOperand},                                // nothing
    {op::kUnique, "Unique", 11, ExportUnique},
};

}  // namespace

std::span<const ExportRow> SelectionExports() { return kSelectionExports; }

}  // namespace iropt::onnx
