// Convolutions and matrix products.
#include "iropt/infer/ops/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/matmul.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// Relay stores the weights of a depthwise convolution with several outputs per channel by channel and output; Relax has
// all outputs along one axis.
const Expr* DepthwiseWeight(OpCall& call, const Expr* weight, std::string_view layout, std::string& used_layout) {
  used_layout = layout;
  const auto shape = StaticDimsOf(weight);
  const auto data = StaticDimsOf(call.arg(0));
  const size_t out = AxisIn(layout, 'O');
  const size_t in = AxisIn(layout, 'I');
  const size_t channel = AxisIn(call.String("data_layout"), 'C');
  const int64_t groups = call.Int("groups");
  if (groups == 1 || !shape || !data || shape->size() != layout.size() || out >= shape->size() || in >= shape->size() ||
      channel >= data->size())
    return weight;
  if ((*data)[channel] != groups || (*shape)[out] != groups || (*shape)[in] == 1) return weight;
  // With the axes O and I first, their product is the axis of outputs.
  used_layout.erase(std::remove_if(used_layout.begin(), used_layout.end(), [](char c) { return c == 'O' || c == 'I'; }),
                    used_layout.end());
  used_layout.insert(0, "OI");
  weight = TransformLayout(call, weight, layout, used_layout);
  std::vector<int64_t> merged{(*shape)[out] * (*shape)[in], 1};
  for (size_t i = 2; i < used_layout.size(); ++i) merged.push_back((*shape)[AxisIn(layout, used_layout[i])]);
  return call.Reshape(weight, merged);
}

std::string_view OutLayout(OpCall& call) {
  const std::string_view layout = call.String("out_layout");
  return layout.empty() ? call.String("data_layout") : layout;
}

// Returns whether an attribute that repeats a dimension of the weights has its size, which may be unknown. A size of 0
// does not count: it is null in a record of the metadata section.
bool HasSize(OpCall& call, std::string_view attribute, int64_t size, std::string_view axis, const PrimExpr* dim) {
  const int64_t* actual = arith::AsInt(dim);
  if (actual == nullptr || size == 0 || *actual == size) return true;
  call.Error("type-inference", fmt::format("the attribute '{}' has {}, but {} of the weights has size {}", attribute,
                                           size, axis, *actual));
  return false;
}

// Returns whether the weights have the kernel and the channels that the attributes name.
bool CheckWeights(OpCall& call) {
  const auto dims = DimsOf(call.arg(1));
  const std::string_view layout = call.String("kernel_layout");
  if (!dims || dims->size() != layout.size()) return true;
  std::string spatial;
  for (const char axis : std::string_view("DHW")) {
    if (layout.find(axis) != std::string_view::npos) spatial += axis;
  }
  const std::vector<int64_t> kernel = call.Ints("kernel_size");
  for (size_t i = 0; i < spatial.size() && kernel.size() == spatial.size(); ++i) {
    const std::string name = fmt::format("axis {}", spatial[i]);
    if (!HasSize(call, "kernel_size", kernel[i], name, (*dims)[AxisIn(layout, spatial[i])])) return false;
  }
  const size_t out = AxisIn(layout, 'O');
  if (!call.has("channels") || call.Int("groups") != 1 || out >= dims->size()) return true;
  return HasSize(call, "channels", call.Int("channels"), "axis O", (*dims)[out]);
}

// kAxes is the number of spatial axes.
template <auto kOp, size_t kAxes>
const Expr* BuildConv(OpCall& call) {
  if (!CheckWeights(call)) return nullptr;
  std::string kernel_layout;
  const Expr* weight = DepthwiseWeight(call, call.arg(1), call.String("kernel_layout"), kernel_layout);
  return kOp(call, call.arg(0), weight,
             {.strides = call.IntsOf("strides", kAxes),
              .padding = call.IntsOf("padding", 2 * kAxes, true),
              .dilation = call.IntsOf("dilation", kAxes),
              .groups = call.Int("groups"),
              .data_layout = call.String("data_layout"),
              .kernel_layout = std::string_view(kernel_layout),
              .out_layout = OutLayout(call),
              .out_dtype = call.Dtype("out_dtype")});
}

template <auto kOp, size_t kAxes>
const Expr* BuildConvTranspose(OpCall& call) {
  if (!CheckWeights(call)) return nullptr;
  return kOp(call, call.arg(0), call.arg(1),
             {.strides = call.IntsOf("strides", kAxes),
              .padding = call.IntsOf("padding", 2 * kAxes, true),
              .output_padding = call.IntsOf("output_padding", kAxes),
              .dilation = call.IntsOf("dilation", kAxes),
              .groups = call.Int("groups"),
              .data_layout = call.String("data_layout"),
              .kernel_layout = call.String("kernel_layout"),
              .out_layout = OutLayout(call),
              .out_dtype = call.Dtype("out_dtype")});
}

// The tensor with its last two axes exchanged.
const Expr* TransposeLast(OpCall& call, const Expr* tensor) {
  const int rank = RankOf(tensor);
  if (rank < 2) return call.Error("type-inference", "a matrix has at least two dimensions");
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return call.Permute(tensor, axes);
}

const Expr* MatrixProduct(OpCall& call, bool transpose_a, bool transpose_b) {
  const Expr* a = transpose_a ? TransposeLast(call, call.arg(0)) : call.arg(0);
  const Expr* b = transpose_b ? TransposeLast(call, call.arg(1)) : call.arg(1);
  return op::Matmul(call, a, b, {.out_dtype = call.Dtype("out_dtype")});
}

const Expr* BuildDense(OpCall& call) {
  const auto dims = DimsOf(call.arg(1));
  const bool checks = call.has("units") && dims && dims->size() == 2;
  if (checks && !HasSize(call, "units", call.Int("units"), "axis 0", dims->front())) return nullptr;
  return MatrixProduct(call, false, true);
}
const Expr* BuildMatmul(OpCall& call) {
  return MatrixProduct(call, call.Bool("transpose_a"), call.Bool("transpose_b"));
}

#define CONV_ATTRIBUTES(one, data, kernel)                                                                             \
  "strides=" one ", padding=0, dilation=" one ", groups=1, channels=None, kernel_size=None, data_layout=\"" data       \
  "\", kernel_layout=\"" kernel "\", out_layout=\"\", out_dtype=\"\""
#define CONV_TRANSPOSE_ATTRIBUTES(one, data, kernel)                                                                   \
  "channels=None, kernel_size=None, strides=" one ", output_padding=0, padding=0, dilation=" one                       \
  ", groups=1, data_layout=\"" data "\", kernel_layout=\"" kernel "\", out_layout=\"\", out_dtype=\"\""

constexpr OperatorRow kConvolution[] = {
    {"nn.batch_matmul", "tensor_a, tensor_b", "out_dtype=\"\", transpose_a=False, transpose_b=False", BuildMatmul},
    {"nn.conv1d", "data, weight", CONV_ATTRIBUTES("1", "NCW", "OIW"), BuildConv<op::NnConv1d, 1>},
    {"nn.conv1d_transpose", "data, weight", CONV_TRANSPOSE_ATTRIBUTES("1", "NCW", "IOW"),
     BuildConvTranspose<op::NnConv1dTranspose, 1>},
    {"nn.conv2d", "data, weight", CONV_ATTRIBUTES("[1, 1]", "NCHW", "OIHW"), BuildConv<op::NnConv2d, 2>},
    {"nn.conv2d_transpose", "data, weight", CONV_TRANSPOSE_ATTRIBUTES("[1, 1]", "NCHW", "IOHW"),
     BuildConvTranspose<op::NnConv2dTranspose, 2>},
    {"nn.conv3d", "data, weight", CONV_ATTRIBUTES("[1, 1, 1]", "NCDHW", "OIDHW"), BuildConv<op::NnConv3d, 3>},
    {"nn.conv3d_transpose", "data, weight", CONV_TRANSPOSE_ATTRIBUTES("[1, 1, 1]", "NCDHW", "IODHW"),
     BuildConvTranspose<op::NnConv3dTranspose, 3>},
    {"nn.dense", "data, weight", "units=None, out_dtype=\"\"", BuildDense},
    {"nn.matmul", "tensor_a, tensor_b", "units=None, out_dtype=\"\", transpose_a=False, transpose_b=False",
     BuildMatmul},
};

#undef CONV_ATTRIBUTES
#undef CONV_TRANSPOSE_ATTRIBUTES

}  // namespace

std::span<const OperatorRow> ConvolutionOperators() { return kConvolution; }

}  // namespace iropt::relay
