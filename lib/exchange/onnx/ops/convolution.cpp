// Conv and ConvTranspose.

#include "iropt/op/ops/convolution.h"

#include <algorithm>
#include <array>

#include "exchange/onnx/ops/common.h"
#include "iropt/arith/const_fold.h"

namespace iropt::onnx {

namespace {

// By the number of spatial dimensions, from 1.
struct ConvolutionForm {
  OpId conv;
  OpId transposed;
  std::string_view data;
  std::string_view kernel;
  std::string_view transposed_kernel;
};

constexpr std::array kConvolutionForms = {
    ConvolutionForm{op::kNnConv1d, op::kNnConv1dTranspose, "NCW", "OIW", "IOW"},
    ConvolutionForm{op::kNnConv2d, op::kNnConv2dTranspose, "NCHW", "OIHW", "IOHW"},
    ConvolutionForm{op::kNnConv3d, op::kNnConv3dTranspose, "NCDHW", "OIDHW", "IODHW"},
};

// The form for the data; null if Relax has none for its rank.
const ConvolutionForm* FormOf(OpImport& op) {
  const int spatial = op.Rank(0) - 2;
  const bool known = spatial >= 1 && spatial <= static_cast<int>(kConvolutionForms.size()) && op.Rank(1) == op.Rank(0);
  return known ? &kConvolutionForms[static_cast<size_t>(spatial - 1)] : nullptr;
}

std::optional<std::vector<int64_t>> SpatialDims(OpImport& op, size_t input) {
  std::vector<int64_t> dims;
  const TensorType* type = op.TypeOf(input);
  for (size_t axis = 2; type->known && axis < type->dims.size(); ++axis) {
    const auto* dim = As<tir::IntImm>(DimOf(type, axis));
    if (dim == nullptr) return std::nullopt;
    dims.push_back(dim->value);
  }
  if (!type->known) return std::nullopt;
  return dims;
}

const Expr* WithBias(OpImport& op, const Expr* x) {
  if (!op.Has(2)) return x;
  return Add(op, x, AlongAxis(op, op.In(2), 1, op.Rank(0)));
}

Value ImportConv(OpImport& op) {
  const ConvolutionForm* form = FormOf(op);
  if (form == nullptr) return {};
  std::vector<int64_t> kernel = op.Ints("kernel_shape");
  if (kernel.empty()) {
    const auto dims = SpatialDims(op, 1);
    if (!dims) return {};
    kernel = *dims;
  }
  const std::optional<Window> window = WindowOf(op, kernel, SpatialDims(op, 0));
  if (!window) return {};
  const Expr* conv = op.Call(form->conv, {op.In(0), op.In(1)},
                             op.Attrs<ConvAttrs>(form->conv, {.strides = window->strides,
                                                              .padding = window->pads,
                                                              .dilation = window->dilations,
                                                              .groups = op.Int("group", 1)}));
  return WithBias(op, conv);
}

// The paddings that give the output the shape that the node asks for.
bool FitOutput(OpImport& op, const std::vector<int64_t>& sizes, std::vector<int64_t>& extra, Window& window) {
  const std::vector<int64_t> output = op.Ints("output_shape");
  const std::string_view auto_pad = op.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (output.empty() && !same) return true;
  const size_t rank = sizes.size();
  if (!output.empty() && !CheckNumbers(op, "output_shape", output, rank, 0)) return false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t wanted = output.empty() ? op.Product({sizes[i], window.strides[i]}) : output[i];
    // Of the first window, and what the others add.
    const int64_t first = extra[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const auto full = arith::CheckedAdd(op.Product({sizes[i] - 1, window.strides[i]}), first);
    if (!full) op.Error("its output does not fit into 64 bits");
    if (op.failed()) return false;
    // An output beyond the last window gets padding at its end.
    const int64_t total = std::max<int64_t>(0, *full - wanted);
    extra[i] += std::max<int64_t>(0, wanted - *full);
    const int64_t half = total / 2;
    window.pads[i] = auto_pad == "SAME_UPPER" ? half : total - half;
    window.pads[rank + i] = total - window.pads[i];
  }
  return true;
}

Value ImportConvTranspose(OpImport& op) {
  const ConvolutionForm* form = FormOf(op);
  if (form == nullptr) return {};
  const auto sizes = SpatialDims(op, 0);
  const auto weight = SpatialDims(op, 1);
  const bool fits_output = op.FindAttr("output_shape") || op.String("auto_pad", "NOTSET").starts_with("SAME");
  if (!weight || (fits_output && !sizes)) return {};
  std::optional<Window> window = WindowOf(op, *weight, sizes);
  if (!window) return {};
  std::vector<int64_t> extra = op.Ints("output_padding");
  if (extra.empty()) extra.assign(weight->size(), 0);
  if (!CheckNumbers(op, "output_padding", extra, weight->size(), 0)) return {};
  if (fits_output && !FitOutput(op, *sizes, extra, *window)) return {};
  const Expr* conv = op.Call(form->transposed, {op.In(0), op.In(1)},
                             op.Attrs<ConvTransposeAttrs>(form->transposed, {.strides = window->strides,
                                                                             .padding = window->pads,
                                                                             .output_padding = extra,
                                                                             .dilation = window->dilations,
                                                                             .groups = op.Int("group", 1)}));
  return WithBias(op, conv);
}

constexpr OpRow kConvolutionRows[] = {
    {"Conv", 1, 2, 3, ImportConv, "R.nn.conv1d, R.nn.conv2d, R.nn.conv3d, R.add"},
    {"ConvTranspose", 1, 2, 3, ImportConvTranspose,
     "R.nn.conv1d_transpose, R.nn.conv2d_transpose, R.nn.conv3d_transpose, R.add"},
};

}  // namespace

std::span<const OpRow> ConvolutionRows() { return kConvolutionRows; }

}  // namespace iropt::onnx
