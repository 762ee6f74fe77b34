// Reductions, scans and sorting.

#include "iropt/op/ops/reduction.h"

#include <fmt/format.h>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/op/ops/statistical.h"

namespace iropt::onnx {

namespace {

// Returns whether the axes are all but the first two, as those of the pools over all of an image. A mean along the last
// of three is part of a normalization more often, and runtimes look for a reduction there.
bool AreSpatial(const std::vector<int64_t>& axes, int rank) {
  if (rank < 4 || axes.size() != static_cast<size_t>(rank) - 2) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if ((axes[i] < 0 ? axes[i] + rank : axes[i]) != static_cast<int64_t>(i) + 2) return false;
  }
  return true;
}

Names ExportReduce(OpExport& op, std::string_view kind, std::string_view pool = "") {
  const auto attrs = op.Attrs<StatisticalAttrs>();
  const std::vector<int64_t> axes = attrs.axis() ? attrs.axis()->vector() : std::vector<int64_t>();
  if (attrs.axis() && axes.empty()) return {op.In(0)};
  if (!pool.empty() && attrs.keepdims() && op.Dtype(0).is_floating() && AreSpatial(axes, op.Rank(0)))
    return {op.Add(pool, {op.In(0)})};
  return {op.Reduce(kind, op.In(0), axes, attrs.keepdims())};
}

Names ExportMean(OpExport& op) { return ExportReduce(op, "ReduceMean", "GlobalAveragePool"); }

// Old versions do not choose among bytes.
Names ExportChoice(OpExport& op, std::string_view kind, std::string_view pool = "") {
  const DataType dtype = op.Dtype(0);
  const auto attrs = op.Attrs<StatisticalAttrs>();
  if (op.version() >= 12 || !IsSmallInteger(dtype)) return ExportReduce(op, kind, pool);
  const std::string_view floats = op.Cast(op.In(0), dtype, DataType::Float(32));
  const std::vector<int64_t> axes = attrs.axis() ? attrs.axis()->vector() : std::vector<int64_t>();
  return {op.Cast(op.Reduce(kind, floats, axes, attrs.keepdims()), DataType::Float(32), dtype)};
}
Names ExportMax(OpExport& op) { return ExportChoice(op, "ReduceMax", "GlobalMaxPool"); }
Names ExportMin(OpExport& op) { return ExportChoice(op, "ReduceMin"); }
Names ExportProd(OpExport& op) { return ExportReduce(op, "ReduceProd"); }
Names ExportSum(OpExport& op) { return ExportReduce(op, "ReduceSum"); }

// The mean of the squares of the distances to the mean.
std::string_view VarianceOf(OpExport& op) {
  const auto attrs = op.Attrs<StatisticalAttrs>();
  const std::vector<int64_t> axes = attrs.axis() ? attrs.axis()->vector() : std::vector<int64_t>();
  const std::string_view mean = op.Reduce("ReduceMean", op.In(0), axes, true);
  const std::string_view distance = op.Add("Sub", {op.In(0), mean});
  return op.Reduce("ReduceMean", op.Add("Mul", {distance, distance}), axes, attrs.keepdims());
}
Names ExportVariance(OpExport& op) { return {VarianceOf(op)}; }
Names ExportStd(OpExport& op) { return {op.Add("Sqrt", {VarianceOf(op)})}; }

Names ExportArgReduce(OpExport& op, std::string_view kind) {
  const auto attrs = op.Attrs<ArgmaxArgminAttrs>();
  const int rank = op.Rank(0);
  if (attrs.axis())
    return {op.Add(kind, {op.In(0)},
                   {IntAttribute("axis", *attrs.axis()), IntAttribute("keepdims", attrs.keepdims() ? 1 : 0)})};
  if (rank < 0) return op.Lacks("the rank of its data is not known");
  // Over all elements: an index of the flat tensor.
  const std::string_view flat = op.Reshape(op.In(0), {-1});
  const std::string_view index = op.Add(kind, {flat}, {IntAttribute("axis", 0), IntAttribute("keepdims", 0)});
  if (!attrs.keepdims()) return {index};
  return {op.Reshape(index, std::vector<int64_t>(static_cast<size_t>(rank), 1))};
}
Names ExportArgmax(OpExport& op) { return ExportArgReduce(op, "ArgMax"); }
Names ExportArgmin(OpExport& op) { return ExportArgReduce(op, "ArgMin"); }

Names ExportCumsum(OpExport& op) {
  const auto attrs = op.Attrs<ScanopAttrs>();
  std::string_view x = op.In(0);
  if (!attrs.axis()) x = op.Reshape(x, {-1});
  const DataType dtype = op.ResultType() ? op.ResultType()->dtype : op.Dtype(0);
  x = op.Cast(x, op.Dtype(0), dtype);
  return {op.Add("CumSum", {x, op.exporter().IntScalar(attrs.axis().value_or(0))},
                 {IntAttribute("exclusive", attrs.exclusive() ? 1 : 0)})};
}

// ---- Sorting

// The k greatest or least elements along an axis, in order: values and indices.
Names TopK(OpExport& op, std::string_view k, int64_t k_number, int64_t axis, bool largest) {
  if (op.version() < 10) {
    if (!largest) return op.Needs(11);
    return op.exporter().AddNode("TopK", {op.In(0)}, {IntAttribute("axis", axis), IntAttribute("k", k_number)}, 2);
  }
  std::vector<AttributeProto> attributes{IntAttribute("axis", axis)};
  if (op.version() >= 11) attributes.push_back(IntAttribute("largest", largest ? 1 : 0));
  if (op.version() < 11 && !largest) return op.Needs(11);
  return op.exporter().AddNode("TopK", {op.In(0), k}, attributes, 2);
}

// The greatest of the smaller half of the elements, and of equal ones the first as many.
Names ExportMedian(OpExport& op) {
  const auto attrs = op.Attrs<StatisticalAttrs>();
  const auto axes = attrs.axis();
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known || (axes && axes->size() != 1))
    return op.Lacks("ONNX orders tensors of known shapes, along one axis or all");
  int64_t length = 1;
  int64_t axis = axes ? (*axes)[0] : 0;
  if (axis < 0) axis += type->ndim;
  for (uint32_t i = 0; i < type->dims.size(); ++i) {
    if (axes && axis != i) continue;
    const auto* size = As<tir::IntImm>(type->dims[i]);
    if (size == nullptr || size->value < 1) return op.Lacks("the number of its elements is not known, or 0");
    length *= size->value;
  }
  const std::string_view data = axes ? op.In(0) : op.Reshape(op.In(0), {-1});
  const int64_t half = (length + 1) / 2;
  Names sorted = op.exporter().AddNode("TopK", {data, op.Ints({half})},
                                       {IntAttribute("axis", axis), IntAttribute("largest", 0)}, 2);
  Names results;
  for (const std::string_view part : sorted) {
    const std::string_view last = op.Add("Gather", {part, op.Ints({half - 1})}, {IntAttribute("axis", axis)});
    if (axes && attrs.keepdims()) {
      results.push_back(last);
    } else if (axes) {
      results.push_back(op.Squeeze(last, {axis}));
    } else {
      results.push_back(op.Reshape(last, std::vector<int64_t>(attrs.keepdims() ? type->dims.size() : 0, 1)));
    }
  }
  if (Is<TensorType>(op.call().type)) results.pop_back();
  return results;
}

Names ExportTopk(OpExport& op) {
  const auto attrs = op.Attrs<TopKAttrs>();
  Names results = TopK(op, op.Ints({attrs.k()}), attrs.k(), attrs.axis(), attrs.largest());
  if (results.empty()) return {};
  results[1] = op.Cast(results[1], DataType::Int(64), attrs.dtype());
  if (attrs.ret_type() == "values") return {results[0]};
  if (attrs.ret_type() == "indices") return {results[1]};
  return results;
}

Names SortAlong(OpExport& op, int64_t axis, bool descending) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || !type->known || type->ndim < 1) return op.Lacks("the shape of its data is not known");
  const PrimExpr* dim = type->dims[static_cast<uint32_t>(axis < 0 ? axis + type->ndim : axis)];
  const auto* number = As<tir::IntImm>(dim);
  if (number == nullptr && op.version() < 10) return op.Needs(10);
  return TopK(op, op.exporter().dims().ScalarTensor(dim), number ? number->value : 0, axis, descending);
}

Names ExportSort(OpExport& op) {
  const auto attrs = op.Attrs<SortAttrs>();
  const Names results = SortAlong(op, attrs.axis(), attrs.descending());
  return results.empty() ? Names() : Names{results[0]};
}

Names ExportArgsort(OpExport& op) {
  const auto attrs = op.Attrs<ArgsortAttrs>();
  const Names results = SortAlong(op, attrs.axis(), attrs.descending());
  return results.empty() ? Names() : Names{op.Cast(results[1], DataType::Int(64), attrs.dtype())};
}

constexpr ExportRow kReductionExports[] = {
    {op::kArgmax, "ArgMax", 1, ExportArgmax},
    {op::kArgmin, "ArgMin", 1, ExportArgmin},
    {op::kArgsort, "TopK", 1, ExportArgsort},
    {op::kCumsum, "CumSum", 11, ExportCumsum},
    {op::kMax, "", 1, ExportMax},         // ReduceMax, GlobalMaxPool
    {op::kMean, "", 1, ExportMean},       // ReduceMean, GlobalAveragePool
    {op::kMedian, "", 11, ExportMedian},  // TopK, Gather
    {op::kMin, "ReduceMin", 1, ExportMin},
    {op::kProd, "ReduceProd", 1, ExportProd},
    {op::kSort, "TopK", 1, ExportSort},
    {op::kStd, "", 7, ExportStd},  // ReduceMean, Sub, Mul, Sqrt
    {op::kSum, "ReduceSum", 1, ExportSum},
    {op::kTopk, "TopK", 1, ExportTopk},
    {op::kVariance, "", 7, ExportVariance},  // ReduceMean, Sub, Mul
};

}  // namespace

std::span<const ExportRow> ReductionExports() { return kReductionExports; }

}  // namespace iropt::onnx
