// Layout rules of elementwise operators, and of those that do not depend on axes.
#include <algorithm>

#include "iropt/infer/layout_rules.h"

namespace iropt {

namespace {

// The order in which a tensor of rank `ndim` is stored so that one of lower rank, which is broadcast to it, fits.
AxisOrder Broadcast(const AxisOrder& order, int ndim) {
  const int front = ndim - order.ndim();
  AxisOrder wide = AxisOrder::Identity(front);
  for (int place = 0; place < order.ndim(); ++place) wide.push_back(order[place] + front);
  return wide;
}

}  // namespace

// The result has the layout of the operand.
bool LayoutElementwise(LayoutCall& call) {
  call.SetOperand(0, call.layout(0));
  call.SetResult(call.layout(0));
  return true;
}

namespace {

// Of operands of equal rank, one of which has split axes: the one that is stored in more dimensions decides. False if
// the other one cannot be split like that.
bool FollowSplit(LayoutCall& call) {
  const size_t leader = call.OrderOf(0).ndim() >= call.OrderOf(1).ndim() ? 0 : 1;
  const auto* type = As<TensorType>(call.call().args[1 - leader]->type);
  if (call.NdimOf(0) != call.NdimOf(1) || !type || !call.OrderOf(leader).Divides(*type)) return false;
  for (size_t i = 0; i < 2; ++i) call.SetOperand(i, call.layout(leader));
  call.SetResult(call.layout(leader));
  return true;
}

}  // namespace

// The operand of lower rank decides, or the first one of two of equal rank; a scalar fits any layout.
bool LayoutBroadcast(LayoutCall& call) {
  if (!call.layout(0) && !call.layout(1)) return true;
  const auto is_split = [&](size_t i) { return call.OrderOf(i).is_split(); };
  if ((is_split(0) || is_split(1)) && FollowSplit(call)) return true;
  const size_t leader = call.NdimOf(0) <= call.NdimOf(1) ? 0 : 1;
  const size_t other = 1 - leader;
  if (call.NdimOf(leader) == 0) {
    call.Follow(other, call.OrderOf(other));
    return true;
  }
  if (is_split(leader)) return true;
  call.SetOperand(leader, call.layout(leader));
  call.Follow(other, Broadcast(call.OrderOf(leader), call.NdimOf(other)));
  return true;
}

// The majority of the three operands decides, or the first one.
bool LayoutFma(LayoutCall& call) {
  const auto is_split = [&](size_t i) { return call.OrderOf(i).is_split(); };
  const bool same = SameLayout(call.layout(0), call.layout(1)) && SameLayout(call.layout(1), call.layout(2));
  if (!same && (is_split(0) || is_split(1) || is_split(2))) return true;
  const size_t leader = SameLayout(call.layout(1), call.layout(2)) ? 1 : 0;
  for (size_t i = 0; i < 3; ++i) call.SetOperand(i, call.layout(leader));
  call.SetResult(call.layout(leader));
  return true;
}

// The first axis grows, so it must remain first.
bool LayoutAllgather(LayoutCall& call) {
  const AxisOrder order = call.PlainOrderOf(0);
  if (order.ndim() > 0 && order[0] == 0) call.Follow(0, order);
  return true;
}

}  // namespace iropt
