// Legalization of reductions.

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/scan.h"
#include "packed_calls.h"

namespace iropt::legalize {

namespace {

using te::Tensor;

topi::Axes AxesOf(const StatisticalAttrs& attrs) {
  return attrs.axis() ? topi::Axes(attrs.axis()->vector()) : std::nullopt;
}

// A reduction of the first operand over the axes of the attributes.
const Expr* LegalizeReduction(LegalizeCall& call, std::string_view name,
                              FunctionRef<Tensor(const Tensor&, const topi::Axes&, bool)> f) {
  const StatisticalAttrs attrs(call.call());
  TeCall te(call, name);
  return te.Finish({f(te.Arg(0), AxesOf(attrs), attrs.keepdims())});
}

bool HasEmptyAxis(const LegalizeCall& call) {
  const TensorType* x = call.TensorArg(0);
  const topi::Axes axes = AxesOf(StatisticalAttrs(call.call()));
  const std::vector<size_t> reduced = topi::RealAxes(x->dims.size(), axes);
  return std::ranges::any_of(reduced,
                             [&](size_t axis) { return arith::IsInt(x->dims[static_cast<uint32_t>(axis)], 0); });
}

// A sum or product over no elements. Since TVM 0.26 it is a constant that does not depend on the operand.
const Expr* LegalizeEmptyReduction(LegalizeCall& call, double identity) {
  const TensorType* result = call.result();
  TeCall te(call, "full");
  const te::Shape shape = te.Dims(result->dims.span());
  return te.Finish({topi::Full(te, shape, result->dtype, te.Const(identity, result->dtype))});
}

const Expr* LegalizeReducer(LegalizeCall& call, std::string_view name, te::Reducer reducer) {
  return LegalizeReduction(call, name, [&](const Tensor& x, const topi::Axes& axes, bool keepdims) {
    return topi::Reduce(x, axes, keepdims, reducer);
  });
}

Tensor Mean(const Tensor& x, const topi::Axes& axes, bool keepdims) {
  te::Value size = 1;
  if (axes) {
    for (const int64_t axis : *axes) size = size * x.dim(topi::RealAxis(x.ndim(), axis));
  } else {
    size = topi::Product(x.shape(), 1);
  }
  size = {x.te().NodeOf(size), x.te()};
  // A mean of integers has their dtype.
  const DataType wide = topi::SumDType(x.dtype());
  return topi::Broadcast(topi::Sum(wide == x.dtype() ? x : topi::CastElements(x, wide), axes, keepdims), size,
                         "T_divide",
                         [&](te::Value sum, te::Value count) { return te::Cast(x.dtype(), te::Div(sum, count)); });
}

Tensor Variance(const Tensor& x, const topi::Axes& axes, bool keepdims) {
  const Tensor deviation = topi::Subtract(x, Mean(x, axes, true));
  return Mean(topi::Multiply(deviation, deviation), axes, keepdims);
}

Tensor Std(const Tensor& x, const topi::Axes& axes, bool keepdims) {
  return topi::Map(Variance(x, axes, keepdims), topi::Sqrt);
}

const Expr* LegalizeArg(LegalizeCall& call, std::string_view name, te::Reducer reducer) {
  const ArgmaxArgminAttrs attrs(call.call());
  const topi::Axes axes = attrs.axis() ? topi::Axes(std::vector{*attrs.axis()}) : std::nullopt;
  TeCall te(call, name);
  return te.Finish({topi::ReduceIndex(te.Arg(0), axes, attrs.keepdims(), reducer)});
}

}  // namespace

const Expr* LegalizeArgmax(LegalizeCall& call) { return LegalizeArg(call, "argmax", te::Reducer::kArgMax); }
const Expr* LegalizeArgmin(LegalizeCall& call) { return LegalizeArg(call, "argmin", te::Reducer::kArgMin); }
const Expr* LegalizeMax(LegalizeCall& call) { return LegalizeReducer(call, "max", te::Reducer::kMax); }
const Expr* LegalizeMean(LegalizeCall& call) { return LegalizeReduction(call, "mean", Mean); }
const Expr* LegalizeMin(LegalizeCall& call) { return LegalizeReducer(call, "min", te::Reducer::kMin); }
const Expr* LegalizeProd(LegalizeCall& call) {
  if (call.version() >= TextVersion::kV0_26 && HasEmptyAxis(call)) return LegalizeEmptyReduction(call, 1);
  return LegalizeReducer(call, "prod", call.result()->dtype.is_bool() ? te::Reducer::kAll : te::Reducer::kProd);
}
const Expr* LegalizeStd(LegalizeCall& call) { return LegalizeReduction(call, "std", Std); }
const Expr* LegalizeVariance(LegalizeCall& call) { return LegalizeReduction(call, "variance", Variance); }
const Expr* LegalizeSum(LegalizeCall& call) {
  if (call.version() >= TextVersion::kV0_26 && HasEmptyAxis(call)) return LegalizeEmptyReduction(call, 0);
  return LegalizeReduction(
      call, "sum", [](const Tensor& x, const topi::Axes& axes, bool keepdims) { return topi::Sum(x, axes, keepdims); });
}

// The lower one of the two elements in the middle, and where it was.
const Expr* LegalizeMedian(LegalizeCall& call) {
  const StatisticalAttrs attrs(call.call());
  const auto axes = attrs.axis();
  if (axes && axes->size() != 1) return call.Unchanged("only one axis, or all, are supported");
  TeCall te(call, "median");
  // The sorting function takes its operand at 8 bytes.
  te::Tensor x = te.Arg(0, axes ? te::Builder::Placement::kAligned8 : te::Builder::Placement::kWhole);
  const te::Shape given = x.shape();
  if (!axes) {
    const te::Value all[] = {topi::Product(given, 1)};
    x = topi::Reshape(x, all);
  }
  const size_t axis = axes ? topi::RealAxis(x.ndim(), (*axes)[0]) : 0;
  const te::Tensor order = SortedIndices(te, "argsort_cpu", "tvm.contrib.sort.argsort", std::span(&x, 1),
                                         DataType::Int(64), axis, /*ascending=*/true);
  te::Shape shape = x.shape();
  const te::Value middle = te.Simplify(te::FloorDiv(shape[axis] - 1, 2));
  shape[axis] = 1;
  const te::Tensor sorted = topi::Gather(x, static_cast<int64_t>(axis), order);
  const te::Tensor place = topi::Full(te, shape, DataType::Int(64), middle);
  const te::Tensor value = topi::Gather(sorted, static_cast<int64_t>(axis), place);
  if (!axes) {
    const te::Shape kept(attrs.keepdims() ? given.size() : 0, 1);
    return te.Finish({topi::Reshape(value, kept)});
  }
  const te::Tensor index = topi::Gather(order, static_cast<int64_t>(axis), place);
  if (attrs.keepdims()) return te.Finish({value, index});
  const topi::Axes dropped(std::vector<int64_t>{static_cast<int64_t>(axis)});
  return te.Finish({topi::Squeeze(value, dropped), topi::Squeeze(index, dropped)});
}

}  // namespace iropt::legalize
