// Convolutions, pools, images and signals.

#include <algorithm>

#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/resize_spec.h"
#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

namespace {

// ---- Windows

int64_t NumberAt(const std::vector<int64_t>& numbers, size_t i, int64_t fallback) {
  return i < numbers.size() ? numbers[i] : fallback;
}

// The attributes of windows over so many dimensions.
struct WindowFacts {
  std::vector<const PrimExpr*> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;
  std::string_view auto_pad;
  bool rounds_up = false;
};

WindowFacts WindowFactsOf(OpImport& op, const Dims& weight, size_t count) {
  WindowFacts facts{.kernel = {},
                    .strides = op.Ints("strides"),
                    .dilations = op.Ints("dilations"),
                    .pads = op.Ints("pads"),
                    .auto_pad = op.String("auto_pad", "NOTSET"),
                    .rounds_up = op.Int("ceil_mode") != 0};
  std::ranges::transform(op.Ints("kernel_shape"), std::back_inserter(facts.kernel), WholeDim);
  if (facts.kernel.empty() && weight && weight->size() == count + 2)
    facts.kernel.assign(weight->begin() + 2, weight->end());
  facts.kernel.resize(count, nullptr);
  return facts;
}

// The elements that a window spans along a dimension.
const PrimExpr* ExtentOf(const WindowFacts& facts, size_t i) {
  const PrimExpr* taps = SubtractDims(facts.kernel[i], WholeDim(1));
  return AddDims(MultiplyDims(taps, WholeDim(NumberAt(facts.dilations, i, 1))), WholeDim(1));
}

// The number of windows along a dimension.
const PrimExpr* WindowsAlong(const WindowFacts& facts, const PrimExpr* dim, size_t i) {
  const int64_t stride = NumberAt(facts.strides, i, 1);
  if (facts.auto_pad.starts_with("SAME")) return DivideDim(AddDims(dim, WholeDim(stride - 1)), stride);
  const bool pads = facts.auto_pad != "VALID";
  const int64_t before = pads ? NumberAt(facts.pads, i, 0) : 0;
  const int64_t after = pads ? NumberAt(facts.pads, facts.kernel.size() + i, 0) : 0;
  const PrimExpr* room = SubtractDims(AddDims(dim, WholeDim(before + after)), ExtentOf(facts, i));
  if (!facts.rounds_up) return AddDims(DivideDim(room, stride), WholeDim(1));
  const auto size = NumberOfDim(dim);
  const auto known_room = NumberOfDim(room);
  if (!size || !known_room || stride < 1) return nullptr;
  const int64_t windows = (*known_room + stride - 1) / stride + 1;
  // No window begins in the padding after the data.
  return WholeDim((windows - 1) * stride >= *size + before ? windows - 1 : windows);
}

// The windows of an image, with a batch and so many channels.
Dims WindowedDims(OpImport& op, const Dims& weight,
                  const PrimExpr* (*channels)(const Dims& image, const Dims& weight)) {
  Dims image = DimsIn(op, 0);
  if (!image || image->size() < 3) return std::nullopt;
  const WindowFacts facts = WindowFactsOf(op, weight, image->size() - 2);
  for (size_t i = 2; i < image->size(); ++i) (*image)[i] = WindowsAlong(facts, (*image)[i], i - 2);
  (*image)[1] = channels(image, weight);
  return image;
}

const PrimExpr* ChannelsOfImage(const Dims& image, const Dims& /*weight*/) { return (*image)[1]; }
const PrimExpr* Filters(const Dims& /*image*/, const Dims& weight) {
  return weight && !weight->empty() ? weight->front() : nullptr;
}

Dims PoolDims(OpImport& op, size_t /*output*/) { return WindowedDims(op, std::nullopt, ChannelsOfImage); }
template <size_t kWeight>
Dims ConvDims(OpImport& op, size_t /*output*/) {
  return WindowedDims(op, DimsIn(op, kWeight), Filters);
}

// Pools of channels_last images are for the run.
Dims QuantizedPoolDims(OpImport& op, size_t output) {
  return op.Int("channels_last") == 0 ? PoolDims(op, output) : RankLike<0>(op, output);
}

Dims GlobalPoolDims(OpImport& op, size_t output) {
  if (op.Int("channels_last") != 0) return RankLike<0>(op, output);
  Dims dims = DimsIn(op, 0);
  for (size_t i = 2; dims && i < dims->size(); ++i) (*dims)[i] = WholeDim(1);
  return dims;
}

Dims ConvTransposeDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const Dims weight = DimsIn(op, 1);
  if (!dims || dims->size() < 3) return std::nullopt;
  const WindowFacts facts = WindowFactsOf(op, weight, dims->size() - 2);
  (*dims)[1] = weight && weight->size() > 1 ? MultiplyDims((*weight)[1], WholeDim(op.Int("group", 1))) : nullptr;
  const std::vector<int64_t> output = op.Ints("output_shape");
  const std::vector<int64_t> extra = op.Ints("output_padding");
  const size_t count = dims->size() - 2;
  for (size_t i = 0; i < count; ++i) {
    const PrimExpr*& dim = (*dims)[i + 2];
    const PrimExpr* stride = WholeDim(NumberAt(facts.strides, i, 1));
    const int64_t pads = NumberAt(facts.pads, i, 0) + NumberAt(facts.pads, count + i, 0) - NumberAt(extra, i, 0);
    if (output.size() >= count) {
      dim = WholeDim(output[output.size() - count + i]);
    } else if (facts.auto_pad.starts_with("SAME")) {
      dim = MultiplyDims(dim, stride);
    } else {
      const PrimExpr* windows = MultiplyDims(SubtractDims(dim, WholeDim(1)), stride);
      dim = SubtractDims(AddDims(windows, ExtentOf(facts, i)), WholeDim(facts.auto_pad == "VALID" ? 0 : pads));
    }
  }
  return dims;
}

// The inverse of a pool without overlap, or the shape that the node is given.
Dims UnpoolDims(OpImport& op, size_t /*output*/) {
  if (op.Has(2)) return ShapeIn(op, 2);
  Dims dims = DimsIn(op, 0);
  if (!dims || dims->size() < 3) return std::nullopt;
  const WindowFacts facts = WindowFactsOf(op, std::nullopt, dims->size() - 2);
  for (size_t i = 2; i < dims->size(); ++i) {
    const PrimExpr* windows =
        MultiplyDims(SubtractDims((*dims)[i], WholeDim(1)), WholeDim(NumberAt(facts.strides, i - 2, 1)));
    const int64_t pads = NumberAt(facts.pads, i - 2, 0) + NumberAt(facts.pads, dims->size() - 2 + i - 2, 0);
    (*dims)[i] = SubtractDims(AddDims(windows, facts.kernel[i - 2]), WholeDim(pads));
  }
  return dims;
}

// ---- Images

Dims RoiDims(OpImport& op, const PrimExpr* height, const PrimExpr* width) {
  const Dims image = DimsIn(op, 0);
  const Dims rois = DimsIn(op, 1);
  return std::vector{rois && !rois->empty() ? rois->front() : nullptr,
                     image && image->size() > 1 ? (*image)[1] : nullptr, height, width};
}
Dims RoiAlignDims(OpImport& op, size_t /*output*/) {
  return RoiDims(op, WholeDim(op.Int("output_height", 1)), WholeDim(op.Int("output_width", 1)));
}
Dims MaxRoiPoolDims(OpImport& op, size_t /*output*/) {
  const std::vector<int64_t> pooled = op.Ints("pooled_shape");
  return RoiDims(op, WholeDim(NumberAt(pooled, 0, -1)), WholeDim(NumberAt(pooled, 1, -1)));
}

Dims GridSampleDims(OpImport& op, size_t /*output*/) {
  Dims image = DimsIn(op, 0);
  const Dims grid = DimsIn(op, 1);
  if (!image && op.version() < 20) return UnknownDims(4);
  for (size_t i = 2; image && i < image->size(); ++i)
    (*image)[i] = grid && i - 1 < grid->size() ? (*grid)[i - 1] : nullptr;
  return image;
}

Dims AffineGridDims(OpImport& op, size_t /*output*/) {
  Dims size = ShapeIn(op, 1);
  if (!size || size->size() < 3) return std::nullopt;
  size->erase(size->begin() + 1);
  size->push_back(WholeDim(static_cast<int64_t>(size->size()) - 1));
  return size;
}

// The scales of a Resize that are known; empty if they are not.
std::vector<float> KnownScales(OpImport& op, const ResizeSpec& spec) {
  if (const AttributeProto* scales = op.FindAttr("scales")) return scales->floats;
  const NDArray* array = op.ConstantOf(spec.scales_input);
  if (array == nullptr || array->dtype() != DataType::Float(32)) return {};
  const std::span<const float> numbers = array->As<float>();
  return {numbers.begin(), numbers.end()};
}

Dims ResizeDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  if (!dims) return std::nullopt;
  const ResizeSpec spec = ReadResizeSpec(op, op.version());
  const bool has_sizes = spec.sizes_input != 0 && op.Has(spec.sizes_input);
  const Dims sizes = has_sizes && spec.policy == "stretch" ? ShapeIn(op, spec.sizes_input) : std::nullopt;
  const std::vector<float> scales = has_sizes ? std::vector<float>() : KnownScales(op, spec);
  const std::vector<int64_t> axes = spec.axes.empty() ? Iota(0, static_cast<int64_t>(dims->size())) : spec.axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = AxisOf(axes[i], dims);
    if (!axis) return UnknownDims(dims->size());
    const auto length = NumberOfDim((*dims)[*axis]);
    if (i < scales.size() && (length || scales[i] == 1.0F))
      (*dims)[*axis] = length ? WholeDim(ScaledLength(*length, static_cast<double>(scales[i]))) : (*dims)[*axis];
    else
      (*dims)[*axis] = sizes && i < sizes->size() ? (*sizes)[i] : nullptr;
  }
  return dims;
}

// Blocks of pixels become channels, or the other way around.
Dims BlockDims(OpImport& op, bool to_depth) {
  Dims dims = DimsIn(op, 0);
  const int64_t block = op.Int("blocksize", 1);
  if (!dims || dims->size() != 4 || block < 1 || block > INT16_MAX) return UnknownDims(4);
  const auto grow = [](const PrimExpr* dim, int64_t factor) { return MultiplyDims(dim, WholeDim(factor)); };
  (*dims)[1] = to_depth ? grow((*dims)[1], block * block) : DivideDim((*dims)[1], block * block);
  for (size_t i = 2; i < 4; ++i) (*dims)[i] = to_depth ? DivideDim((*dims)[i], block) : grow((*dims)[i], block);
  return dims;
}
Dims SpaceToDepthDims(OpImport& op, size_t /*output*/) { return BlockDims(op, true); }
Dims DepthToSpaceDims(OpImport& op, size_t /*output*/) { return BlockDims(op, false); }

Dims Col2ImDims(OpImport& op, size_t /*output*/) {
  const Dims data = DimsIn(op, 0);
  const Dims image = ShapeIn(op, 1);
  const Dims block = ShapeIn(op, 2);
  if (!image) return std::nullopt;
  const auto size = block ? NumberOfDim(MultiplyAll(*block, 0, block->size())) : std::nullopt;
  const bool known = data && data->size() == 3;
  std::vector dims = {known ? (*data)[0] : nullptr, known && size ? DivideDim((*data)[1], *size) : nullptr};
  dims.insert(dims.end(), image->begin(), image->end());
  return dims;
}

// ---- Signals

// The frequencies of a signal: half of them if the others mirror them.
const PrimExpr* Frequencies(const PrimExpr* length, bool onesided) {
  return onesided ? AddDims(DivideDim(length, 2), WholeDim(1)) : length;
}

Dims DftDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const auto given = op.version() < 20 ? std::optional(op.Int("axis", 1))
                     : op.Has(2)       ? NumberOfDim(LengthIn(op, 2))
                                       : std::optional(int64_t{-2});
  const auto axis = given ? AxisOf(*given, dims) : std::nullopt;
  if (!axis) return dims ? UnknownDims(dims->size()) : std::nullopt;
  const bool onesided = op.Int("onesided") != 0;
  const bool to_real = onesided && op.Int("inverse") != 0;
  const PrimExpr*& dim = (*dims)[*axis];
  if (op.Has(1))
    dim = LengthIn(op, 1);
  else if (to_real)
    dim = MultiplyDims(SubtractDims(dim, WholeDim(1)), WholeDim(2));
  if (!to_real) dim = Frequencies(dim, onesided);
  dims->back() = WholeDim(to_real ? 1 : 2);
  return dims;
}

Dims StftDims(OpImport& op, size_t /*output*/) {
  const Dims signal = DimsIn(op, 0);
  const Dims window = DimsIn(op, 2);
  const bool has_window = window && window->size() == 1;
  const PrimExpr* length = op.Has(3) ? LengthIn(op, 3) : has_window ? window->front() : nullptr;
  const auto step = NumberOfDim(LengthIn(op, 1));
  const PrimExpr* samples = signal && signal->size() > 1 ? (*signal)[1] : nullptr;
  const PrimExpr* frames = step ? AddDims(DivideDim(SubtractDims(samples, length), *step), WholeDim(1)) : nullptr;
  return std::vector{signal && !signal->empty() ? signal->front() : nullptr, frames,
                     Frequencies(length, op.Int("onesided", 1) != 0), WholeDim(2)};
}

DataType SignalDtype(OpImport& op, size_t /*output*/) { return DtypeIn(op, "output_datatype", DataType::Float(32)); }
Dims SignalWindowDims(OpImport& op, size_t /*output*/) { return std::vector{LengthIn(op, 0)}; }
Dims MelDims(OpImport& op, size_t /*output*/) {
  return std::vector{Frequencies(LengthIn(op, 1), true), LengthIn(op, 0)};
}

Dims ImageDims(OpImport& op, size_t /*output*/) {
  return std::vector<const PrimExpr*>{nullptr, nullptr,
                                      WholeDim(op.String("pixel_format", "RGB") == "Grayscale" ? 1 : 3)};
}

constexpr TypeRow kWindowTypes[] = {
    {"AveragePool LpPool MaxPool", 0, Of<0>, PoolDims},
    {"MaxPool", 1, kLongs, PoolDims},
    {"com.microsoft.QLinearAveragePool", 0, Of<0>, QuantizedPoolDims},
    {"GlobalAveragePool GlobalLpPool GlobalMaxPool com.microsoft.QLinearGlobalAveragePool", 0, Of<0>, GlobalPoolDims},
    {"Conv DeformConv com.microsoft.FusedConv", 0, Of<0>, ConvDims<1>},
    {"ConvInteger", 0, kInts, ConvDims<1>},
    {"QLinearConv", 0, Of<7>, ConvDims<3>},
    {"ConvTranspose", 0, Of<0>, ConvTransposeDims},
    {"MaxUnpool", 0, Of<0>, UnpoolDims},
    {"RoiAlign", 0, Of<0>, RoiAlignDims},
    {"MaxRoiPool", 0, Of<0>, MaxRoiPoolDims},
    {"GridSample", 0, Of<0>, GridSampleDims},
    {"AffineGrid", 0, Of<0>, AffineGridDims},
    {"Resize Upsample", 0, Of<0>, ResizeDims},
    {"SpaceToDepth", 0, Of<0>, SpaceToDepthDims},
    {"DepthToSpace", 0, Of<0>, DepthToSpaceDims},
    {"Col2Im", 0, Of<0>, Col2ImDims},
    {"DFT", 0, Of<0>, DftDims},
    {"STFT", 0, Of<0>, StftDims},
    {"BlackmanWindow HammingWindow HannWindow", 0, SignalDtype, SignalWindowDims},
    {"MelWeightMatrix", 0, SignalDtype, MelDims},
    {"ImageDecoder", 0, kBytes, ImageDims},
};

}  // namespace

std::span<const TypeRow> WindowTypeRows() { return kWindowTypes; }

}  // namespace iropt::onnx
