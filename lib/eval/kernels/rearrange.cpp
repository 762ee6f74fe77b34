#include "rearrange.h"

#include <algorithm>

#include "iropt/infer/layout.h"
#include "loop_nest.h"

namespace iropt::eval {

Result<Tensor> Permute(KernelCall& call, const Tensor& x, std::span<const int64_t> axes) {
  if (std::ranges::is_sorted(axes)) return x;
  const Shape from = RowMajorStrides(x->shape());
  Shape shape;
  Shape strides;
  for (const int64_t axis : axes) {
    shape.push_back(x->shape()[static_cast<size_t>(axis)]);
    strides.push_back(from[static_cast<size_t>(axis)]);
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.AllocateMoved(x->dtype(), shape));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  StridedCopy(out->mutable_data(), RowMajorStrides(shape), x->data(), strides, shape,
              static_cast<size_t>(x->dtype().bytes()));
  return Tensor(out);
}

namespace {

// The positions in the layout of the axes of `order`, each followed by its parts.
struct LayoutMap {
  Shape places;
  std::vector<size_t> counts;  // for each axis of `order`, its number of positions
};

Result<LayoutMap> MapLayout(const KernelCall& call, std::string_view text, std::string_view order, size_t rank) {
  const std::optional<Layout> layout = Layout::Parse(text);
  const std::optional<Layout> plain = Layout::Parse(order);
  if (!layout || !plain || !layout->ConvertibleTo(*plain))
    return call.Fail(fmt::format("the layout '{}' does not have the axes of '{}'", text, order));
  LayoutMap map;
  for (const char axis : order) {
    const size_t before = map.places.size();
    map.places.push_back(layout->IndexOf(axis));
    for (int i = 0; i < layout->ndim(); ++i) {
      const Layout::Axis& part = layout->axes()[static_cast<size_t>(i)];
      if (part.is_part() && part.primal() == axis) map.places.push_back(i);
    }
    map.counts.push_back(map.places.size() - before);
  }
  if (rank != 0 && map.places.size() != rank)
    return call.Fail(
        fmt::format("the layout '{}' is of {} dimensions, the tensor of {}", text, map.places.size(), rank));
  return map;
}

}  // namespace

Result<Tensor> FromLayout(KernelCall& call, const Tensor& x, std::string_view layout, std::string_view order) {
  IROPT_ASSIGN_OR_RETURN(const LayoutMap map, MapLayout(call, layout, order, std::max<size_t>(x->shape().size(), 1)));
  IROPT_ASSIGN_OR_RETURN(const Tensor permuted, Permute(call, x, map.places));
  Shape shape;
  size_t at = 0;
  for (const size_t count : map.counts) {
    shape.push_back(1);
    for (size_t i = 0; i < count; ++i) shape.back() *= permuted->shape()[at++];
  }
  return Reshaped(permuted, std::move(shape));
}

Result<Tensor> ToLayout(KernelCall& call, const Tensor& x, std::string_view order, std::string_view layout) {
  IROPT_ASSIGN_OR_RETURN(const LayoutMap map, MapLayout(call, layout, order, 0));
  const std::optional<Layout> parsed = Layout::Parse(layout);
  Shape split;
  size_t at = 0;
  for (size_t i = 0; i < map.counts.size(); ++i) {
    const int64_t parts = parsed->SplitOf(order[i]);
    if (x->shape()[i] % parts != 0)
      return call.Fail(fmt::format("{} elements do not divide evenly into the layout '{}'", x->shape()[i], layout));
    split.push_back(x->shape()[i] / parts);
    ++at;
    for (size_t j = 1; j < map.counts[i]; ++j)
      split.push_back(parsed->axes()[static_cast<size_t>(map.places[at++])].length);
  }
  Shape inverse(map.places.size());
  for (size_t i = 0; i < inverse.size(); ++i) inverse[static_cast<size_t>(map.places[i])] = static_cast<int64_t>(i);
  return Permute(call, Reshaped(x, std::move(split)), inverse);
}

Tensor SliceView(const Tensor& x, size_t axis, int64_t begin, int64_t end) {
  Shape shape = ShapeOf(*x);
  const int64_t step = RowMajorStrides(shape)[axis] * x->dtype().bytes();
  shape[axis] = end - begin;
  return NDArray::View(x->dtype(), shape, x->data() + begin * step, x);
}

}  // namespace iropt::eval
