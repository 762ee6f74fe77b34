// Matrix products, convolutions, pools and normalizations.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/linear_algebra.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/pooling.h"

namespace iropt::onnx {

namespace {

// ---- Products

Names ExportMatmul(OpExport& op) {
  const DataType out = op.ResultType() ? op.ResultType()->dtype : op.Dtype(0);
  return {op.Cast(op.Add("MatMul", {op.In(0), op.In(1)}), op.Dtype(0), out)};
}

Names ExportOuter(OpExport& op) { return {op.Add("Mul", {op.Unsqueeze(op.In(0), {1}), op.Unsqueeze(op.In(1), {0})})}; }

Names ExportEinsum(OpExport& op) {
  const std::string_view equation = op.Attrs<EinsumAttrs>().subscripts();
  return {op.Add("Einsum", op.TupleIn(0), {TextAttribute("equation", equation)})};
}

// ---- Losses

Names ExportNllLoss(OpExport& op) {
  if (op.Rank(0) < 2) return op.Lacks("its predictions must have an axis of classes behind the first one");
  const auto attrs = op.Attrs<NLLLossAttrs>();
  Names inputs;
  for (size_t i = 0; i < op.num_args(); ++i) inputs.push_back(op.In(i));
  return {op.Add("NegativeLogLikelihoodLoss", std::move(inputs),
                 {TextAttribute("reduction", attrs.reduction()), IntAttribute("ignore_index", attrs.ignore_index())})};
}

// ---- Windows

constexpr std::string_view kImageLayouts[] = {"NCW", "NCHW", "NCDHW"};
constexpr std::string_view kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};
constexpr std::string_view kTransposedLayouts[] = {"IOW", "IOHW", "IODHW"};

bool IsDefault(const IntList& values, int64_t value) {
  return std::ranges::all_of(values.vector(), [&](int64_t v) { return v == value; });
}

void AddIfSet(std::vector<AttributeProto>& attributes, std::string_view name, const IntList& values,
              int64_t default_value) {
  if (!IsDefault(values, default_value)) attributes.push_back(IntsAttribute(name, values.vector()));
}

template <class A>
Names ExportConvolution(OpExport& op, std::string_view kind, std::string_view kernel,
                        std::vector<AttributeProto> attributes) {
  const auto attrs = op.Attrs<A>();
  const auto spatial = static_cast<size_t>(op.Rank(0)) - 2;
  if (op.Rank(0) < 3 || spatial > 3) return op.Lacks("the rank of its data is not known");
  const std::string_view image = kImageLayouts[spatial - 1];
  AddIfSet(attributes, "dilations", attrs.dilation(), 1);
  if (attrs.groups() != 1) attributes.push_back(IntAttribute("group", attrs.groups()));
  AddIfSet(attributes, "pads", attrs.padding(), 0);
  AddIfSet(attributes, "strides", attrs.strides(), 1);
  const std::string_view data = op.ToLayout(op.In(0), attrs.data_layout(), image);
  const std::string_view weight = op.ToLayout(op.In(1), attrs.kernel_layout(), kernel);
  if (data.empty() || weight.empty()) return {};
  std::string_view result = op.Add(kind, {data, weight}, std::move(attributes));
  if (op.ResultType()) result = op.Cast(result, op.Dtype(0), op.ResultType()->dtype);
  const std::string_view out = attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
  result = op.ToLayout(result, image, out);
  return result.empty() ? Names() : Names{result};
}

Names ExportConv(OpExport& op) {
  const int rank = op.Rank(0);
  if (rank < 3 || rank > 5) return op.Lacks("the rank of its data is not known");
  return ExportConvolution<ConvAttrs>(op, "Conv", kKernelLayouts[rank - 3], {});
}

Names ExportConvTranspose(OpExport& op) {
  const int rank = op.Rank(0);
  if (rank < 3 || rank > 5) return op.Lacks("the rank of its data is not known");
  std::vector<AttributeProto> attributes;
  AddIfSet(attributes, "output_padding", op.Attrs<ConvTransposeAttrs>().output_padding(), 0);
  return ExportConvolution<ConvTransposeAttrs>(op, "ConvTranspose", kTransposedLayouts[rank - 3],
                                               std::move(attributes));
}

// Runtimes refuse to pad by a whole window or more.
bool PadsWholeWindows(const PoolAttrs& attrs) {
  const std::vector<int64_t> pads = attrs.padding().vector();
  const std::vector<int64_t> sizes = attrs.pool_size().vector();
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] >= sizes[i % sizes.size()]) return true;
  }
  return false;
}

// With a constant of the dtype of the data.
std::string_view Pad(OpExport& op, std::string_view data, std::vector<int64_t> pads, double value) {
  if (op.version() >= 11) return op.Add("Pad", {data, op.Ints(pads), op.Scalar(value, op.Dtype(0))});
  return op.Add("Pad", {data}, {IntsAttribute("pads", std::move(pads)), FloatAttribute("value", value)});
}

// Returns whether as many windows are there if their number is rounded down: before version 19, ONNX keeps one that
// would start in the padding after the image.
bool RoundsNothingUp(OpExport& op, const PoolAttrs& attrs) {
  const auto in = StaticDimsOf(op.TypeOf(0));
  const auto out = StaticDimsOf(op.ResultType());
  const auto axes = LayoutAxes(attrs.layout(), kImageLayouts[op.Rank(0) - 3]);
  if (!in || !out || !axes || (!attrs.out_layout().empty() && attrs.out_layout() != attrs.layout())) return false;
  const size_t spatial = axes->size() - 2;
  const auto at = [](const std::vector<int64_t>& values, size_t i) { return values[i % values.size()]; };
  for (size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<size_t>((*axes)[i + 2]);
    const std::vector<int64_t> pads = attrs.padding().vector();
    const int64_t padded = (*in)[axis] + at(pads, i) + at(pads, i + spatial);
    const int64_t extent = (at(attrs.pool_size().vector(), i) - 1) * at(attrs.dilation().vector(), i) + 1;
    if ((padded - extent) / at(attrs.strides().vector(), i) + 1 != (*out)[axis]) return false;
  }
  return true;
}

Names ExportPool(OpExport& op, std::string_view kind) {
  const auto attrs = op.Attrs<PoolAttrs>();
  const int rank = op.Rank(0);
  if (rank < 3 || rank > 5) return op.Lacks("the rank of its data is not known");
  const bool is_average = kind == "AveragePool";
  std::vector<AttributeProto> attributes{IntsAttribute("kernel_shape", attrs.pool_size().vector())};
  AddIfSet(attributes, "strides", attrs.strides(), 1);
  const bool pads_before = PadsWholeWindows(attrs) && (!is_average || attrs.count_include_pad());
  if (!pads_before) AddIfSet(attributes, "pads", attrs.padding(), 0);
  if (attrs.ceil_mode() && !RoundsNothingUp(op, attrs)) {
    if (op.version() < 10) return op.Needs(10);
    // ONNX would keep windows that start in the padding after the image.
    if (pads_before) return op.Lacks("it pads by more than its window and rounds the number of windows up");
    attributes.push_back(IntAttribute("ceil_mode", 1));
  }
  if (is_average && attrs.count_include_pad() && op.version() < 7 && !IsDefault(attrs.padding(), 0)) return op.Needs(7);
  if (is_average && attrs.count_include_pad()) attributes.push_back(IntAttribute("count_include_pad", 1));
  if (!IsDefault(attrs.dilation(), 1)) {
    const int since = is_average ? 19 : 10;
    if (op.version() < since) return op.Needs(since);
    attributes.push_back(IntsAttribute("dilations", attrs.dilation().vector()));
  }
  const std::string_view image = kImageLayouts[rank - 3];
  // Old versions do not choose among integers, and padding has no value that is less than all of them.
  const DataType dtype = op.Dtype(0);
  const bool as_floats = IsSmallInteger(dtype) && (op.version() < 12 || pads_before);
  const std::string_view given = as_floats ? op.Cast(op.In(0), dtype, DataType::Float(32)) : op.In(0);
  std::string_view data = op.ToLayout(given, attrs.layout(), image);
  if (data.empty()) return {};
  if (pads_before) {
    std::vector<int64_t> pads = attrs.padding().vector();
    pads.insert(pads.begin() + rank - 2, {0, 0});
    pads.insert(pads.begin(), {0, 0});
    if (!is_average && !dtype.is_floating() && !as_floats) return op.Lacks("it pads integers by more than its window");
    data = Pad(op, data, std::move(pads), is_average ? 0 : -std::numeric_limits<double>::infinity());
  }
  const std::string_view out = attrs.out_layout().empty() ? attrs.layout() : attrs.out_layout();
  const std::string_view result = op.ToLayout(op.Add(kind, {data}, std::move(attributes)), image, out);
  if (result.empty()) return {};
  return {as_floats ? op.Cast(result, DataType::Float(32), dtype) : result};
}
Names ExportMaxPool(OpExport& op) { return ExportPool(op, "MaxPool"); }
Names ExportAvgPool(OpExport& op) { return ExportPool(op, "AveragePool"); }

// Windows of one size if each dimension is a multiple of the result's.
Names ExportAdaptivePool(OpExport& op) {
  const auto attrs = op.Attrs<AdaptivePoolAttrs>();
  const int rank = op.Rank(0);
  if (rank < 3 || rank > 5) return op.Lacks("the rank of its data is not known");
  const std::string_view image = kImageLayouts[rank - 3];
  const auto axes = LayoutAxes(attrs.layout(), image);
  const std::string_view data = op.ToLayout(op.In(0), attrs.layout(), image);
  if (data.empty() || !axes) return {};
  const auto back = [&](std::string_view result) {
    return Names{op.ToLayout(result, image, attrs.out_layout().empty() ? attrs.layout() : attrs.out_layout())};
  };
  if (attrs.output_size() && IsDefault(*attrs.output_size(), 1)) return back(op.Add("GlobalAveragePool", {data}));
  const auto in = StaticDimsOf(op.TypeOf(0));
  const auto out = StaticDimsOf(op.ResultType());
  if (!in || !out) return op.Lacks("the shape of its data is not known");
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < axes->size(); ++i) {
    const auto at = static_cast<size_t>((*axes)[i]);
    if ((*out)[at] == 0 || (*in)[at] % (*out)[at] != 0)
      return op.Lacks(fmt::format("a dimension of {} is not a multiple of {}", (*in)[at], (*out)[at]));
    kernel.push_back((*in)[at] / (*out)[at]);
  }
  return back(op.Add("AveragePool", {data}, {IntsAttribute("kernel_shape", kernel), IntsAttribute("strides", kernel)}));
}

// ---- Normalizations

Names ExportBatchNorm(OpExport& op) {
  const auto attrs = op.Attrs<BatchNormAttrs>();
  if (op.exporter().IsFieldUsed(1) || op.exporter().IsFieldUsed(2))
    return op.Lacks("the moving mean and variance of its result are used");
  const int rank = op.Rank(0);
  if (rank < 2) return op.Lacks("the rank of its data is not known");
  const int64_t axis = attrs.axis() < 0 ? attrs.axis() + rank : attrs.axis();
  if (attrs.training() && !op.exporter().IsInference(op.call()))
    return op.Lacks("it computes the mean and the variance of its data: -mode=inference takes those that it is given");
  const std::string_view gamma =
      attrs.scale() ? op.In(1) : op.Add("Add", {op.Add("Sub", {op.In(1), op.In(1)}), op.Scalar(1, op.Dtype(1))});
  const std::string_view beta = attrs.center() ? op.In(2) : op.Add("Sub", {op.In(2), op.In(2)});
  std::vector<int64_t> swap;
  for (int64_t i = 0; i < rank; ++i) swap.push_back(i);
  std::swap(swap[1], swap[static_cast<size_t>(axis)]);
  const std::string_view data = axis == 1 ? op.In(0) : op.Transpose(op.In(0), swap);
  std::vector<AttributeProto> attributes{FloatAttribute("epsilon", attrs.epsilon())};
  if (op.version() < 7) attributes.push_back(IntAttribute("is_test", 1));
  const std::string_view result =
      op.Add("BatchNormalization", {data, gamma, beta, op.In(3), op.In(4)}, std::move(attributes));
  return {axis == 1 ? result : op.Transpose(result, swap), {}, {}};
}

// Returns whether an operand is a tensor of zeros, which stands for one that is left out.
bool IsZeros(OpExport& op, size_t i) {
  const auto* call = As<Call>(op.Resolved(i));
  const auto* callee = call ? As<Op>(call->op) : nullptr;
  if (callee != nullptr && (callee->id == op::kZerosLike || callee->id == op::kZeros)) return true;
  const auto* constant = As<iropt::Constant>(op.Resolved(i));
  if (constant == nullptr || constant->data->num_bytes() > (size_t{1} << 20)) return false;
  const std::span bytes(constant->data->data(), constant->data->num_bytes());
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// The order of axes with some that come first, then those of neither list, and then those that come last.
std::vector<int64_t> OrderOf(int rank, std::vector<int64_t> first, std::vector<int64_t> last) {
  for (auto* axes : {&first, &last}) {
    for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  }
  const auto has = [](const std::vector<int64_t>& axes, int64_t axis) {
    return std::ranges::find(axes, axis) != axes.end();
  };
  std::vector<int64_t> order = first;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!has(first, axis) && !has(last, axis)) order.push_back(axis);
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

// The operand with its axes in an order, and a result of this order in that of the program.
std::string_view InOrder(OpExport& op, const std::vector<int64_t>& order) {
  return std::ranges::is_sorted(order) ? op.In(0) : op.Transpose(op.In(0), order);
}
std::string_view FromOrder(OpExport& op, std::string_view result, const std::vector<int64_t>& order) {
  if (std::ranges::is_sorted(order)) return result;
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return op.Transpose(result, std::move(back));
}

// The order of the axes with the normalized ones at the end, as the scale has them: ascending.
std::vector<int64_t> OrderOfNorm(int rank, const IntList& axes) {
  std::vector<int64_t> last = axes.vector();
  for (int64_t& axis : last) axis += axis < 0 ? rank : 0;
  std::ranges::sort(last);
  return OrderOf(rank, {}, std::move(last));
}

// The last axes, as many as are normalized.
std::vector<int64_t> LastAxes(int rank, size_t count) {
  std::vector<int64_t> axes;
  for (int64_t axis = rank - static_cast<int64_t>(count); axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// (x - mean) / sqrt(variance + epsilon)
std::string_view Normalized(OpExport& op, std::string_view x, const std::vector<int64_t>& axes, double epsilon) {
  const std::string_view distance = op.Add("Sub", {x, op.Reduce("ReduceMean", x, axes, true)});
  // A power as most exporters write it: runtimes look for it.
  const std::string_view square = op.Add("Pow", {distance, op.Scalar(2, op.Dtype(0))});
  const std::string_view variance = op.Reduce("ReduceMean", square, axes, true);
  const std::string_view shifted = op.Add("Add", {variance, op.Scalar(epsilon, op.Dtype(0))});
  return op.Add("Div", {distance, op.Add("Sqrt", {shifted})});
}

Names ExportLayerNorm(OpExport& op) {
  const auto attrs = op.Attrs<LayerNormAttrs>();
  const int rank = op.Rank(0);
  if (rank < 1) return op.Lacks("the rank of its data is not known");
  if (attrs.axes().empty()) return op.Lacks("it normalizes no axis");
  const std::vector<int64_t> order = OrderOfNorm(rank, attrs.axes());
  const std::vector<int64_t> axes = LastAxes(rank, attrs.axes().size());
  const bool has_bias = attrs.center() && !IsZeros(op, 2);
  const std::string_view x = InOrder(op, order);
  if (op.version() >= 17 && attrs.scale()) {
    Names inputs{x, op.In(1)};
    if (has_bias) inputs.push_back(op.In(2));
    const auto norm = op.Add("LayerNormalization", inputs,
                             {IntAttribute("axis", axes.front()), FloatAttribute("epsilon", attrs.epsilon())});
    return {FromOrder(op, norm, order)};
  }
  std::string_view result = Normalized(op, x, axes, attrs.epsilon());
  if (attrs.scale()) result = op.Add("Mul", {result, op.In(1)});
  return {FromOrder(op, has_bias ? op.Add("Add", {result, op.In(2)}) : result, order)};
}

Names ExportRmsNorm(OpExport& op) {
  const auto attrs = op.Attrs<RMSNormAttrs>();
  const int rank = op.Rank(0);
  if (rank < 1) return op.Lacks("the rank of its data is not known");
  if (attrs.axes().empty()) return op.Lacks("it normalizes no axis");
  const std::vector<int64_t> order = OrderOfNorm(rank, attrs.axes());
  const std::vector<int64_t> axes = LastAxes(rank, attrs.axes().size());
  const std::string_view x = InOrder(op, order);
  if (op.version() >= 23) {
    const auto norm = op.Add("RMSNormalization", {x, op.In(1)},
                             {IntAttribute("axis", axes.front()), FloatAttribute("epsilon", attrs.epsilon())});
    return {FromOrder(op, norm, order)};
  }
  const std::string_view square = op.Add("Pow", {x, op.Scalar(2, op.Dtype(0))});
  const std::string_view mean = op.Reduce("ReduceMean", square, axes, true);
  const std::string_view root = op.Add("Sqrt", {op.Add("Add", {mean, op.Scalar(attrs.epsilon(), op.Dtype(0))})});
  return {FromOrder(op, op.Add("Mul", {op.Add("Div", {x, root}), op.In(1)}), order)};
}

// The order of images with the channels behind the first axis and the axes that are normalized at the end; nothing if
// these are not all others.
std::optional<std::vector<int64_t>> OrderOfImages(int rank, int64_t channel, const IntList& axes) {
  if (rank < 3 || axes.size() != static_cast<size_t>(rank) - 2) return std::nullopt;
  std::vector<int64_t> last = axes.vector();
  last.insert(last.begin(), channel);
  for (int64_t& axis : last) axis += axis < 0 ? rank : 0;
  std::ranges::sort(last.begin() + 1, last.end());
  std::vector<int64_t> order = OrderOf(rank, {}, last);
  return order.size() == static_cast<size_t>(rank) ? std::optional(std::move(order)) : std::nullopt;
}

Names ExportInstanceNorm(OpExport& op) {
  const auto attrs = op.Attrs<InstanceNormAttrs>();
  const auto order = OrderOfImages(op.Rank(0), attrs.channel_axis(), attrs.axes());
  if (!order || !attrs.scale() || !attrs.center())
    return op.Lacks("ONNX normalizes each channel of images, with a scale and a bias");
  const auto norm = op.Add("InstanceNormalization", {InOrder(op, *order), op.In(1), op.In(2)},
                           {FloatAttribute("epsilon", attrs.epsilon())});
  return {FromOrder(op, norm, *order)};
}

// The groups as the channels of an instance norm; then scale and bias of each channel.
Names ExportGroupNorm(OpExport& op) {
  const auto attrs = op.Attrs<GroupNormAttrs>();
  const int rank = op.Rank(0);
  const auto order = OrderOfImages(rank, attrs.channel_axis(), attrs.axes());
  if (!order) return op.Lacks("ONNX normalizes groups of channels of images");
  const int64_t groups = attrs.num_groups();
  const bool is_float32 = op.Dtype(0) == DataType::Float(32);
  if (op.version() < 21 && !is_float32) return op.Needs(21);
  const bool has_both = attrs.scale() && attrs.center();
  if (!has_both && !is_float32) return op.Lacks("without a scale or a bias it is written for float32 only");
  const std::string_view x = InOrder(op, *order);
  if (op.version() >= 21 && has_both) {
    const auto norm = op.Add("GroupNormalization", {x, op.In(1), op.In(2)},
                             {FloatAttribute("epsilon", attrs.epsilon()), IntAttribute("num_groups", groups)});
    return {FromOrder(op, norm, *order)};
  }
  const auto constant = [&](double value) {
    auto array = NDArray::Make(DataType::Float(32), {groups});
    std::ranges::fill(array->MutableAs<float>(), static_cast<float>(value));
    return op.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
  };
  const std::string_view grouped = op.Reshape(x, {0, groups, -1});
  const std::string_view norm = op.Add("InstanceNormalization", {grouped, constant(1), constant(0)},
                                       {FloatAttribute("epsilon", attrs.epsilon())});
  std::string_view result = op.Add("Reshape", {norm, op.Add("Shape", {x})});
  std::vector<int64_t> behind;
  for (int64_t i = 1; i < rank - 1; ++i) behind.push_back(i);
  if (attrs.scale()) result = op.Add("Mul", {result, op.Unsqueeze(op.In(1), behind)});
  if (attrs.center()) result = op.Add("Add", {result, op.Unsqueeze(op.In(2), behind)});
  return {FromOrder(op, result, *order)};
}

// ---- Padding

// The elements around a tensor that repeats. None where the number of its elements is not known, or great.
Names GatherAround(OpExport& op, std::span<const int64_t> widths) {
  const auto dims = StaticDimsOf(op.TypeOf(0));
  if (!dims || std::ranges::find(*dims, 0) != dims->end()) return {};
  std::string_view x = op.In(0);
  for (size_t axis = 0; axis < dims->size(); ++axis) {
    const int64_t size = (*dims)[axis];
    const int64_t before = widths[2 * axis], after = widths[2 * axis + 1];
    if (before == 0 && after == 0) continue;
    constexpr int64_t kMost = int64_t{1} << 20;
    if (size > kMost || before > kMost || after > kMost) return {};
    std::vector<int64_t> indices;
    for (int64_t i = -before; i < size + after; ++i) indices.push_back((i % size + size) % size);
    x = op.Add("Gather", {x, op.Ints(indices)}, {IntAttribute("axis", static_cast<int64_t>(axis))});
  }
  return {x};
}

Names ExportPad(OpExport& op) {
  const auto attrs = op.Attrs<PadAttrs>();
  const std::vector<int64_t> widths = attrs.pad_width().vector();
  std::vector<int64_t> pads;
  for (size_t i = 0; i < widths.size(); i += 2) pads.push_back(widths[i]);
  for (size_t i = 1; i < widths.size(); i += 2) pads.push_back(widths[i]);
  const std::string_view given = attrs.pad_mode();
  const bool is_edge = given == "replicate" || given == "edge";
  const std::string_view mode = is_edge ? "edge" : given == "circular" ? "wrap" : given;
  if (mode == "wrap" && op.version() < 19) {
    const Names around = GatherAround(op, widths);
    return around.empty() ? op.Needs(19) : around;
  }
  std::vector<AttributeProto> attributes;
  if (mode != "constant") attributes.push_back(TextAttribute("mode", mode));
  const bool has_value = mode == "constant" && op.num_args() > 1;
  if (op.version() >= 11) {
    Names inputs{op.In(0), op.Ints(pads)};
    if (has_value) inputs.push_back(op.Cast(op.In(1), op.Dtype(1), op.Dtype(0)));
    return {op.Add("Pad", inputs, attributes)};
  }
  attributes.push_back(IntsAttribute("pads", pads));
  const auto* value = has_value ? As<iropt::Constant>(op.Resolved(1)) : nullptr;
  if (has_value && (value == nullptr || value->data->dtype() != DataType::Float(32))) return op.Needs(11);
  if (value != nullptr) attributes.push_back(FloatAttribute("value", static_cast<double>(value->data->As<float>()[0])));
  return {op.Add("Pad", {op.In(0)}, attributes)};
}

Names ExportPixelShuffle(OpExport& op) {
  if (op.Rank(0) != 4) return op.Lacks("ONNX has it for images of rank 4");
  return {op.Add(
      "DepthToSpace", {op.In(0)},
      {IntAttribute("blocksize", op.Attrs<PixelShuffleAttrs>().upscale_factor()), TextAttribute("mode", "CRD")})};
}

constexpr ExportRow kNeuralExports[] = {
    {op::kEinsum, "Einsum", 12, ExportEinsum},
    {op::kMatmul, "", 1, ExportMatmul},                     // MatMul, Gemm
    {op::kNnAdaptiveAvgPool1d, "", 1, ExportAdaptivePool},  // GlobalAveragePool, AveragePool
    {op::kNnAdaptiveAvgPool2d, "", 1, ExportAdaptivePool},  // GlobalAveragePool, AveragePool
    {op::kNnAdaptiveAvgPool3d, "", 1, ExportAdaptivePool},  // GlobalAveragePool, AveragePool
    {op::kNnAvgPool1d, "AveragePool", 1, ExportAvgPool},
    {op::kNnAvgPool2d, "AveragePool", 1, ExportAvgPool},
    {op::kNnAvgPool3d, "AveragePool", 1, ExportAvgPool},
    {op::kNnBatchNorm, "BatchNormalization", 6, ExportBatchNorm},
    {op::kNnConv1d, "Conv", 1, ExportConv},
    {op::kNnConv1dTranspose, "ConvTranspose", 1, ExportConvTranspose},
    {op::kNnConv2d, "Conv", 1, ExportConv},
    {op::kNnConv2dTranspose, "ConvTranspose", 1, ExportConvTranspose},
    {op::kNnConv3d, "Conv", 1, ExportConv},
    {op::kNnConv3dTranspose, "ConvTranspose", 1, ExportConvTranspose},
    {op::kNnGroupNorm, "", 6, ExportGroupNorm},  // GroupNormalization; before 21 a composition
    {op::kNnInstanceNorm, "InstanceNormalization", 6, ExportInstanceNorm},
    {op::kNnLayerNorm, "", 7, ExportLayerNorm},  // LayerNormalization; before 17 a composition
    {op::kNnMaxPool1d, "MaxPool", 1, ExportMaxPool},
    {op::kNnMaxPool2d, "MaxPool", 1, ExportMaxPool},
    {op::kNnMaxPool3d, "MaxPool", 1, ExportMaxPool},
    {op::kNnNllLoss, "NegativeLogLikelihoodLoss", 12, ExportNllLoss},
    {op::kNnPad, "Pad", 2, ExportPad},
    {op::kNnPixelShuffle, "DepthToSpace", 11, ExportPixelShuffle},
    {op::kNnRmsNorm, "", 7, ExportRmsNorm},  // RMSNormalization; before 23 a composition
    {op::kOuter, "", 7, ExportOuter},        // Unsqueeze, Mul
};

}  // namespace

std::span<const ExportRow> NeuralExports() { return kNeuralExports; }

}  // namespace iropt::onnx
