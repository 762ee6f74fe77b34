#include "desired_layouts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "iropt/infer/layout_rules.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/image.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/support/edit_distance.h"

namespace iropt {

namespace {

// An operator whose layouts Relay's pass converts, under its name there.
struct RelayOperator {
  std::string_view name;
  OpId op;
  std::string_view axes;    // of the data
  std::string_view kernel;  // axes of the weight, whose layout may be "default"; empty without a weight
};
constexpr RelayOperator kRelayOperators[] = {
    {"nn.conv2d", op::kNnConv2d, "NCHW", "OIHW"},
    {"nn.conv3d", op::kNnConv3d, "NCDHW", "OIDHW"},
    {"nn.conv3d_transpose", op::kNnConv3dTranspose, "NCDHW", "IODHW"},
    {"nn.max_pool2d", op::kNnMaxPool2d, "NCHW", ""},
    {"nn.avg_pool2d", op::kNnAvgPool2d, "NCHW", ""},
    {"nn.global_avg_pool2d", op::kNnAdaptiveAvgPool2d, "NCHW", ""},
    {"image.resize2d", op::kImageResize2d, "NCHW", ""},
    {"qnn.conv2d", op::kNnConv2d, "NCHW", "OIHW"},
};

class OptionReader {
 public:
  OptionReader(const PassOptions& options, const TypedOption<OptionValue>& option)
      : options_(options), option_(option) {}

  DesiredLayouts Read() {
    for (const OptionValue::Entry& entry : options_.Entries(option_, "must be an object of lists of layouts"))
      Read(entry);
    return std::move(desired_);
  }

 private:
  void Refuse(SourceSpan span, std::string_view message) { options_.Refuse(option_, span, message); }

  void Read(const OptionValue::Entry& entry) {
    const auto* relay = std::ranges::find(kRelayOperators, entry.key, &RelayOperator::name);
    const bool as_relay = relay != std::end(kRelayOperators);
    if (!desired_.empty() && as_relay != desired_.as_relay)
      return Refuse(entry.key_span, "must name all operators as Relay does, or all as Relax does");
    desired_.as_relay = as_relay;
    as_relay ? ReadAsRelay(entry, *relay) : ReadAsRelax(entry);
  }

  void ReadAsRelay(const OptionValue::Entry& entry, const RelayOperator& op) {
    const OptionValue::List* list = entry.value.as_list();
    const size_t count = op.kernel.empty() ? 1 : 2;
    if (!list || list->size() != count) {
      return Refuse(entry.value.span(), fmt::format("must have a list of {} layout{} for '{}'", count,
                                                    count == 1 ? "" : "s, of data and weight,", entry.key));
    }
    DesiredLayouts::Row row{GetOp(op.op)->info, {}};
    for (size_t i = 0; i < count; ++i) {
      const std::string* text = (*list)[i].as_string();
      if (i == 1 && text && *text == "default") break;
      std::optional<Layout> layout = ReadLayout((*list)[i], i == 0 ? op.axes : op.kernel, /*may_split=*/false);
      if (!layout) return;
      row.layouts.push_back(std::move(*layout));
    }
    desired_.rows.push_back(std::move(row));
  }

  void ReadAsRelax(const OptionValue::Entry& entry) {
    const OpInfo* op = FindOp(entry.key);
    if (!op || op->layout_axes.empty()) return RefuseOperator(entry);
    const OptionValue::List* list = entry.value.as_list();
    if (!list || list->size() < op->required_layouts || list->size() > op->layout_axes.size()) {
      const size_t most = op->layout_axes.size();
      return Refuse(entry.value.span(), most == op->required_layouts
                                            ? fmt::format("must have a list of {} layout for '{}'", most, entry.key)
                                            : fmt::format("must have a list of {} to {} layouts for '{}': of data, "
                                                          "weight and result",
                                                          op->required_layouts, most, entry.key));
    }
    DesiredLayouts::Row row{op, {}};
    for (size_t i = 0; i < list->size(); ++i) {
      std::optional<Layout> layout = ReadLayout((*list)[i], op->layout_axes[i], op->layout_axes.size() > 1);
      if (!layout) return;
      row.layouts.push_back(std::move(*layout));
    }
    desired_.rows.push_back(std::move(row));
  }

  // Operators have their full names here, as in TVM: the one of "R.nn.conv2d" is "relax.nn.conv2d".
  void RefuseOperator(const OptionValue::Entry& entry) {
    std::vector<std::string_view> names;
    for (const OpInfo& op : AllOps()) {
      if (!op.layout_axes.empty()) names.push_back(op.name);
    }
    std::string message = fmt::format("must be about operators that have a layout choice, {}, not about '{}'",
                                      fmt::join(names, ", "), entry.key);
    const bool in_script = entry.key.starts_with("R.");
    message += DidYouMean(fmt::format("relax.{}", in_script ? entry.key.substr(2) : entry.key), names);
    Refuse(entry.key_span, message);
  }

  // Axes can be split for operators with several layouts, which are convolutions.
  std::optional<Layout> ReadLayout(const OptionValue& value, std::string_view axes, bool may_split) {
    const std::string* text = value.as_string();
    std::optional<Layout> layout = text ? Layout::Parse(*text) : std::nullopt;
    const std::optional<AxisOrder> order = layout ? AxisOrder::Between(*Layout::Parse(axes), *layout) : std::nullopt;
    if (order && (may_split || !order->is_split())) return layout;
    Refuse(value.span(),
           fmt::format("has the invalid layout '{}': expected a permutation of {}{}", text ? *text : ToString(value),
                       axes, may_split ? ", of which axes may be split as in NCHW4c" : ""));
    return std::nullopt;
  }

  const PassOptions& options_;
  const TypedOption<OptionValue>& option_;
  DesiredLayouts desired_;
};

}  // namespace

std::span<const Layout> DesiredLayouts::For(const Call& call) const {
  const auto* op = As<Op>(call.op);
  const auto found = std::ranges::find(rows, op ? op->info : nullptr, &Row::op);
  return found == rows.end() ? std::span<const Layout>() : std::span<const Layout>(found->layouts);
}

DesiredLayouts ReadDesiredLayouts(const PassOptions& options, const TypedOption<OptionValue>& desired) {
  return OptionReader(options, desired).Read();
}

}  // namespace iropt
