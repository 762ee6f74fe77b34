// Layout rules of normalization: the data keep their layout, and the normalized axes are renumbered.
#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/op/ops/softmax.h"

namespace iropt {

using namespace rules;

namespace {

// Renumbers the axes in the attribute `field` by the order.
void PlaceAxis(LayoutCall& call, uint32_t field, int64_t axis, const AxisOrder& order) {
  call.SetInt(field, order.PlaceOf(axis));
}

void PlaceAxes(LayoutCall& call, uint32_t field, const IntList& axes, const AxisOrder& order) {
  std::vector<int64_t> places;
  for (const int64_t axis : axes) places.push_back(order.PlaceOf(axis));
  call.SetInts(field, places);
}

}  // namespace

bool LayoutSoftmax(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  PlaceAxis(call, SoftmaxAttrs::Field::axis, SoftmaxAttrs(call.call()).axis(), order);
  call.Follow(0, order);
  return true;
}

// Scale and zero point are vectors along the axis.
bool LayoutQuantize(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  if (order.ndim() > 0) PlaceAxis(call, QuantizeAttrs::Field::axis, QuantizeAttrs(call.call()).axis(), order);
  call.Follow(0, order);
  return true;
}

// A tuple of the data and two vectors.
bool LayoutBatchNorm(LayoutCall& call) {
  PlaceAxis(call, BatchNormAttrs::Field::axis, BatchNormAttrs(call.call()).axis(), call.PlainOrderOf(0));
  call.SetOperand(0, call.PlainLayout(0));
  const ValueLayout* const fields[] = {call.PlainLayout(0), nullptr, nullptr};
  call.SetResult(call.Make(fields));
  return true;
}

bool LayoutLayerNorm(LayoutCall& call) {
  const AxisOrder stored = call.OrderOf(0);
  // Axes that are split would have to be normalized with their parts.
  bool fits = true;
  for (const int64_t axis : LayerNormAttrs(call.call()).axes()) {
    const int place = stored.PlaceOf(axis);
    for (int other = 0; other < stored.ndim(); ++other) fits &= other == place || stored[other] != stored[place];
  }
  const AxisOrder order = fits ? stored : call.PlainOrderOf(0);
  PlaceAxes(call, LayerNormAttrs::Field::axes, LayerNormAttrs(call.call()).axes(), order);
  call.Follow(0, order);
  return true;
}

bool LayoutRmsNorm(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  PlaceAxes(call, RMSNormAttrs::Field::axes, RMSNormAttrs(call.call()).axes(), order);
  call.Follow(0, order);
  return true;
}

bool LayoutGroupNorm(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  const GroupNormAttrs attrs(call.call());
  PlaceAxis(call, GroupNormAttrs::Field::channel_axis, attrs.channel_axis(), order);
  PlaceAxes(call, GroupNormAttrs::Field::axes, attrs.axes(), order);
  call.Follow(0, order);
  return true;
}

bool LayoutInstanceNorm(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  const InstanceNormAttrs attrs(call.call());
  PlaceAxis(call, InstanceNormAttrs::Field::channel_axis, attrs.channel_axis(), order);
  PlaceAxes(call, InstanceNormAttrs::Field::axes, attrs.axes(), order);
  call.Follow(0, order);
  return true;
}

// The slopes are a vector.
bool LayoutPrelu(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  PlaceAxis(call, PReluAttrs::Field::axis, PReluAttrs(call.call()).axis(), order);
  call.Follow(0, order);
  return true;
}

// A tuple of the data and a mask of their shape.
bool LayoutDropout(LayoutCall& call) {
  call.SetOperand(0, call.layout(0));
  const ValueLayout* const fields[] = {call.layout(0), call.layout(0)};
  call.SetResult(call.Make(fields));
  return true;
}

}  // namespace iropt
