// Layout rules of operators that slide a window over an image. Attributes say what their axes mean; convolutions and
// resizing take the layouts that a user wishes for.
#include <fmt/format.h>

#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"

namespace iropt {

using namespace rules;

namespace {

// The layout that an attribute names; that of `fallback` where it is empty.
std::string_view LayoutText(const LayoutCall& call, std::string_view attr, std::string_view fallback) {
  const std::string_view text = StringOf(call.call(), attr);
  return text.empty() ? StringOf(call.call(), fallback) : text;
}

bool RefuseSplit(LayoutCall& call, std::string_view attr, std::string_view text) {
  return call.Refuse(fmt::format("{} is '{}', whose axes cannot be brought into another order", attr, text));
}

// The attribute names the layout of tensors that are now stored in this order.
bool FollowOrder(LayoutCall& call, std::string_view attr, std::string_view fallback, const AxisOrder& order) {
  const std::string_view text = LayoutText(call, attr, fallback);
  if (static_cast<int>(text.size()) != order.ndim()) return RefuseSplit(call, attr, text);
  call.SetText(attr, order.Reorder(text));
  return true;
}

// The attribute names the desired layout from now on; nothing where tensors cannot be stored like this.
std::optional<AxisOrder> Desire(LayoutCall& call, std::string_view attr, std::string_view fallback,
                                const Layout& desired) {
  const std::string_view text = LayoutText(call, attr, fallback);
  const std::optional<Layout> layout = Layout::Parse(text);
  std::optional<AxisOrder> order = layout ? AxisOrder::Between(*layout, desired) : std::nullopt;
  if (order) {
    call.SetText(attr, desired.ToString());
  } else {
    RefuseSplit(call, attr, text);
  }
  return order;
}

}  // namespace

bool LayoutConv(LayoutCall& call) {
  const std::span<const Layout> desired = call.desired();
  if (desired.empty()) {
    const AxisOrder data = call.OrderOf(0);
    const AxisOrder weight = call.OrderOf(1);
    call.SetOperand(1, weight);
    call.Follow(0, data);
    return FollowOrder(call, "data_layout", "data_layout", data) &&
           FollowOrder(call, "kernel_layout", "kernel_layout", weight) &&
           FollowOrder(call, "out_layout", "data_layout", data);
  }
  const auto data = Desire(call, "data_layout", "data_layout", desired[0]);
  const auto weight = Desire(call, "kernel_layout", "kernel_layout", desired[1]);
  const auto out = Desire(call, "out_layout", "data_layout", desired.size() > 2 ? desired[2] : desired[0]);
  if (!data || !weight || !out) return false;
  call.SetOperand(0, *data);
  call.SetOperand(1, *weight);
  call.SetResult(*out);
  return true;
}

bool LayoutPool(LayoutCall& call) {
  const AxisOrder order = call.OrderOf(0);
  call.Follow(0, order);
  return FollowOrder(call, "layout", "layout", order) && FollowOrder(call, "out_layout", "layout", order);
}

bool LayoutResize2d(LayoutCall& call) {
  if (call.desired().empty()) {
    const AxisOrder order = call.OrderOf(0);
    call.Follow(0, order);
    return FollowOrder(call, "layout", "layout", order);
  }
  const auto order = Desire(call, "layout", "layout", call.desired()[0]);
  if (order) call.Follow(0, *order);
  return order.has_value();
}

}  // namespace iropt
