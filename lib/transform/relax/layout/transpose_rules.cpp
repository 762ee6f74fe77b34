#include "transpose_rules.h"

#include <vector>

#include "iropt/op/op.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/scan.h"

namespace iropt {

namespace {

// The widths before and after each axis go with it.
bool FollowPad(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  const std::vector<int64_t> given = PadAttrs(call.call()).pad_width().vector();
  if (given.size() != 2 * static_cast<size_t>(order.ndim())) return call.Refuse("not all axes have widths");
  std::vector<int64_t> widths;
  for (int place = 0; place < order.ndim(); ++place) {
    const auto axis = static_cast<size_t>(order[place]);
    widths.insert(widths.end(), {given[2 * axis], given[2 * axis + 1]});
  }
  call.SetInts(PadAttrs::Field::pad_width, widths);
  call.Follow(0, order);
  return true;
}

// The place of the greatest or the least element of an axis. Without an axis, it depends on the order.
bool FollowPlace(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  const ArgmaxArgminAttrs attrs(call.call());
  if (!attrs.axis()) return call.Refuse("the place is one in all elements");
  const int gone = order.PlaceOf(*attrs.axis());
  const int axis = order[gone];
  AxisOrder rest;
  for (int place = 0; place < order.ndim(); ++place) {
    if (place != gone) rest.push_back(order[place] - (order[place] > axis ? 1 : 0));
  }
  call.SetInt(ArgmaxArgminAttrs::Field::axis, gone);
  call.SetOperand(0, call.PlainLayout(0));
  call.SetResult(attrs.keepdims() ? order : rest);
  return true;
}

}  // namespace

LayoutRule TransposeRuleOf(const OpInfo& op) {
  if (op.id == op::kNnPad) return FollowPad;
  if (op.id == op::kArgmax || op.id == op::kArgmin) return FollowPlace;
  return LayoutRuleOf(op);
}

}  // namespace iropt
