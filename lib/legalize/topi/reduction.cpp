// Tensor expressions that reduce axes.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/legalize/topi.h"

namespace iropt::topi {

namespace {

// Some axes of a tensor, which are reduced.
class Reduction {
 public:
  // `squeezed` are those that the result does not have.
  Reduction(const Tensor& x, std::vector<size_t> axes, std::vector<size_t> squeezed)
      : x_(x), axes_(std::move(axes)), squeezed_(std::move(squeezed)) {}
  Reduction(const Tensor& x, const std::vector<size_t>& axes, bool keepdims)
      : Reduction(x, axes, keepdims ? std::vector<size_t>() : axes) {}

  std::vector<te::ReduceAxis> axes() const {
    std::vector<te::ReduceAxis> axes;
    for (const size_t axis : axes_) axes.push_back({fmt::format("k{}", axis), x_.dim(axis)});
    return axes;
  }
  Shape shape(bool atleast1d) const {
    Shape shape;
    for (size_t i = 0; i < x_.ndim(); ++i) {
      if (!Has(squeezed_, i)) shape.push_back(Has(axes_, i) ? Value(1) : x_.dim(i));
    }
    if (shape.empty() && atleast1d) shape.emplace_back(1);
    return shape;
  }
  Value Element(Values spatial, Values reduced) const {
    std::vector<Value> own;
    size_t next = 0;
    size_t next_reduced = 0;
    for (size_t i = 0; i < x_.ndim(); ++i) {
      if (Has(axes_, i)) {
        own.push_back(reduced[next_reduced++]);
        next += !Has(squeezed_, i);
      } else {
        own.push_back(spatial[next++]);
      }
    }
    return x_(Values(own));
  }

 private:
  static bool Has(const std::vector<size_t>& axes, size_t i) {
    return std::find(axes.begin(), axes.end(), i) != axes.end();
  }

  const Tensor& x_;
  std::vector<size_t> axes_;
  std::vector<size_t> squeezed_;
};

}  // namespace

Tensor Reduce(const Tensor& x, const Axes& axes, bool keepdims, te::Reducer reducer, bool atleast1d) {
  if (x.ndim() == 0 && !atleast1d) return Identity(x, fmt::format("{}_red", x.name()));
  const Reduction reduction(x, RealAxes(x.ndim(), axes), keepdims);
  return x.te().Reduce(fmt::format("{}_red", x.name()), reduction.shape(atleast1d), reduction.axes(), reducer,
                       [&](Values i, Values k) { return reduction.Element(i, k); });
}

Tensor ReduceIndex(const Tensor& x, const Axes& axes, bool keepdims, te::Reducer reducer) {
  const std::vector<size_t> real = RealAxes(x.ndim(), axes);
  const Reduction reduction(x, real, keepdims);
  const Shape shape = reduction.shape(false);
  Shape extents;
  for (const size_t axis : real) extents.push_back(x.dim(axis));
  const std::vector<Tensor> found = x.te().ReduceMany(
      fmt::format("{}_red_temp", x.name()), shape, reduction.axes(), reducer, [&](Values i, Values k) {
        return std::vector<Value>{RavelIndex(k, extents), reduction.Element(i, k)};
      });
  return x.te().Compute(fmt::format("{}_red", x.name()), shape, [&](Values i) { return found[0](i); });
}

Tensor CollapseSum(const Tensor& x, Values shape) {
  std::vector<size_t> reduced, squeezed;
  size_t out = shape.size();
  for (size_t axis = x.ndim(); axis-- > 0;) {
    if (out > 0 && x.te().Equal(x.dim(axis), shape[out - 1])) {
      --out;
      continue;
    }
    reduced.push_back(axis);
    if (out == 0) {
      squeezed.push_back(axis);
    } else if (shape[out - 1].Is(1)) {
      --out;
    }
  }
  if (reduced.empty()) return Identity(x, "tensor");
  std::reverse(reduced.begin(), reduced.end());
  const Reduction reduction(x, reduced, squeezed);
  return x.te().Reduce(fmt::format("{}_red", x.name()), shape, reduction.axes(), SumReducer(x.dtype()),
                       [&](Values i, Values k) { return reduction.Element(i, k); });
}

MeanDeviations DeviationsFromMean(const Tensor& x, const std::vector<size_t>& axes, Value extent) {
  const Reduction reduction(x, axes, false);
  te::Builder& te = x.te();
  const auto element = [&](Values i, Values k) { return te::Cast(extent.dtype(), reduction.Element(i, k)); };
  const Shape shape = reduction.shape(false);
  const auto name = [&](std::string_view suffix) { return fmt::format("{}_{}", x.name(), suffix); };
  const Tensor sum = te.Reduce(name("sum"), shape, reduction.axes(), te::Reducer::kSum, element);
  const Tensor mean = te.Compute(name("mean"), shape, [&](Values i) { return te::Div(sum(i), extent); });
  const auto square = [&](Values i, Values k) {
    const Value deviation = element(i, k) - mean(i);
    return deviation * deviation;
  };
  return {mean, te.Reduce(name("var_sum"), shape, reduction.axes(), te::Reducer::kSum, square)};
}

}  // namespace iropt::topi
