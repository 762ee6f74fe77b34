// Layout rules of normalization: the data keep their layout, the axes that are normalized are looked up in it.
#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"

namespace iropt {

using namespace rules;

namespace {

// The axes that an attribute names, as places in the order.
void PlaceAxis(LayoutCall& call, std::string_view attr, const AxisOrder& order) {
  call.SetInt(attr, order.PlaceOf(IntOf(call.call(), attr)));
}

void PlaceAxes(LayoutCall& call, std::string_view attr, const AxisOrder& order) {
  std::vector<int64_t> places;
  for (const int64_t axis : IntsOf(call.call(), attr).value_or(std::vector<int64_t>())) {
    places.push_back(order.PlaceOf(axis));
  }
  call.SetInts(attr, places);
}

}  // namespace

bool LayoutSoftmax(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  PlaceAxis(call, "axis", order);
  call.Follow(0, order);
  return true;
}

// A tuple of the data and two vectors.
bool LayoutBatchNorm(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  PlaceAxis(call, "axis", order);
  call.SetOperand(0, call.layout(0));
  const ValueLayout* const fields[] = {call.layout(0), nullptr, nullptr};
  call.SetResult(call.Make(fields));
  return true;
}

bool LayoutLayerNorm(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  PlaceAxes(call, "axes", order);
  call.Follow(0, order);
  return true;
}

bool LayoutRmsNorm(LayoutCall& call) { return LayoutLayerNorm(call); }

bool LayoutGroupNorm(LayoutCall& call) {
  PlaceAxis(call, "channel_axis", call.OrderOf(0));
  return LayoutLayerNorm(call);
}

// A tuple of the data and a mask of their shape.
bool LayoutDropout(LayoutCall& call) {
  call.SetOperand(0, call.layout(0));
  const ValueLayout* const fields[] = {call.layout(0), call.layout(0)};
  call.SetResult(call.Make(fields));
  return true;
}

}  // namespace iropt
