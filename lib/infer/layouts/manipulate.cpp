// Layout rules of operators that rearrange, pick or reduce axes.
#include <algorithm>

#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"

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
      rest.push_back(axis);
    }
  }
  call.SetInts(field, places);
  return rest;
}

}  // namespace

// The first tensor decides.
bool LayoutConcat(LayoutCall& call) {
  const auto* tensors = As<TupleType>(call.call().args[0]->type);
  if (!tensors || tensors->fields.empty()) return call.Refuse("the tensors are not known");
  const ValueLayout* first = call.layout(0) ? call.layout(0)->fields[0] : nullptr;
  const AxisOrder order = first ? first->order : AxisOrder::Identity(To<TensorType>(tensors->fields[0])->ndim);
  call.SetInt(ConcatAttrs::Field::axis, order.PlaceOf(ConcatAttrs(call.call()).axis().value_or(0)));
  call.SetOperand(0, call.Make(std::vector<const ValueLayout*>(tensors->fields.size(), first)));
  call.SetResult(first);
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
  const auto order = WithAxes(call, call.OrderOf(0), ExpandDimsAttrs(call.call()).axis().vector());
  if (!order) return false;
  call.SetOperand(0, call.layout(0));
  call.SetResult(*order);
  return true;
}

// The first tensor decides; the new axis stays where it is.
bool LayoutStack(LayoutCall& call) {
  const auto* tensors = As<TupleType>(call.call().args[0]->type);
  if (!tensors || tensors->fields.empty()) return call.Refuse("the tensors are not known");
  const ValueLayout* first = call.layout(0) ? call.layout(0)->fields[0] : nullptr;
  if (!first) return true;
  const int64_t axis[] = {StackAttrs(call.call()).axis().value_or(0)};
  const auto order = WithAxes(call, first->order, axis);
  if (!order) return false;
  call.SetOperand(0, call.Make(std::vector<const ValueLayout*>(tensors->fields.size(), first)));
  call.SetResult(*order);
  return true;
}

// The data decide, or the indices if the data have the layout of the program.
bool LayoutGatherElements(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(call.layout(0) ? 0 : 1);
  call.SetInt(GatherElementsAttrs::Field::axis, order.PlaceOf(GatherElementsAttrs(call.call()).axis()));
  call.Follow(0, order);
  call.SetOperand(1, order);
  return true;
}

// Accepts the tensor in any layout; the result has the layout of the program.
bool LayoutPermuteDims(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  std::vector<int64_t> axes;
  if (const auto given = PermuteDimsAttrs(call.call()).axes()) {
    axes = given->vector();
  } else {
    for (int axis = order.ndim() - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  for (int64_t& axis : axes) axis = order.PlaceOf(axis);
  call.SetInts(PermuteDimsAttrs::Field::axes, axes);
  call.SetOperand(0, call.layout(0));
  return true;
}

bool LayoutSplit(LayoutCall& call) {
  const auto* pieces = As<TupleType>(call.call().type);
  if (!pieces) return call.Refuse("the number of pieces is not known");
  call.SetInt(SplitAttrs::Field::axis, call.OrderOf(0).PlaceOf(SplitAttrs(call.call()).axis()));
  call.SetOperand(0, call.layout(0));
  call.SetResult(call.Make(std::vector<const ValueLayout*>(pieces->fields.size(), call.layout(0))));
  return true;
}

bool LayoutSqueeze(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  std::vector<bool> gone;
  if (const auto axes = SqueezeAttrs(call.call()).axis()) {
    gone = Named(axes->vector(), order.ndim());
  } else {
    const List<Dim>* dims = ShapeValues(To<TensorType>(call.call().args[0]->type));
    if (!dims) return call.Refuse("the shape, which says what axes are of length 1, is not known");
    for (const Dim d : *dims) gone.push_back(IsOne(d));
  }
  call.SetOperand(0, call.layout(0));
  call.SetResult(Without(call, SqueezeAttrs::Field::axis, order, gone));
  return true;
}

bool LayoutStridedSlice(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
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
      axes ? Named(axes->vector(), order.ndim()) : std::vector<bool>(static_cast<size_t>(order.ndim()), true);
  const AxisOrder rest = Without(call, StatisticalAttrs::Field::axis, order, gone);
  call.SetOperand(0, call.layout(0));
  call.SetResult(attrs.keepdims() ? order : rest);
  return true;
}

}  // namespace iropt
