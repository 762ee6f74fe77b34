// Pooling.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dims.h"
#include "iropt/infer/ops/pooling.h"
#include "iropt/infer/ops/reduction.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

std::string_view OutLayoutOfPool(OpCall& call) {
  const std::string_view layout = call.String("out_layout");
  return layout.empty() ? call.String("layout") : layout;
}

template <size_t kAxes>
PoolAttrs::Values PoolOf(OpCall& call) {
  return {.pool_size = call.IntsOf("pool_size", kAxes),
          .strides = call.IntsOf("strides", kAxes),
          .dilation = call.IntsOf("dilation", kAxes),
          .padding = call.IntsOf("padding", 2 * kAxes, true),
          .ceil_mode = call.Bool("ceil_mode"),
          .layout = call.String("layout"),
          .out_layout = OutLayoutOfPool(call)};
}

template <auto kOp, size_t kAxes>
const Expr* BuildMaxPool(OpCall& call) {
  return kOp(call, call.arg(0), PoolOf<kAxes>(call));
}

template <auto kOp, size_t kAxes>
const Expr* BuildAvgPool(OpCall& call) {
  PoolAttrs::Values pool = PoolOf<kAxes>(call);
  pool.count_include_pad = call.Bool("count_include_pad");
  return kOp(call, call.arg(0), pool);
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
  const Ints axes = SpatialAxes(call.String("layout"));
  return op::Max(call, call.arg(0), {.axis = axes, .keepdims = true});
}

const Expr* BuildGlobalAvgPool(OpCall& call) {
  return op::NnAdaptiveAvgPool2d(call, call.arg(0), {.output_size = Ints{1, 1}, .layout = call.String("layout")});
}

template <auto kOp, size_t kAxes>
const Expr* BuildAdaptiveAvgPool(OpCall& call) {
  const bool is_given = !call.Ints("output_size").empty();
  return kOp(call, call.arg(0),
             {.output_size = is_given ? OptInts(call.IntsOf("output_size", kAxes)) : OptInts(),
              .layout = call.String("layout"),
              .out_layout = OutLayoutOfPool(call)});
}

// The maxima of windows [floor(i * size / out), ceil((i + 1) * size / out)) along one axis.
const Expr* AdaptiveMaxAlong(OpCall& call, const Expr* data, int64_t axis, int64_t out) {
  const auto dims = StaticDimsOf(data);
  if (!dims) return call.NoCounterpart("adaptive max pooling of a tensor with unknown dimensions");
  const int64_t size = (*dims)[static_cast<size_t>(axis)];
  if (size == out) return data;
  if (!call.MayRepeat({out})) return nullptr;
  std::vector<const Expr*> parts;
  for (int64_t i = 0; i < out; ++i) {
    const Expr* window = call.Slice(data, {axis}, {i * size / out}, {((i + 1) * size + out - 1) / out});
    parts.push_back(op::Max(call, window, {.axis = Ints{axis}, .keepdims = true}));
    if (parts.back() == nullptr) return nullptr;
  }
  return parts.size() == 1 ? parts.front() : call.Concat(parts, axis);
}

const Expr* BuildAdaptiveMaxPool(OpCall& call) {
  const std::vector<int64_t> axes = SpatialAxes(call.String("layout"));
  std::vector<int64_t> sizes = call.Ints("output_size");
  if (sizes.empty()) return call.arg(0);
  if (sizes.size() == 1) sizes.resize(axes.size(), sizes.front());
  if (sizes.size() != axes.size()) return call.Error("bad-argument", "output_size does not fit the layout");
  if (std::ranges::all_of(sizes, [](int64_t size) { return size == 1; })) {
    return op::Max(call, call.arg(0), {.axis = axes, .keepdims = true});
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
    {"nn.adaptive_avg_pool1d", "data", "output_size=[], layout=\"NCW\", out_layout=\"\"",
     BuildAdaptiveAvgPool<op::NnAdaptiveAvgPool1d, 1>},
    {"nn.adaptive_avg_pool2d", "data", "output_size=[], layout=\"NCHW\", out_layout=\"\"",
     BuildAdaptiveAvgPool<op::NnAdaptiveAvgPool2d, 2>},
    {"nn.adaptive_avg_pool3d", "data", "output_size=[], layout=\"NCDHW\", out_layout=\"\"",
     BuildAdaptiveAvgPool<op::NnAdaptiveAvgPool3d, 3>},
    {"nn.adaptive_max_pool1d", "data", "output_size=[], layout=\"NCW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.adaptive_max_pool2d", "data", "output_size=[], layout=\"NCHW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.adaptive_max_pool3d", "data", "output_size=[], layout=\"NCDHW\", out_layout=\"\"", BuildAdaptiveMaxPool},
    {"nn.avg_pool1d", "data", AVG_POOL_ATTRIBUTES("1", "NCW"), BuildAvgPool<op::NnAvgPool1d, 1>},
    {"nn.avg_pool2d", "data", AVG_POOL_ATTRIBUTES("[1, 1]", "NCHW"), BuildAvgPool<op::NnAvgPool2d, 2>},
    {"nn.avg_pool3d", "data", AVG_POOL_ATTRIBUTES("[1, 1, 1]", "NCDHW"), BuildAvgPool<op::NnAvgPool3d, 3>},
    {"nn.global_avg_pool2d", "data", "layout=\"NCHW\", out_layout=\"\"", BuildGlobalAvgPool},
    {"nn.global_max_pool2d", "data", "layout=\"NCHW\", out_layout=\"\"", BuildGlobalMaxPool},
    {"nn.max_pool1d", "data", POOL_ATTRIBUTES("1", "NCW"), BuildMaxPool<op::NnMaxPool1d, 1>},
    {"nn.max_pool2d", "data", POOL_ATTRIBUTES("[1, 1]", "NCHW"), BuildMaxPool<op::NnMaxPool2d, 2>},
    {"nn.max_pool3d", "data", POOL_ATTRIBUTES("[1, 1, 1]", "NCDHW"), BuildMaxPool<op::NnMaxPool3d, 3>},
};

#undef AVG_POOL_ATTRIBUTES
#undef POOL_ATTRIBUTES

}  // namespace

std::span<const OperatorRow> PoolOperators() { return kPool; }

}  // namespace iropt::relay
