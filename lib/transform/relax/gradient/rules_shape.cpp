// Gradients of reductions and scans, of operators that rearrange or pick elements, and of matrix products.
//
// Source: the formulas are those of TVM 0.18; `y` is the result, `g` its gradient.
#include <utility>
#include <vector>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/grad.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/scan.h"
#include "rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

// ---- Reductions

// The gradient with the axes that the reduction removed, as axes of length 1.
const Expr* WithReducedAxes(const Expr* grad, const StatisticalAttrs& attrs, GradBuilder& b) {
  const auto axes = attrs.axis();
  return attrs.keepdims() || !axes || axes->empty() ? grad : b.ExpandDims(grad, axes->vector());
}

}  // namespace

Partials GradSum(const GradCall& c, GradBuilder& b) {
  return {b.BroadcastTo(WithReducedAxes(c.grad, StatisticalAttrs(*c.call), b), b.ShapeOf(c.arg(0)))};
}

Partials GradMean(const GradCall& c, GradBuilder& b) {
  const StatisticalAttrs attrs(*c.call);
  const auto count = static_cast<double>(b.NumElements(c.arg(0), attrs.axis()));
  const Expr* part = b.Divide(c.grad, b.Scalar(count, c.grad));
  return {b.BroadcastTo(WithReducedAxes(part, attrs, b), b.ShapeOf(c.arg(0)))};
}

// g * (2 / n * x - 2 / n / n * sum(x))
Partials GradVariance(const GradCall& c, GradBuilder& b) {
  const StatisticalAttrs attrs(*c.call);
  const auto axes = attrs.axis();
  const auto count = static_cast<double>(b.NumElements(c.arg(0), axes));
  const std::vector<int64_t> list = axes ? axes->vector() : std::vector<int64_t>();
  const Expr* sum = b.SumKeepingDims(c.arg(0), axes ? std::optional(std::span(list)) : std::nullopt);
  const Expr* own = b.Multiply(b.Scalar(2.0 / count, c.arg(0)), c.arg(0));
  const Expr* shared = b.Multiply(b.Scalar(2.0 / count / count, c.arg(0)), sum);
  return {b.Multiply(WithReducedAxes(c.grad, attrs, b), b.Subtract(own, shared))};
}

// The sum from the other end: the total, minus the sum up to the element, plus the element unless it does not count.
Partials GradCumsum(const GradCall& c, GradBuilder& b) {
  const ScanopAttrs attrs(*c.call);
  const auto axis = attrs.axis();
  const int64_t axes[] = {axis.value_or(0)};
  ScanopAttrs::Values scan;
  if (axis) scan.axis = *axis;
  const Expr* total = b.SumKeepingDims(c.grad, axis ? std::optional(std::span<const int64_t>(axes)) : std::nullopt);
  const Expr* grad = b.Subtract(total, b.Call(op::kCumsum, {c.grad}, MakeOpAttrs(op::kCumsum, scan)));
  if (!attrs.exclusive()) grad = b.Add(grad, axis ? c.grad : b.Call(op::kFlatten, {c.grad}));
  if (!axis) grad = b.Reshape(grad, b.ShapeOf(c.arg(0)));
  if (!attrs.dtype().is_void()) grad = b.Astype(grad, b.DTypeOf(c.arg(0)));
  return {grad};
}

// ---- Rearranging elements

Partials GradBroadcastTo(const GradCall& c, GradBuilder& b) {
  return {b.Call(op::kCollapseSumTo, {c.grad, b.ShapeOf(c.arg(0))})};
}

Partials GradConcat(const GradCall& c, GradBuilder& b) {
  const auto axis = ConcatAttrs(*c.call).axis();
  const auto* tensors = As<TupleType>(c.arg(0)->type);
  if (!axis || !tensors) {
    b.Fail("cannot differentiate a concat without an axis");
    return {};
  }
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (uint32_t i = 0; i + 1 < tensors->fields.size(); ++i) {
    end += b.StaticDim(TupleItem(c.arg(0), i, b.workspace()), *axis);
    ends.push_back(end);
  }
  const SplitAttrs::Values values{.indices_or_sections = std::span<const int64_t>(ends), .axis = *axis};
  return {b.Call(op::kSplit, {c.grad}, MakeOpAttrs(op::kSplit, values))};
}

Partials GradExpandDims(const GradCall& c, GradBuilder& b) {
  return {b.Squeeze(c.grad, ExpandDimsAttrs(*c.call).axis().vector())};
}

Partials GradPermuteDims(const GradCall& c, GradBuilder& b) {
  const auto axes = PermuteDimsAttrs(*c.call).axes();
  if (!axes || axes->empty()) return {b.Call(op::kPermuteDims, {c.grad}, c.call->attrs)};
  const auto rank = static_cast<int64_t>(axes->size());
  std::vector<int64_t> inverse(axes->size());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t axis = (*axes)[static_cast<size_t>(i)];
    inverse[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = i;
  }
  return {b.PermuteDims(c.grad, inverse)};
}

Partials GradReshape(const GradCall& c, GradBuilder& b) { return {b.Reshape(c.grad, b.ShapeOf(c.arg(0)))}; }

Partials GradSplit(const GradCall& c, GradBuilder& b) {
  const ConcatAttrs::Values values{.axis = SplitAttrs(*c.call).axis()};
  return {b.Call(op::kConcat, {c.grad}, MakeOpAttrs(op::kConcat, values))};
}

// ---- Picking elements

Partials GradTake(const GradCall& c, GradBuilder& b) {
  return {b.Call(op::kGradTakeBackward, {c.grad, c.arg(0), c.arg(1)}, c.call->attrs)};
}

// ---- Products

namespace {

const Expr* TransposeLastTwo(const Expr* x, int rank, GradBuilder& b) {
  return b.PermuteDims(x, ExchangeLastTwo(rank));
}

const Expr* AtAxis(const Expr* x, int64_t axis, GradBuilder& b) { return b.ExpandDims(x, std::span(&axis, 1)); }

// The gradients of the factors, with the batch dimensions of the result.
std::pair<const Expr*, const Expr*> MatmulPartials(const GradCall& c, GradBuilder& b) {
  const Expr* x = c.arg(0);
  const Expr* y = c.arg(1);
  const int x_rank = b.NumDims(x);
  const int y_rank = b.NumDims(y);
  if (x_rank > 1 && y_rank > 1)
    return {b.Matmul(c.grad, TransposeLastTwo(y, y_rank, b)), b.Matmul(TransposeLastTwo(x, x_rank, b), c.grad)};
  if (x_rank == 1 && y_rank > 1) {
    const Expr* grad = AtAxis(c.grad, -2, b);
    return {b.Matmul(grad, TransposeLastTwo(y, y_rank, b)), b.Matmul(AtAxis(x, 1, b), grad)};
  }
  if (y_rank == 1 && x_rank > 1) {
    const Expr* grad = AtAxis(c.grad, -1, b);
    const int64_t last[] = {-1};
    return {b.Matmul(grad, AtAxis(y, 0, b)), b.Squeeze(b.Matmul(TransposeLastTwo(x, x_rank, b), grad), last)};
  }
  return {b.Multiply(c.grad, y), b.Multiply(c.grad, x)};
}

}  // namespace

Partials GradMatmul(const GradCall& c, GradBuilder& b) {
  const auto [x_grad, y_grad] = MatmulPartials(c, b);
  return {b.FitShape(x_grad, c.arg(0)), b.FitShape(y_grad, c.arg(1))};
}

}  // namespace iropt
