// Layout rules of operators that slide a window over an image. Attributes name the layouts of their operands;
// convolutions and resizing take the layouts that the user wants.
#include <fmt/format.h>

#include "infer/type_util.h"
#include "iropt/infer/layout_rules.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/pooling.h"

namespace iropt {

using namespace rules;

namespace {

// An attribute that names a layout: its index in the record, its name and its text.
struct LayoutAttr {
  uint32_t field;
  std::string_view name;
  std::string_view text;
};

bool RefuseSplit(LayoutCall& call, const LayoutAttr& attr) {
  return call.Refuse(fmt::format("{} is '{}', whose axes cannot be brought into another order", attr.name, attr.text));
}

// The attribute names the layout of tensors that are now stored in this order.
bool FollowOrder(LayoutCall& call, const LayoutAttr& attr, const AxisOrder& order) {
  const bool same = order.is_identity();
  if (!same && static_cast<int>(attr.text.size()) != order.num_axes()) return RefuseSplit(call, attr);
  call.SetText(attr.field, same ? std::string(attr.text) : order.Reorder(attr.text));
  return true;
}

// The attribute names the desired layout from now on; nothing if tensors cannot be stored like this.
std::optional<AxisOrder> Desire(LayoutCall& call, const LayoutAttr& attr, const Layout& desired) {
  const std::optional<Layout> layout = Layout::Parse(attr.text);
  std::optional<AxisOrder> order = layout ? AxisOrder::Between(*layout, desired) : std::nullopt;
  if (layout && *layout == desired) order = AxisOrder::Identity(layout->ndim());
  if (order) {
    call.SetText(attr.field, desired.ToString());
  } else {
    RefuseSplit(call, attr);
  }
  return order;
}

// Returns whether an operand can be stored like this without padding.
bool Fits(const LayoutCall& call, size_t operand, const AxisOrder& order) {
  const auto* type = As<TensorType>(call.call().args[operand]->type);
  return type && order.Divides(*type);
}

// Without a layout of its own, the result has that of the data.
std::string_view OutLayout(std::string_view out, std::string_view data) { return out.empty() ? data : out; }

}  // namespace

namespace {

// Attrs are ConvAttrs or ConvTransposeAttrs.
template <class Attrs>
bool PlaceConv(LayoutCall& call) {
  const Attrs attrs(call.call());
  using Field = typename Attrs::Field;
  const LayoutAttr data{Field::data_layout, "data_layout", attrs.data_layout()};
  const LayoutAttr weight{Field::kernel_layout, "kernel_layout", attrs.kernel_layout()};
  const LayoutAttr out{Field::out_layout, "out_layout", OutLayout(attrs.out_layout(), attrs.data_layout())};
  const std::span<const Layout> desired = call.desired();
  const auto follow = [&](const AxisOrder& data_order, const AxisOrder& weight_order) {
    call.SetOperand(1, weight_order);
    call.Follow(0, data_order);
    return FollowOrder(call, data, data_order) && FollowOrder(call, weight, weight_order) &&
           FollowOrder(call, out, data_order);
  };
  if (desired.empty()) return follow(call.PlainOrderOf(0), call.PlainOrderOf(1));
  const auto data_order = Desire(call, data, desired[0]);
  const auto weight_order = Desire(call, weight, desired[1]);
  const auto out_order = Desire(call, out, desired.size() > 2 ? desired[2] : desired[0]);
  if (!data_order || !weight_order || !out_order) return false;
  const bool is_split = data_order->is_split() || weight_order->is_split() || out_order->is_split();
  if (is_split && !(Fits(call, 0, *data_order) && Fits(call, 1, *weight_order)))
    return follow(AxisOrder::Identity(call.NdimOf(0)), AxisOrder::Identity(call.NdimOf(1)));
  call.SetOperand(0, *data_order);
  call.SetOperand(1, *weight_order);
  call.SetResult(*out_order);
  return true;
}

}  // namespace

bool LayoutConv(LayoutCall& call) { return PlaceConv<ConvAttrs>(call); }

// Before TVM 0.23, the operands have the layout of the program, unless the user wants another one.
bool LayoutConvTranspose(LayoutCall& call) {
  if (call.desired().empty() && call.version() < TextVersion::kV0_23) return true;
  return PlaceConv<ConvTransposeAttrs>(call);
}

namespace {

template <class Attrs>
bool FollowPool(LayoutCall& call) {
  const Attrs attrs(call.call());
  using Field = typename Attrs::Field;
  const AxisOrder stored = call.OrderOf(0);
  const AxisOrder order = !stored.is_split() || Fits(call, 0, stored) ? stored : call.PlainOrderOf(0);
  call.Follow(0, order);
  return FollowOrder(call, {Field::layout, "layout", attrs.layout()}, order) &&
         FollowOrder(call, {Field::out_layout, "out_layout", OutLayout(attrs.out_layout(), attrs.layout())}, order);
}

}  // namespace

bool LayoutPool(LayoutCall& call) { return FollowPool<PoolAttrs>(call); }

bool LayoutAdaptivePool(LayoutCall& call) { return FollowPool<AdaptivePoolAttrs>(call); }

namespace {

template <class Attrs>
bool PlaceResize(LayoutCall& call) {
  const LayoutAttr layout{Attrs::Field::layout, "layout", Attrs(call.call()).layout()};
  if (call.desired().empty()) {
    const AxisOrder order = call.PlainOrderOf(0);
    call.Follow(0, order);
    return FollowOrder(call, layout, order);
  }
  const auto order = Desire(call, layout, call.desired()[0]);
  if (order) call.Follow(0, *order);
  return order.has_value();
}

}  // namespace

bool LayoutResize2d(LayoutCall& call) { return PlaceResize<Resize2DAttrs>(call); }

bool LayoutResize3d(LayoutCall& call) { return PlaceResize<Resize3DAttrs>(call); }

}  // namespace iropt
