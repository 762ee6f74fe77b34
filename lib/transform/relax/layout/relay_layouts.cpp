#include "relay_layouts.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/shared_layout_rules.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/pooling.h"

namespace iropt {

namespace {

// The rules of operators that take the layout of their first operand in Relay, too.
constexpr LayoutRule kFollowing[] = {&LayoutElementwise, &LayoutBatchNorm, &LayoutDropout,  &LayoutSplit,
                                     &LayoutSqueeze,     &LayoutReduce,    &LayoutResize2d, &LayoutResize3d};
constexpr LayoutRule kPoolings[] = {&LayoutPool, &LayoutAdaptivePool};

bool IsOneOf(LayoutRule rule, std::span<const LayoutRule> rules) {
  return std::ranges::find(rules, rule) != rules.end();
}

// Returns whether each element of the result comes from that of the first operand at its place.
bool IsElementwise(const Call& call) {
  const auto* op = As<Op>(call.op);
  const auto* data = As<TensorType>(call.args[0]->type);
  const auto* result = As<TensorType>(call.type);
  return op && op->info->pattern == OpPattern::kElemWise && data && result && data->ndim == result->ndim;
}

// The layout that the pooling names.
std::string_view PoolLayout(const Call& call, LayoutRule rule) {
  return rule == &LayoutPool ? PoolAttrs(call).layout() : AdaptivePoolAttrs(call).layout();
}

bool IsDepthwise(const Call& conv) {
  const ConvAttrs attrs(conv);
  const auto* data = As<TensorType>(conv.args[0]->type);
  const std::optional<Layout> layout = Layout::Parse(attrs.data_layout());
  if (!data || !data->known || !layout || attrs.groups() == 1) return false;
  const int channel = layout->IndexOf('C');
  return channel >= 0 && channel < data->ndim &&
         arith::IsInt(data->dims[static_cast<uint32_t>(channel)], attrs.groups());
}

// The layout of the weight that belongs to one of the data.
std::string_view DefaultKernel(const Call& call, std::string_view data) {
  if (data == "NCHW") return "OIHW";
  if (data == "NHWC") return IsDepthwise(call) ? "HWOI" : "HWIO";
  if (data == "HWNC") return "HWOI";
  if (data == "NCDHW") return LayoutRuleOf(*To<Op>(call.op)->info) == &LayoutConv ? "OIDHW" : "IODHW";
  if (data == "NDHWC") return LayoutRuleOf(*To<Op>(call.op)->info) == &LayoutConv ? "DHWIO" : "DHWOI";
  return {};
}

LayoutRule RuleOf(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op ? LayoutRuleOf(*op->info) : nullptr;
}

// Returns the layouts that the user wants, with the default of the weight; none if the weight has no default.
std::vector<Layout> Wanted(const Call& call, std::span<const Layout> desired) {
  std::vector<Layout> wanted(desired.begin(), desired.end());
  const LayoutRule rule = RuleOf(call);
  if (wanted.size() != 1 || (rule != &LayoutConv && rule != &LayoutConvTranspose)) return wanted;
  const std::optional<Layout> kernel = Layout::Parse(DefaultKernel(call, wanted[0].ToString()));
  if (!kernel || kernel->ndim() == 0) return {};
  wanted.push_back(*kernel);
  return wanted;
}

// A number for each axis, in the order of the axes; nothing if they are not constants.
std::optional<std::vector<int64_t>> PlaceInts(const Type* numbers, const AxisOrder& order) {
  const auto* tuple = As<TupleType>(numbers);
  if (!tuple || static_cast<int>(tuple->fields.size()) != order.ndim()) return std::nullopt;
  std::vector<int64_t> placed;
  for (int place = 0; place < order.ndim(); ++place) {
    const auto* scalar = As<PrimType>(tuple->fields[static_cast<uint32_t>(order[place])]);
    const int64_t* value = scalar && scalar->value ? arith::AsInt(scalar->value) : nullptr;
    if (!value) return std::nullopt;
    placed.push_back(*value);
  }
  return placed;
}

}  // namespace

RelayLayouts::RelayLayouts(const Call& call, std::span<const ValueLayout* const> layouts,
                           std::span<const Layout> desired, Arena& arena, TextVersion version)
    : call_(call),
      arena_(arena),
      layouts_(layouts.begin(), layouts.end()),
      desired_(Wanted(call, desired)),
      decision_(call, layouts_, desired_, arena, version) {
  const LayoutRule rule = RuleOf(call);
  if (!IsOneOf(rule, kPoolings)) return;
  // The rule brings the pooling to the layout of its operand, so this has to be the desired one.
  const std::optional<Layout> own = Layout::Parse(PoolLayout(call, rule));
  const auto order = own && !desired_.empty() ? AxisOrder::Between(*own, desired_[0]) : std::nullopt;
  if (order) layouts_[0] = Known(*order);
}

bool RelayLayouts::Decide(bool is_bias) {
  const LayoutRule rule = RuleOf(call_);
  if (rule == &LayoutConv || rule == &LayoutConvTranspose) return DecideConv();
  if (IsOneOf(rule, kPoolings)) return Follow(rule);
  if (rule == &LayoutBroadcast) return !is_bias && DecideBroadcast();
  if (rule == &LayoutConcat) return DecideConcat();
  const auto* op = As<Op>(call_.op);
  if (layouts_.empty() || layouts_[0] == nullptr) return false;
  if (op && op->id == op::kNnPad) return DecidePad();
  if (rule == &LayoutStridedSlice) return DecideStridedSlice();
  return Follow(IsElementwise(call_) ? &LayoutElementwise : IsOneOf(rule, kFollowing) ? rule : nullptr);
}

bool RelayLayouts::Follow(LayoutRule rule) {
  if (!rule || !rule(decision_)) return false;
  decision_.SetResult(Known(decision_.result(), call_.type));
  return true;
}

const ValueLayout* RelayLayouts::Known(const ValueLayout* layout, const Type* type) {
  if (const auto* tensor = As<TensorType>(type))
    return layout || tensor->ndim == kUnknownDim ? layout : Known(AxisOrder::Identity(tensor->ndim));
  const auto* tuple = As<TupleType>(type);
  if (!tuple) return layout;
  std::vector<const ValueLayout*> fields;
  for (uint32_t i = 0; i < tuple->fields.size(); ++i)
    fields.push_back(Known(layout ? layout->fields[i] : nullptr, tuple->fields[i]));
  return decision_.Make(fields);
}

// Others fit convolutions, which do not follow their operands.
bool RelayLayouts::DecideConv() {
  if (!desired_.empty()) return Follow(RuleOf(call_));
  decision_.SetResult(Known(nullptr, call_.type));
  return true;
}

// The operand of the higher rank decides, or the first one of two of equal rank.
bool RelayLayouts::DecideBroadcast() {
  const int ranks[] = {decision_.NdimOf(0), decision_.NdimOf(1)};
  if (!layouts_[0] && !layouts_[1]) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (!layouts_[i] && ranks[i] > ranks[1 - i]) return false;
  }
  const size_t large = ranks[0] >= ranks[1] ? 0 : 1;
  const AxisOrder order = layouts_[large] ? layouts_[large]->order : AxisOrder::Identity(ranks[large]);
  decision_.SetOperand(large, Known(order));
  if (ranks[1 - large] > 0) decision_.SetOperand(1 - large, Known(order));
  decision_.SetResult(Known(order));
  return true;
}

// Tensors of one layout keep it.
bool RelayLayouts::DecideConcat() {
  const auto* tensors = As<TupleType>(call_.args[0]->type);
  if (!tensors || tensors->fields.empty() || !layouts_[0]) return false;
  const int rank = To<TensorType>(tensors->fields[0])->ndim;
  std::vector<AxisOrder> orders;
  for (const ValueLayout* field : layouts_[0]->fields)
    orders.push_back(field ? field->order : AxisOrder::Identity(rank));
  const bool same = std::ranges::all_of(orders, [&](const AxisOrder& order) { return order == orders[0]; });
  const AxisOrder order = same ? orders[0] : AxisOrder::Identity(rank);
  const ValueLayout* layout = Known(order);
  decision_.SetInt(ConcatAttrs::Field::axis, order.PlaceOf(ConcatAttrs(call_).axis().value_or(0)));
  decision_.SetOperand(0, decision_.Make(std::vector<const ValueLayout*>(orders.size(), layout)));
  decision_.SetResult(layout);
  return true;
}

bool RelayLayouts::DecidePad() {
  const AxisOrder& order = layouts_[0]->order;
  const std::vector<int64_t> widths = PadAttrs(call_).pad_width().vector();
  if (widths.size() != 2 * static_cast<size_t>(order.ndim())) return false;
  std::vector<int64_t> placed;
  for (int place = 0; place < order.ndim(); ++place) {
    const auto axis = static_cast<size_t>(order[place]);
    placed.insert(placed.end(), {widths[2 * axis], widths[2 * axis + 1]});
  }
  decision_.SetInts(PadAttrs::Field::pad_width, placed);
  decision_.SetOperand(0, layouts_[0]);
  decision_.SetResult(layouts_[0]);
  return true;
}

// A slice of all axes stays one of all axes in their order.
bool RelayLayouts::DecideStridedSlice() {
  const AxisOrder& order = layouts_[0]->order;
  const auto* axes = As<TupleType>(call_.args[1]->type);
  const auto is_axis = [&](uint32_t i) {
    const auto* scalar = As<PrimType>(axes->fields[i]);
    return scalar && scalar->value && arith::IsInt(scalar->value, i);
  };
  bool of_all = axes && static_cast<int>(axes->fields.size()) == order.ndim();
  for (uint32_t i = 0; of_all && i < axes->fields.size(); ++i) of_all = is_axis(i);
  if (!of_all || order.is_identity()) return Follow(&LayoutStridedSlice);
  std::vector<std::vector<int64_t>> bounds;
  for (size_t i = 2; i < call_.args.size(); ++i) {
    std::optional<std::vector<int64_t>> placed = PlaceInts(call_.args[i]->type, order);
    if (!placed) return Follow(&LayoutStridedSlice);
    bounds.push_back(*std::move(placed));
  }
  for (size_t i = 0; i < bounds.size(); ++i) decision_.SetOperandInts(i + 2, std::move(bounds[i]));
  decision_.SetOperand(0, layouts_[0]);
  decision_.SetResult(layouts_[0]);
  return true;
}

}  // namespace iropt
