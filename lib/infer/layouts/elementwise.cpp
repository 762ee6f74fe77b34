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

// The operand of lower rank decides, or the first one of two of equal rank; a scalar fits any layout.
bool LayoutBroadcast(LayoutCall& call) {
  if (!call.layout(0) && !call.layout(1)) return true;
  const size_t leader = call.NdimOf(0) <= call.NdimOf(1) ? 0 : 1;
  const size_t other = 1 - leader;
  if (call.NdimOf(leader) == 0) {
    call.Follow(other, call.OrderOf(other));
    return true;
  }
  call.SetOperand(leader, call.layout(leader));
  call.Follow(other, Broadcast(call.OrderOf(leader), call.NdimOf(other)));
  return true;
}

// The majority of the three operands decides, or the first one.
bool LayoutFma(LayoutCall& call) {
  const size_t leader = SameLayout(call.layout(1), call.layout(2)) ? 1 : 0;
  for (size_t i = 0; i < 3; ++i) call.SetOperand(i, call.layout(leader));
  call.SetResult(call.layout(leader));
  return true;
}

// The first axis grows, so it must remain first.
bool LayoutAllgather(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  if (order.ndim() > 0 && order[0] == 0) call.Follow(0, order);
  return true;
}

}  // namespace iropt
