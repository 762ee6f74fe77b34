// Tensor expressions of convolutions and poolings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "iropt/legalize/topi.h"
#include "iropt/support/characters.h"

namespace iropt::topi {

namespace {

// The positions of the axes in a layout: the two named ones, then the others in their order.
std::vector<size_t> LayoutOrder(std::string_view layout, char first, char second) {
  std::vector<size_t> order = {layout.find(first), layout.find(second)};
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] != first && layout[i] != second) order.push_back(i);
  }
  return order;
}

// Items in the order of the axes N, C, spatial as items in the order of a layout.
template <class T>
std::vector<T> InLayout(const std::vector<T>& items, const std::vector<size_t>& order) {
  std::vector<T> result(items.size());
  for (size_t i = 0; i < items.size(); ++i) result[order[i]] = items[i];
  return result;
}

constexpr std::array<std::string_view, 3> kWindowNames = {"ry", "rx", "rz"};
constexpr std::array<std::string_view, 5> kAxisNames = {"nn", "ff", "yy", "xx", "zz"};

}  // namespace

Tensor Conv(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  te::Builder& te = x.te();
  const size_t dim = x.ndim() - 2;
  const std::vector<size_t> data_order = LayoutOrder(options.data_layout, 'N', 'C');
  const std::vector<size_t> kernel_order = LayoutOrder(options.kernel_layout, 'O', 'I');
  const Value in_channels = x.dim(data_order[1]);
  const Value filters = weight.dim(kernel_order[0]);
  const Value group_inputs = te::FloorDiv(in_channels, options.groups);

  std::vector<Value> before(2, 0), after(2, 0), shape = {x.dim(data_order[0]), filters};
  std::vector<te::ReduceAxis> window = {{"rc", group_inputs}};
  for (size_t i = 0; i < dim; ++i) {
    before.emplace_back(options.padding[i]);
    after.emplace_back(options.padding[i + dim]);
    const Value kernel = weight.dim(kernel_order[i + 2]);
    window.push_back({std::string(kWindowNames[i]), kernel});
    const Value reach =
        x.dim(data_order[i + 2]) - (kernel - 1) * options.dilation[i] - 1 + before.back() + after.back();
    shape.push_back(te.Simplify(te::FloorDiv(reach, options.strides[i]) + 1));
  }
  const Tensor padded =
      Pad(x, InLayout(before, data_order), InLayout(after, data_order), te.Const(0, x.dtype()), "pad_temp");

  // The loops of the reduction are in the order of the data layout.
  const size_t batch_axis = data_order[0];
  std::vector<size_t> loop_of(dim + 1);
  for (size_t i = 0; i <= dim; ++i) loop_of[i] = data_order[i + 1] - (data_order[i + 1] > batch_axis ? 1 : 0);
  const std::vector<std::string_view> names(kAxisNames.begin(), kAxisNames.begin() + static_cast<ptrdiff_t>(dim + 2));
  const auto product = [&](Values i, Values r) {
    const Value filter = i[data_order[1]];
    const Value rc = r[loop_of[0]];
    const Value channel =
        options.groups == 1 ? rc : te::FloorDiv(filter, te::FloorDiv(filters, options.groups)) * group_inputs + rc;
    std::vector<Value> of_data = {i[batch_axis], channel};
    std::vector<Value> of_kernel = {filter, rc};
    for (size_t k = 0; k < dim; ++k) {
      const Value offset = r[loop_of[k + 1]];
      of_data.push_back(i[data_order[k + 2]] * options.strides[k] + offset * options.dilation[k]);
      of_kernel.push_back(offset);
    }
    return te::Cast(options.out_dtype, padded(Values(InLayout(of_data, data_order)))) *
           te::Cast(options.out_dtype, weight(Values(InLayout(of_kernel, kernel_order))));
  };
  std::string layout = options.data_layout;
  std::transform(layout.begin(), layout.end(), layout.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
  const std::string name = fmt::format("{}conv{}d_{}", options.groups > 1 ? "group_" : "", dim, layout);
  std::vector<te::ReduceAxis> loops(window.size());
  for (size_t i = 0; i < window.size(); ++i) loops[loop_of[i]] = window[i];
  return te.Reduce(name, InLayout(shape, data_order), loops, te::Reducer::kSum, product,
                   te::PythonAxes(InLayout(names, data_order)));
}

namespace {

// The names of axes, and those of `dim` spatial ones.
std::vector<std::string_view> AxesNamed(std::vector<std::string_view> names, size_t dim) {
  constexpr std::string_view kSpatial[] = {"d", "h", "w"};
  for (size_t i = 3 - dim; i < 3; ++i) names.push_back(kSpatial[i]);
  return names;
}

}  // namespace

Tensor ConvTranspose(const Tensor& x, const Tensor& weight, const ConvOptions& options, Ints output_padding) {
  te::Builder& te = x.te();
  const size_t dim = x.ndim() - 2;
  std::vector<int64_t> strides = {1, 1};
  strides.insert(strides.end(), options.strides.begin(), options.strides.end());
  const Tensor dilated = Dilate(x, strides, "data_dilate");
  // The zeros between the elements of a dilated kernel, which would make NaNs of infinities, are left out.
  const auto apart = [&](Value position, size_t k) {
    return options.dilation[k] == 1 ? position : position * options.dilation[k];
  };
  std::vector<Value> before(2, 0), after(2, 0), reach;
  for (size_t i = 0; i < dim; ++i) {
    reach.push_back(apart(weight.dim(i + 2) - 1, i));
    before.push_back(reach[i] - options.padding[i]);
    after.push_back(reach[i] - options.padding[i + dim] + output_padding[i]);
  }
  const Tensor padded = Pad(dilated, before, after, te.Const(0, x.dtype()), "data_pad");

  const Value in_channels = x.dim(1);
  const Value out_per_group = weight.dim(1);
  Shape kernel_shape = weight.shape();
  kernel_shape[0] = out_per_group;
  kernel_shape[1] = in_channels;
  const Tensor kernel = te.Compute(
      dim == 1 ? "kernel" : "kernel_transform", kernel_shape,
      [&](Values i) {
        std::vector<Value> at = {i[1], i[0]};
        for (size_t k = 0; k < dim; ++k) at.push_back(weight.dim(k + 2) - 1 - i[k + 2]);
        return weight(Values(at));
      },
      te::PythonAxes(AxesNamed({"o", "i"}, dim)));

  const int64_t groups = options.groups;
  Shape shape = {x.dim(0), te.Simplify(out_per_group * groups)};
  std::vector<te::ReduceAxis> loops = {{"dc", groups == 1 ? in_channels : te::FloorDiv(in_channels, groups)}};
  for (size_t i = 0; i < dim; ++i) {
    shape.push_back(te.Simplify(padded.dim(i + 2) - reach[i]));
    loops.push_back({fmt::format("d{}", AxesNamed({}, dim)[i]), weight.dim(i + 2)});
  }
  const Value group_size = te::FloorDiv(shape[1], groups);
  const auto product = [&](Values i, Values r) {
    const Value channel =
        groups == 1 ? r[0] : te::FloorDiv(i[1], group_size) * te::FloorDiv(in_channels, groups) + r[0];
    std::vector<Value> of_data = {i[0], channel};
    std::vector<Value> of_kernel = {groups == 1 ? i[1] : te::FloorMod(i[1], group_size), channel};
    for (size_t k = 0; k < dim; ++k) {
      of_data.push_back(i[k + 2] + apart(r[k + 1], k));
      of_kernel.push_back(r[k + 1]);
    }
    return te::Cast(options.out_dtype, padded(Values(of_data))) *
           te::Cast(options.out_dtype, kernel(Values(of_kernel)));
  };
  return te.Reduce("compute", shape, loops, te::Reducer::kSum, product, te::PythonAxes(AxesNamed({"b", "c"}, dim)));
}

// ---- Pooling

namespace {

// The axes D, H and W of a layout in which other axes may be split; as many as there are.
std::vector<size_t> SpatialAxes(std::string_view layout) {
  std::vector<size_t> axes;
  size_t at = 0;
  for (const char c : layout) {
    if (IsDigit(c)) continue;
    if (c == 'D' || c == 'H' || c == 'W') axes.push_back(at);
    ++at;
  }
  return axes;
}

te::StageOptions ScheduleRule(std::string_view rule) {
  const DictAttr::Entry entry[] = {{"schedule_rule", StrAttr::Get(rule)}};
  te::StageOptions options;
  options.annotations = DictAttr::Get(entry);
  return options;
}

// The windows of a pooling.
struct Windows {
  const Tensor& x;
  const PoolOptions& options;
  std::vector<size_t> axes;
  std::vector<Value> before, after;
  std::vector<int64_t> extra;  // padding at the end for ceil mode
  Shape shape;
  bool pads = false;

  Windows(const Tensor& tensor, Values result, const PoolOptions& pool)
      : x(tensor),
        options(pool),
        axes(SpatialAxes(pool.layout)),
        before(tensor.ndim(), 0),
        after(tensor.ndim(), 0),
        shape(result.begin(), result.end()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = axes[i];
      extra.push_back(options.ceil_mode ? options.strides[i] - 1 : 0);
      before[axis] = options.padding[i];
      after[axis] = options.padding[i + axes.size()] + extra[i];
      pads |= !before[axis].Is(0) || !after[axis].Is(0);
    }
  }

  std::vector<te::ReduceAxis> loops() const {
    std::vector<te::ReduceAxis> loops;
    for (size_t i = 0; i < axes.size(); ++i) loops.push_back({fmt::format("rv{}", i), Value(options.window[i])});
    return loops;
  }
  Tensor Padded(Value value) const { return pads ? PadSides(x, before, after, value, "pad_temp") : x; }
  Value Element(const Tensor& padded, Values i, Values r) const {
    std::vector<Value> at(i.begin(), i.end());
    for (size_t k = 0; k < axes.size(); ++k) at[axes[k]] = i[axes[k]] * options.strides[k] + r[k] * options.dilation[k];
    return padded(Values(at));
  }
  // The number of elements in the window of a position.
  Value Count(Values i) const {
    Value count = 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      const int64_t dilation = options.dilation[k];
      const Value size = x.dim(axes[k]);
      const Value start = i[axes[k]] * options.strides[k] - options.padding[k];
      const Value last = start + (options.window[k] - 1) * dilation;
      if (options.count_include_pad) {
        const Value end = te::Min(last, size + after[axes[k]] - 1 - extra[k]);
        count = count * (te::Div(end - start, dilation) + 1);
        continue;
      }
      const Value jumps = te::Max(te::Div(Value(dilation - 1) - start, dilation), 0);
      count = count * (te::Div(te::Min(last, size - 1) - (start + jumps * dilation), dilation) + 1);
    }
    return options.count_include_pad ? count : te::Max(count, 1);
  }
};

}  // namespace

Tensor Pool(const Tensor& x, Values shape, const PoolOptions& options) {
  te::Builder& te = x.te();
  const Windows windows(x, shape, options);
  const Tensor padded = windows.Padded(options.is_max ? te.Least(x.dtype()) : te.Const(0, x.dtype()));
  const auto element = [&](Values i, Values r) { return windows.Element(padded, i, r); };
  if (options.is_max) {
    return te.Reduce("pool_max", windows.shape, windows.loops(), te::Reducer::kMax, element,
                     ScheduleRule("meta_schedule.pool_max"));
  }
  const DataType wide = SumDType(x.dtype());
  const auto widened = [&](Values i, Values r) { return te::Cast(wide, element(i, r)); };
  const Tensor sum = te.Reduce("pool_sum", windows.shape, windows.loops(), te::Reducer::kSum, widened);
  const auto mean = [&](Values i) { return te::Cast(x.dtype(), te::Div(sum(i), windows.Count(i))); };
  return te.Compute("pool_avg", windows.shape, mean, ScheduleRule("meta_schedule.pool_avg"));
}

namespace {

// The window of a position of an adaptive pooling along one axis.
struct AdaptiveWindow {
  Value start, extent;
  AdaptiveWindow(Value index, Value out, Value in) : start(te::FloorDiv(index * in, out)) {
    const Value end = te::FloorDiv((index + 1) * in, out);
    extent = te::Select(te::FloorMod((index + 1) * in, out) == 0, end, end + 1) - start;
  }
};

}  // namespace

// The size of a window is a loop bound if it is the same everywhere. If not, the loop has the greatest size, and
// elements beyond the window count as zero (TVM would make a loop whose bound depends on other loops of the block).
Tensor AdaptiveAvgPool(const Tensor& x, Values output_size, std::string_view layout) {
  te::Builder& te = x.te();
  const std::vector<size_t> axes = SpatialAxes(layout);
  Shape shape = x.shape();
  std::vector<te::ReduceAxis> loops;
  std::vector<bool> varies;
  for (size_t k = 0; k < axes.size(); ++k) {
    shape[axes[k]] = output_size[k];
    const Value probe = {te.workspace().NewPrimVar("i", DataType::Int(64)), te};
    const Value extent = te.Simplify(AdaptiveWindow(probe, output_size[k], x.dim(axes[k])).extent);
    varies.push_back(!extent.AsInt());
    const Value most = te.Simplify(te::FloorDiv(x.dim(axes[k]) + output_size[k] - 1, output_size[k]) + 1);
    loops.push_back({fmt::format("rv{}", k), varies[k] ? most : extent});
  }
  const DataType wide = SumDType(x.dtype());
  const auto window = [&](Values i, size_t k) { return AdaptiveWindow(i[axes[k]], output_size[k], x.dim(axes[k])); };
  const auto element = [&](Values i, Values r) {
    std::vector<Value> at(i.begin(), i.end());
    Value inside = 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      const AdaptiveWindow own = window(i, k);
      at[axes[k]] = own.start + r[k];
      if (varies[k]) inside = inside.te() ? inside && r[k] < own.extent : r[k] < own.extent;
    }
    return te::Cast(wide, te::IfThenElse(inside, x(Values(at)), te.Const(0, x.dtype())));
  };
  const Tensor sum = te.Reduce("adaptive_pool_sum", shape, loops, te::Reducer::kSum, element);
  const auto mean = [&](Values i) {
    Value count = te.Const(1, wide);
    for (size_t k = 0; k < axes.size(); ++k) count = count * te::Cast(wide, window(i, k).extent);
    return te::Cast(x.dtype(), te::Div(sum(i), count));
  };
  return te.Compute("adaptive_pool_avg", shape, mean, ScheduleRule("meta_schedule.adaptive_pool_avg"));
}

// ---- Gradients

namespace {

// Parameters that the gradients of poolings have in common; the two axes are height and width.
struct GradWindows {
  const Tensor& x;
  const PoolOptions& options;
  std::vector<size_t> axes;
  std::vector<int64_t> before, after;
  Shape shape;  // of the pooled tensor

  GradWindows(const Tensor& tensor, const Tensor& grad, const PoolOptions& pool)
      : x(tensor), options(pool), axes(SpatialAxes(pool.layout)), shape(grad.shape()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      before.push_back(options.padding[i]);
      after.push_back(options.padding[i + axes.size()] + (options.ceil_mode ? options.strides[i] - 1 : 0));
    }
  }
  // The windows that may have an element.
  std::vector<te::ReduceAxis> loops() const {
    const auto count = [&](size_t i) { return (options.window[i] + options.strides[i] - 1) / options.strides[i]; };
    return {{"wh", Value(count(0))}, {"ww", Value(count(1))}};
  }
  // Returns whether the element of the padded tensor is one of the tensor.
  Value IsInside(const std::vector<Value>& at) const {
    const auto inside = [&](size_t k) {
      const Value& i = at[axes[k]];
      return i >= before[k] && i < x.dim(axes[k]) + before[k];
    };
    return inside(0) && inside(1);
  }
  // The position of a window that has the element, which may be out of bounds.
  std::vector<Value> Position(Values i, Values r) const {
    std::vector<Value> at(i.begin(), i.end());
    for (size_t k = 0; k < 2; ++k) at[axes[k]] = te::Div(i[axes[k]] + before[k], options.strides[k]) - r[k];
    return at;
  }
  // The first position along an axis whose window has the element.
  Value Lowest(Values i, size_t k) const {
    const Value padded = i[axes[k]] + before[k];
    return te::Select(padded < options.window[k], x.te().Int(0),
                      te::Div(padded - options.window[k], options.strides[k]) + 1);
  }
  // Returns whether the last element is, or may be, after the last window.
  bool PassEnd(size_t k) const {
    const std::optional<int64_t> size = x.dim(axes[k]).AsInt();
    const std::optional<int64_t> windows = shape[axes[k]].AsInt();
    return !size || !windows || (*size - 1 + before[k]) / options.strides[k] >= *windows;
  }
};

Tensor MaxPoolGrad(const Tensor& grad, const GradWindows& windows) {
  const Tensor& x = windows.x;
  te::Builder& te = x.te();
  const std::vector<size_t>& axes = windows.axes;
  Shape ravelled = x.shape();
  std::vector<Value> before(x.ndim(), 0), after(x.ndim(), 0);
  bool pads = false;
  for (size_t k = 0; k < 2; ++k) {
    before[axes[k]] = windows.before[k];
    after[axes[k]] = windows.after[k];
    pads |= windows.before[k] != 0 || windows.after[k] != 0;
    ravelled[axes[k]] = ravelled[axes[k]] + windows.before[k] + windows.after[k];
  }
  const Tensor padded = pads ? PadSides(x, before, after, te.Least(x.dtype()), "pad_temp") : x;
  const te::ReduceAxis elements[] = {{"dh", Value(windows.options.window[0])},
                                     {"dw", Value(windows.options.window[1])}};
  const std::vector<Tensor> best =
      te.ReduceMany("maxpool_grad_argmax", windows.shape, elements, te::Reducer::kArgMax, [&](Values i, Values r) {
        std::vector<Value> at(i.begin(), i.end());
        for (size_t k = 0; k < 2; ++k) at[axes[k]] = i[axes[k]] * windows.options.strides[k] + r[k];
        Value place = RavelIndex(at, ravelled);
        // An element that is as small as the padding is before it.
        if (pads) place = te::Select(windows.IsInside(at), place, te.MaxValue(place.dtype()));
        return std::vector<Value>{place, padded(Values(at))};
      });
  return te.Reduce("T_pool_grad", x.shape(), windows.loops(), te::Reducer::kSum, [&](Values i, Values r) {
    std::vector<Value> own(i.begin(), i.end());
    for (size_t k = 0; k < 2; ++k) own[axes[k]] = own[axes[k]] + windows.before[k];
    const std::vector<Value> at = windows.Position(i, r);
    Value inside = at[axes[0]] >= windows.Lowest(i, 0) && at[axes[1]] >= windows.Lowest(i, 1);
    // TVM 0.18 reads after the last window then.
    for (size_t k = 0; k < 2; ++k) {
      if (windows.PassEnd(k)) inside = inside && at[axes[k]] < windows.shape[axes[k]];
    }
    inside = inside && best[0](Values(at)) == RavelIndex(own, ravelled);
    return te::IfThenElse(inside, grad(Values(at)), te.Const(0, x.dtype()));
  });
}

Tensor AvgPoolGrad(const Tensor& grad, const GradWindows& windows) {
  const Tensor& x = windows.x;
  te::Builder& te = x.te();
  const std::vector<size_t>& axes = windows.axes;
  const std::vector<int64_t>& size = windows.options.window;
  // The number of elements of a window that count.
  const auto covered = [&](const std::vector<Value>& at, size_t k) {
    const Value start = at[axes[k]] * windows.options.strides[k] - windows.before[k];
    if (!windows.options.count_include_pad) return te::Min(start + size[k], x.dim(axes[k])) - te::Max(start, 0);
    // What rounding up adds after the padding does not count.
    if (!windows.options.ceil_mode) return Value(size[k]);
    return te::Min(start + size[k], x.dim(axes[k]) + windows.options.padding[k + axes.size()]) - start;
  };
  return te.Reduce("T_pool_grad", x.shape(), windows.loops(), te::Reducer::kSum, [&](Values i, Values r) {
    const std::vector<Value> at = windows.Position(i, r);
    const Value elements = covered(at, 0) * covered(at, 1);
    const Value count = elements.AsInt() ? te.Int(*elements.AsInt()) : te::Max(elements, 1);
    const auto inside = [&](size_t k) {
      return at[axes[k]] >= windows.Lowest(i, k) && at[axes[k]] < windows.shape[axes[k]];
    };
    return te::IfThenElse(inside(0) && inside(1), te::Div(grad(Values(at)), count), te.Const(0, grad.dtype()));
  });
}

}  // namespace

Tensor PoolGrad(const Tensor& grad, const Tensor& x, const PoolOptions& options) {
  const GradWindows windows(x, grad, options);
  return options.is_max ? MaxPoolGrad(grad, windows) : AvgPoolGrad(grad, windows);
}

}  // namespace iropt::topi
