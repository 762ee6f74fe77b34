// Legalization of reductions.
#include "legalize/legalizations.h"

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
  return topi::Broadcast(topi::Sum(x, axes, keepdims), size, "T_divide",
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
const Expr* LegalizeProd(LegalizeCall& call) { return LegalizeReducer(call, "prod", te::Reducer::kProd); }
const Expr* LegalizeStd(LegalizeCall& call) { return LegalizeReduction(call, "std", Std); }
const Expr* LegalizeVariance(LegalizeCall& call) { return LegalizeReduction(call, "variance", Variance); }
const Expr* LegalizeSum(LegalizeCall& call) {
  return LegalizeReduction(
      call, "sum", [](const Tensor& x, const topi::Axes& axes, bool keepdims) { return topi::Sum(x, axes, keepdims); });
}

}  // namespace iropt::legalize
