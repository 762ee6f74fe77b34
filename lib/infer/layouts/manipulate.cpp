// Layout rules of operators that rearrange, pick or reduce axes.
#include <algorithm>

#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"

namespace iropt {

using namespace rules;

namespace {

// A flag for each axis: whether a list, counted from the end if negative, names it.
std::vector<bool> Named(std::span<const int64_t> axes, int ndim) {
  std::vector<bool> named(static_cast<size_t>(ndim));
  for (const int64_t axis : axes) named[static_cast<size_t>(axis < 0 ? axis + ndim : axis)] = true;
  return named;
}

// Sets the attribute `field` to the removed axes by position; returns the order of the remaining ones.
AxisOrder Without(LayoutCall& call, uint32_t field, const AxisOrder& order, const std::vector<bool>& gone) {
  // The new numbers of the remaining axes.
  std::vector<int> renamed;
  renamed.reserve(gone.size());
  int kept = 0;
  for (const bool goes : gone) renamed.push_back(goes ? -1 : kept++);
  std::vector<int64_t> places;
  AxisOrder rest;
  for (int place = 0; place < order.ndim(); ++place) {
    const int axis = renamed[static_cast<size_t>(order[place])];
    if (axis < 0) {
      places.push_back(place);
    } else {
      rest.push_back(axis, order.PartAt(place));
    }
  }
  call.SetInts(field, places);
  return rest;
}

}  // namespace

namespace {

// The layout of the tensors of a concatenation: that of the first one, or the first one with split axes if all tensors
// can be split like that. Else it is one without, if there is one.
const ValueLayout* ConcatLayout(const TupleType& tensors, std::span<const ValueLayout* const> layouts) {
  const auto is_split = [](const ValueLayout* layout) { return layout && layout->order.is_split(); };
  const auto split = std::ranges::find_if(layouts, is_split);
  if (split == layouts.end()) return layouts[0];
  bool fits = true;
  for (uint32_t i = 0; i < tensors.fields.size(); ++i)
    fits &= !is_split(layouts[i]) && (*split)->order.Divides(*To<TensorType>(tensors.fields[i]));
  const auto plain = std::ranges::find_if_not(layouts, is_split);
  return fits || plain == layouts.end() ? *split : *plain;
}

}  // namespace

bool LayoutConcat(LayoutCall& call) {
  const auto* tensors = As<TupleType>(call.call().args[0]->type);
  if (!tensors || tensors->fields.empty()) return call.Refuse("the tensors are not known");
  std::vector<const ValueLayout*> layouts(tensors->fields.size(), nullptr);
  if (call.layout(0)) layouts.assign(call.layout(0)->fields.begin(), call.layout(0)->fields.end());
  const ValueLayout* layout = ConcatLayout(*tensors, layouts);
  const AxisOrder order = layout ? layout->order : AxisOrder::Identity(To<TensorType>(tensors->fields[0])->ndim);
  call.SetInt(ConcatAttrs::Field::axis, order.PlaceOf(ConcatAttrs(call.call()).axis().value_or(0)));
  call.SetOperand(0, call.Make(std::vector<const ValueLayout*>(tensors->fields.size(), layout)));
  call.SetResult(layout);
  return true;
}

namespace {

// The order of a tensor with new axes at the given positions; the others keep their order. Nothing if there are too
// many.
std::optional<AxisOrder> WithAxes(LayoutCall& call, const AxisOrder& order, std::span<const int64_t> axes) {
  const int ndim = order.ndim() + static_cast<int>(axes.size());
  if (ndim > AxisOrder::kMaxRank) {
    call.Refuse("the result has too many axes");
    return std::nullopt;
  }
  const std::vector<bool> is_new = Named(axes, ndim);
  std::vector<int> old;  // the new numbers of the old axes
  for (int axis = 0; axis < ndim; ++axis) {
    if (!is_new[static_cast<size_t>(axis)]) old.push_back(axis);
  }
  AxisOrder result;
  for (int place = 0, next = 0; place < ndim; ++place) {
    result.push_back(is_new[static_cast<size_t>(place)] ? place : old[static_cast<size_t>(order[next++])]);
  }
  return result;
}

}  // namespace

bool LayoutExpandDims(LayoutCall& call) {
  const auto order = WithAxes(call, call.PlainOrderOf(0), ExpandDimsAttrs(call.call()).axis().vector());
  if (!order) return false;
  call.SetOperand(0, call.PlainLayout(0));
  call.SetResult(*order);
  return true;
}

// The first tensor decides; the new axis stays where it is.
bool LayoutStack(LayoutCall& call) {
  const auto* tensors = As<TupleType>(call.call().args[0]->type);
  if (!tensors || tensors->fields.empty()) return call.Refuse("the tensors are not known");
  const ValueLayout* first = call.layout(0) ? call.layout(0)->fields[0] : nullptr;
  if (!first || first->order.is_split()) return true;
  const int64_t axis[] = {StackAttrs(call.call()).axis().value_or(0)};
  const auto order = WithAxes(call, first->order, axis);
  if (!order) return false;
  call.SetOperand(0, call.Make(std::vector<const ValueLayout*>(tensors->fields.size(), first)));
  call.SetResult(*order);
  return true;
}

// The data decide, or the indices if the data have the layout of the program.
bool LayoutGatherElements(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(call.PlainLayout(0) ? 0 : 1);
  call.SetInt(GatherElementsAttrs::Field::axis, order.PlaceOf(GatherElementsAttrs(call.call()).axis()));
  call.Follow(0, order);
  call.SetOperand(1, order);
  return true;
}

// The rules of the operators below came with TVM 0.23; before, their operands have the layout of the program.

bool LayoutFlip(LayoutCall& call) {
  if (call.version() < TextVersion::kV0_23) return true;
  const AxisOrder order = call.PlainOrderOf(0);
  call.SetInt(FlipAttrs::Field::axis, order.PlaceOf(FlipAttrs(call.call()).axis()));
  call.Follow(0, order);
  return true;
}

// Without an axis the elements are those of the tensor in the order of the program.
bool LayoutRepeat(LayoutCall& call) {
  const std::optional<int64_t> axis = RepeatAttrs(call.call()).axis();
  if (call.version() < TextVersion::kV0_23 || !axis) return true;
  const AxisOrder order = call.PlainOrderOf(0);
  call.SetInt(RepeatAttrs::Field::axis, order.PlaceOf(*axis));
  call.Follow(0, order);
  return true;
}

// All tensors have the layout of the data, or that of the others if these have the same.
bool LayoutScatterElements(LayoutCall& call) {
  if (call.version() < TextVersion::kV0_23) return true;
  const AxisOrder order = call.PlainOrderOf(SameLayout(call.layout(1), call.layout(2)) ? 1 : 0);
  call.SetInt(ScatterElementsAttrs::Field::axis, order.PlaceOf(ScatterElementsAttrs(call.call()).axis()));
  call.Follow(0, order);
  call.SetOperand(1, order);
  call.SetOperand(2, order);
  return true;
}

// The numbers belong to the last axes. Those of new axes, which come first, stay.
bool LayoutTile(LayoutCall& call) {
  if (call.version() < TextVersion::kV0_23) return true;
  const AxisOrder order = call.PlainOrderOf(0);
  std::vector<int64_t> given = TileAttrs(call.call()).repeats().vector();
  const auto ndim = static_cast<size_t>(order.ndim());
  if (given.size() < ndim) given.insert(given.begin(), ndim - given.size(), 1);
  const size_t added = given.size() - ndim;
  if (added > 0 && !order.is_identity()) return true;
  std::vector<int64_t> repeats(given.begin(), given.begin() + static_cast<ptrdiff_t>(added));
  for (size_t place = 0; place < ndim; ++place)
    repeats.push_back(given[added + static_cast<size_t>(order[static_cast<int>(place)])]);
  if (!order.is_identity()) call.SetInts(TileAttrs::Field::repeats, repeats);
  call.Follow(0, order);
  return true;
}

// Accepts the tensor in any layout; the result has the layout of the program.
bool LayoutPermuteDims(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  std::vector<int64_t> axes;
  if (const auto given = PermuteDimsAttrs(call.call()).axes()) {
    axes = given->vector();
  } else {
    for (int axis = order.ndim() - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  for (int64_t& axis : axes) axis = order.PlaceOf(axis);
  call.SetInts(PermuteDimsAttrs::Field::axes, axes);
  call.SetOperand(0, call.PlainLayout(0));
  return true;
}

bool LayoutSplit(LayoutCall& call) {
  const auto* pieces = As<TupleType>(call.call().type);
  if (!pieces) return call.Refuse("the number of pieces is not known");
  // Pieces of a split axis must consist of whole parts.
  const AxisOrder stored = call.OrderOf(0);
  const bool fits = !stored.is_split() || std::ranges::all_of(pieces->fields, [&](const Type* piece) {
    return stored.Divides(*To<TensorType>(piece));
  });
  const ValueLayout* layout = fits ? call.layout(0) : nullptr;
  const AxisOrder order = fits ? stored : call.PlainOrderOf(0);
  call.SetInt(SplitAttrs::Field::axis, order.PlaceOf(SplitAttrs(call.call()).axis()));
  call.SetOperand(0, layout);
  call.SetResult(call.Make(std::vector<const ValueLayout*>(pieces->fields.size(), layout)));
  return true;
}

bool LayoutSqueeze(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  std::vector<bool> gone;
  if (const auto axes = SqueezeAttrs(call.call()).axis()) {
    gone = Named(axes->vector(), order.ndim());
  } else {
    const List<Dim>* dims = ShapeValues(To<TensorType>(call.call().args[0]->type));
    if (!dims) return call.Refuse("the shape, which says what axes are of length 1, is not known");
    for (const Dim d : *dims) gone.push_back(IsOne(d));
  }
  call.SetOperand(0, call.PlainLayout(0));
  call.SetResult(Without(call, SqueezeAttrs::Field::axis, order, gone));
  return true;
}

bool LayoutStridedSlice(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  const auto* axes = As<TupleType>(call.call().args[1]->type);
  std::vector<int64_t> places;
  for (const Type* field : axes ? axes->fields : List<const Type*>()) {
    const auto* scalar = As<PrimType>(field);
    const int64_t* axis = scalar && scalar->value ? arith::AsInt(scalar->value) : nullptr;
    if (!axis) return call.Refuse("the axes are not constants");
    if (*axis < -order.ndim() || *axis >= order.ndim()) return call.Refuse("an axis is out of range");
    places.push_back(order.PlaceOf(*axis));
  }
  if (!axes) return call.Refuse("the axes are not constants");
  call.SetOperandInts(1, std::move(places));
  call.Follow(0, order);
  return true;
}

bool LayoutReduce(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  const StatisticalAttrs attrs(call.call());
  const auto axes = attrs.axis();
  const std::vector<bool> gone =
      axes ? Named(axes->vector(), order.num_axes()) : std::vector<bool>(static_cast<size_t>(order.num_axes()), true);
  const AxisOrder rest = Without(call, StatisticalAttrs::Field::axis, order, gone);
  call.SetOperand(0, call.layout(0));
  call.SetResult(attrs.keepdims() ? order : rest);
  return true;
}

}  // namespace iropt
