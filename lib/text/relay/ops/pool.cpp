// Pooling.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dims.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

PyValue OutLayoutOfPool(OpCall& call) {
  const std::string_view layout = call.String("out_layout");
  return PyValue::String(layout.empty() ? call.String("layout") : layout, {});
}

const Expr* BuildPool(OpCall& call) {
  std::vector<Keyword> keywords{{"pool_size", call.ListOf(call.Ints("pool_size"))},
                                {"strides", call.ListOf(call.Ints("strides"))},
                                {"dilation", call.ListOf(call.Ints("dilation"))},
                                {"padding", call.ListOf(call.Ints("padding"))},
                                {"ceil_mode", call.Bool("ceil_mode")},
                                {"layout", call.attr("layout")},
                                {"out_layout", OutLayoutOfPool(call)}};
  if (call.row().name.starts_with("nn.avg")) keywords.emplace_back("count_include_pad", call.Bool("count_include_pad"));
  const Operand operand(call.arg(0));
  return call.Make(call.row().name, std::span(&operand, 1), keywords);
}

// The axes of the layout that are neither batch nor channel.
std::vector<int64_t> SpatialAxes(std::string_view layout) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == 'D' || layout[i] == 'H' || layout[i] == 'W') axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

const Expr* BuildGlobalMaxPool(OpCall& call) {
  const PyValue axes = call.ListOf(SpatialAxes(call.String("layout")));
  return call.Make("max", {call.arg(0)}, {{"axis", axes}, {"keepdims", true}});
}

const Expr* BuildGlobalAvgPool(OpCall& call) {
  return call.Make("nn.adaptive_avg_pool2d", {call.arg(0)},
                   {{"output_size", call.ListOf({1, 1})}, {"layout", call.attr("layout")}});
}

const Expr* BuildAdaptiveAvgPool(OpCall& call) {
  const std::vector<int64_t> size = call.Ints("output_size");
  return call.Make(call.row().name, {call.arg(0)},
                   {{"output_size", size.empty() ? PyValue() : call.ListOf(size)},
                    {"layout", call.attr("layout")},
                    {"out_layout", OutLayoutOfPool(call)}});
}

// The maxima of windows [floor(i * size / out), ceil((i + 1) * size / out)) along one axis.
const Expr* AdaptiveMaxAlong(OpCall& call, const Expr* data, int64_t axis, int64_t out) {
  const auto dims = call.StaticDims(data);
  if (!dims) return call.NoCounterpart("adaptive max pooling of a tensor with unknown dimensions");
  const int64_t size = (*dims)[static_cast<size_t>(axis)];
  if (size == out) return data;
  if (!call.MayRepeat({out})) return nullptr;
  std::vector<const Expr*> parts;
  for (int64_t i = 0; i < out; ++i) {
    const Expr* window = call.Make("strided_slice", {data},
                                   {{"axes", call.ListOf({axis})},
                                    {"begin", call.ListOf({i * size / out})},
                                    {"end", call.ListOf({((i + 1) * size + out - 1) / out})}});
    parts.push_back(call.Make("max", {window}, {{"axis", call.ListOf({axis})}, {"keepdims", true}}));
    if (parts.back() == nullptr) return nullptr;
  }
  return parts.size() == 1 ? parts.front() : call.Make("concat", {call.MakeTuple(parts)}, {{"axis", axis}});
}

const Expr* BuildAdaptiveMaxPool(OpCall& call) {
  const std::vector<int64_t> axes = SpatialAxes(call.String("layout"));
  std::vector<int64_t> sizes = call.Ints("output_size");
  if (sizes.empty()) return call.arg(0);
  if (sizes.size() == 1) sizes.resize(axes.size(), sizes.front());
  if (sizes.size() != axes.size()) return call.Error("bad-argument", "output_size does not fit the layout");
  if (std::ranges::all_of(sizes, [](int64_t size) { return size == 1; })) {
    return call.Make("max", {call.arg(0)}, {{"axis", call.ListOf(axes)}, {"keepdims", true}});
  }
  const Expr* result = call.arg(0);
  for (size_t i = 0; i < axes.size() && result != nullptr; ++i)
    result = AdaptiveMaxAlong(call, result, axes[i], sizes[i]);
  return result;
}

#define POOL_ATTRIBUTES(one, layout)                                                                                   \
  "pool_size, strides=" one ", dilation=" one ", padding=0, layout=\"" layout "\", out_layout=\"\", ceil_mode=False"
#define AVG_POOL_ATTRIBUTES(one, layout) POOL_ATTRIBUTES(one, layout) ", count_include_pad=False"

constexpr OperatorRow kPool[] = {
    {"nn.adaptive_avg_pool1d", "data", "output_size=[], layout=\"NCW\", out_layout=\"\"", BuildAdaptiveAvgPool},
    {"nn.adaptive_avg_pool2d", "data", "output_size=[], layout=\"NCHW\", out_layout=\"\"", BuildAdaptiveAvgPool},
    {"nn.adaptive_avg_pool3d", "data", "output_size=[], layout=\"NCDHW\", out_layout=\"\"", BuildAdaptiveAvgPool},
    {"nn.adaptive_max_pool1d", "data", "output_size=[], layout=\"NCW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.adaptive_max_pool2d", "data", "output_size=[], layout=\"NCHW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.adaptive_max_pool3d", "data", "output_size=[], layout=\"NCDHW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.avg_pool1d", "data", AVG_POOL_ATTRIBUTES("1", "NCW"), BuildPool},
    {"nn.avg_pool2d", "data", AVG_POOL_ATTRIBUTES("[1, 1]", "NCHW"), BuildPool},
    {"nn.avg_pool3d", "data", AVG_POOL_ATTRIBUTES("[1, 1, 1]", "NCDHW"), BuildPool},
    {"nn.global_avg_pool2d", "data", "layout=\"NCHW\", out_layout=\"\"", BuildGlobalAvgPool},
    {"nn.global_max_pool2d", "data", "layout=\"NCHW\", out_layout=\"\"", BuildGlobalMaxPool},
    {"nn.max_pool1d", "data", POOL_ATTRIBUTES("1", "NCW"), BuildPool},
    {"nn.max_pool2d", "data", POOL_ATTRIBUTES("[1, 1]", "NCHW"), BuildPool},
    {"nn.max_pool3d", "data", POOL_ATTRIBUTES("[1, 1, 1]", "NCDHW"), BuildPool},
};

#undef AVG_POOL_ATTRIBUTES
#undef POOL_ATTRIBUTES

}  // namespace

std::span<const OperatorRow> PoolOperators() { return kPool; }

}  // namespace iropt::relay
