// Reductions, arg reductions and scans.

#include "iropt/op/ops/reduction.h"

#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/scalar_elements.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/sorting.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/unary.h"

namespace iropt::onnx {

namespace {

// The axes of a reduction; no axes are all of them, or none if the node says so. Nullopt if they are not known.
std::optional<std::vector<int64_t>> AxesOf(OpImport& op) {
  const int rank = op.Rank(0);
  if (rank < 0) return std::nullopt;
  std::optional<std::vector<int64_t>> axes = op.AttrOrInput("axes", 1);
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) axis = op.Axis(axis, rank);
  if (axes->empty() && op.Int("noop_with_empty_axes") == 0) return Iota(0, rank);
  return axes;
}

// A reduction of `before(x)` with `after` applied to the result.
template <class B, class A>
Value ReduceOf(OpImport& op, OpId reduction, B&& before, A&& after) {
  const auto axes = AxesOf(op);
  if (!axes || op.failed()) return {};
  const Expr* x = before(op.In(0));
  return after(axes->empty() ? x : Reduce(op, reduction, x, *axes, op.Int("keepdims", 1) != 0));
}

constexpr auto kUnchanged = [](const Expr* x) { return x; };

template <OpId kReduction>
Value ImportReduce(OpImport& op) {
  return ReduceOf(op, kReduction, kUnchanged, kUnchanged);
}

Value ImportReduceL1(OpImport& op) {
  return ReduceOf(
      op, op::kSum, [&](const Expr* x) { return op.Call(op::kAbs, {x}); }, kUnchanged);
}

Value ImportReduceSumSquare(OpImport& op) {
  return ReduceOf(
      op, op::kSum, [&](const Expr* x) { return Multiply(op, x, x); }, kUnchanged);
}

Value ImportReduceL2(OpImport& op) {
  return ReduceOf(
      op, op::kSum, [&](const Expr* x) { return Multiply(op, x, x); },
      [&](const Expr* x) { return op.Call(op::kSqrt, {x}); });
}

Value ImportReduceLogSum(OpImport& op) {
  return ReduceOf(op, op::kSum, kUnchanged, [&](const Expr* x) { return op.Call(op::kLog, {x}); });
}

// log(sum(exp(x - max))) + max
Value ImportReduceLogSumExp(OpImport& op) {
  const auto axes = AxesOf(op);
  if (!axes || op.failed() || axes->empty()) return {};
  const Expr* x = op.In(0);
  const Expr* max = Reduce(op, op::kMax, x, *axes, true);
  const Expr* sum = Reduce(op, op::kSum, op.Call(op::kExp, {Subtract(op, x, max)}), *axes, true);
  const Expr* result = Add(op, op.Call(op::kLog, {sum}), max);
  if (op.Int("keepdims", 1) != 0) return result;
  return op.Call(op::kSqueeze, {result}, op.Attrs<SqueezeAttrs>(op::kSqueeze, {.axis = *axes}));
}

// Indices are those of the first of several equal elements; of the last one if the node says so, which is the first one
// from the end.
Value ImportArgReduce(OpImport& op, OpId reduction) {
  const int rank = op.Rank(0);
  if (rank < 1) return {};
  const int64_t axis = op.Axis(op.Int("axis"), rank);
  const auto* attrs = op.Attrs<ArgmaxArgminAttrs>(reduction, {.axis = axis, .keepdims = op.Int("keepdims", 1) != 0});
  if (op.Int("select_last_index") == 0) return op.Call(reduction, {op.In(0)}, attrs);
  const PrimExpr* dim = DimOf(op.TypeOf(0), static_cast<size_t>(axis));
  const auto* size = dim ? As<tir::IntImm>(dim) : nullptr;
  if (size == nullptr) return {};
  const Expr* flipped = op.Call(op::kFlip, {op.In(0)}, op.Attrs<FlipAttrs>(op::kFlip, {.axis = axis}));
  return Subtract(op, op.Scalar(static_cast<double>(size->value - 1), DataType::Int(64)),
                  op.Call(reduction, {flipped}, attrs));
}

Value ImportArgMax(OpImport& op) { return ImportArgReduce(op, op::kArgmax); }
Value ImportArgMin(OpImport& op) { return ImportArgReduce(op, op::kArgmin); }

Value ImportCumSum(OpImport& op) {
  const auto axes = op.Numbers(1);
  const int rank = op.Rank(0);
  if (!axes || axes->size() != 1 || rank < 1) return {};
  const int64_t axis = op.Axis((*axes)[0], rank);
  const bool reverse = op.Int("reverse") != 0;
  const auto flip = [&](const Expr* x) {
    return reverse ? op.Call(op::kFlip, {x}, op.Attrs<FlipAttrs>(op::kFlip, {.axis = axis})) : x;
  };
  return flip(op.Call(op::kCumsum, {flip(op.In(0))},
                      op.Attrs<ScanopAttrs>(op::kCumsum, {.axis = axis, .exclusive = op.Int("exclusive") != 0})));
}

// From version 10 on, k is an input.
Value ImportTopK(OpImport& op) {
  const auto k = op.Has(1) ? op.Numbers(1) : std::vector<int64_t>{op.Int("k")};
  if (!k || k->size() != 1) return {};
  // Relax sorts. Runtimes have an order of their own, which a file that is written again keeps.
  if (op.Int("sorted", 1) == 0 && op.importer().context().count_nodes) return {};
  return op.Call(op::kTopk, {op.In(0)},
                 op.Attrs<TopKAttrs>(op::kTopk, {.k = (*k)[0],
                                                 .axis = op.Int("axis", -1),
                                                 .largest = op.Int("largest", 1) != 0,
                                                 .dtype = DataType::Int(64)}));
}

constexpr OpRow kReductionRows[] = {
    {"ArgMax", 1, 1, 1, ImportArgMax, "R.argmax"},
    {"ArgMin", 1, 1, 1, ImportArgMin, "R.argmin"},
    {"CumSum", 11, 2, 2, ImportCumSum, "R.cumsum, R.flip"},
    {"ReduceL1", 1, 1, 2, ImportReduceL1, "R.abs, R.sum"},
    {"ReduceL2", 1, 1, 2, ImportReduceL2, "R.multiply, R.sum, R.sqrt"},
    {"ReduceLogSum", 1, 1, 2, ImportReduceLogSum, "R.sum, R.log"},
    {"ReduceLogSumExp", 1, 1, 2, ImportReduceLogSumExp, "composition"},
    {"ReduceMax", 1, 1, 2, ImportReduce<op::kMax>, "R.max"},
    {"ReduceMean", 1, 1, 2, ImportReduce<op::kMean>, "R.mean"},
    {"ReduceMin", 1, 1, 2, ImportReduce<op::kMin>, "R.min"},
    {"ReduceProd", 1, 1, 2, ImportReduce<op::kProd>, "R.prod", EvaluateReduceProd},
    {"ReduceSum", 1, 1, 2, ImportReduce<op::kSum>, "R.sum"},
    {"ReduceSumSquare", 1, 1, 2, ImportReduceSumSquare, "R.multiply, R.sum"},
    {"TopK", 1, 1, 2, ImportTopK, "R.topk"},
};

}  // namespace

std::span<const OpRow> ReductionRows() { return kReductionRows; }

}  // namespace iropt::onnx
