// WinogradConv2D: computes convolutions of 3 x 3 by Winograd's algorithm, where that takes less time.
//
//   lv = R.nn.conv2d(x, w)    -->    v = R.call_tir(cls.winograd_input, (x,), out_sinfo=R.Tensor((6, 6, 196, 64)))
//                                    m = R.call_tir(cls.winograd_products, (v, u), out_sinfo=R.Tensor((6, 6, 196, 64)))
//                                    lv = R.call_tir(cls.winograd_output, (m,), out_sinfo=R.Tensor((1, 56, 56, 64)))
//
// Convolutions of float32 data in NHWC with constant weights in OHWI, with stride and dilation 1, in one group, of
// which all sizes are known. The weights are transformed in the pass. A cost for the target of the context decides,
// unless the option says the size of the tiles. Results differ by more than the order of sums does: what a tile adds up
// is greater than the results. Weights in files are read. O(nodes), and 36 operations for each element of the weights.
//
// Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016.
#include <algorithm>
#include <optional>

#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op_attrs.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "iropt/schedule/winograd.h"
#include "iropt/transform/options/WinogradConv2D.h"
#include "transform/relax/util/prim_func_calls.h"
#include "winograd_expressions.h"

namespace iropt {

namespace {

// The greatest constants that pipelines for CPUs make.
constexpr uint64_t kMostWeightBytes = uint64_t{1} << 26;

// The dimensions of a tensor with elements that memory can hold.
std::optional<std::vector<int64_t>> SizesOf(const TensorType* tensor) {
  if (!tensor || !tensor->known || tensor->ndim != 4) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const PrimExpr* dim : tensor->dims) {
    const int64_t* size = arith::AsInt(dim);
    if (!size || *size <= 0) return std::nullopt;
    sizes.push_back(*size);
  }
  return ArrayBytes(DataType::Float(32), sizes) ? std::optional(sizes) : std::nullopt;
}

bool HasLayoutsAndSteps(const ConvAttrs& attrs) {
  const auto all = [](const IntList& list, auto holds) {
    const std::vector<int64_t> values = list.vector();
    return std::ranges::all_of(values, holds);
  };
  const auto is_one = [](int64_t value) { return value == 1; };
  const bool has_layouts = attrs.data_layout() == "NHWC" && attrs.kernel_layout() == "OHWI" &&
                           (attrs.out_layout().empty() || attrs.out_layout() == "NHWC");
  return has_layouts && attrs.groups() == 1 && all(attrs.strides(), is_one) && all(attrs.dilation(), is_one) &&
         attrs.padding().size() == 4 && all(attrs.padding(), [](int64_t value) { return value >= 0; });
}

// A convolution that can be computed so.
struct Conv {
  const NDArray* weights;  // [O, 3, 3, C]
  WinogradGrid grid;
  int64_t in_channels, out_channels;
};

bool FitsMemory(const Conv& conv) {
  const int64_t points = (conv.grid.tile + 2) * (conv.grid.tile + 2);
  const int64_t weights[] = {points, conv.in_channels, conv.out_channels};
  const int64_t tiles[] = {points, conv.grid.batch, conv.grid.rows(), conv.grid.columns(),
                           std::max(conv.in_channels, conv.out_channels)};
  const auto weight_bytes = ArrayBytes(DataType::Float(32), weights);
  return weight_bytes && *weight_bytes <= kMostWeightBytes && ArrayBytes(DataType::Float(32), tiles);
}

// Nothing for other calls. The tiles are of the size, or if it is 0, of the one that costs least.
std::optional<Conv> ConvOf(LegalizeCall& call, int64_t tile, const TargetAttr* target) {
  if (!IsOp(call.call().op, op::kNnConv2d) || !HasLayoutsAndSteps(ConvAttrs(call.call()))) return std::nullopt;
  const auto data = SizesOf(As<TensorType>(call.arg(0)->type));
  const auto result = SizesOf(As<TensorType>(call.call().type));
  const Constant* weights = call.ConstantArg(1);
  if (!data || !result || !weights) return std::nullopt;
  const DataType float32 = DataType::Float(32);
  const std::span<const int64_t> kernel = weights->data->shape();
  const bool has_dtypes =
      call.TensorArg(0)->dtype == float32 && call.result()->dtype == float32 && weights->data->dtype() == float32;
  if (!has_dtypes || kernel[1] != 3 || kernel[2] != 3) return std::nullopt;
  const ConvAttrs attrs(call.call());
  Conv conv{.weights = weights->data,
            .grid = {.tile = tile,
                     .top = attrs.padding()[0],
                     .left = attrs.padding()[1],
                     .batch = (*result)[0],
                     .height = (*result)[1],
                     .width = (*result)[2]},
            .in_channels = (*data)[3],
            .out_channels = (*result)[3]};
  if (tile == 0) {
    conv.grid.tile = schedule::ChooseWinogradTile(
        {conv.grid.batch, conv.grid.height, conv.grid.width, conv.in_channels, conv.out_channels}, target);
  }
  return conv.grid.tile > 0 && FitsMemory(conv) ? std::optional(conv) : std::nullopt;
}

const Expr* TransformedWeights(const Conv& conv, Workspace& workspace) {
  const int64_t size = conv.grid.tile + 2;
  const auto result = NDArray::Make(DataType::Float(32), {size, size, conv.in_channels, conv.out_channels});
  TransformWinogradWeights(conv.weights->As<float>(), conv.out_channels, conv.in_channels, conv.grid.tile,
                           result->MutableAs<float>());
  return MakeConstant(result, workspace);
}

const Expr* ReplaceConv(LegalizeCall& call, int64_t tile, const TargetAttr* target) {
  const auto conv = ConvOf(call, tile, target);
  if (!conv || !AllowRewrite("winograd-conv2d", call.call())) return &call.call();
  // Elementwise operators are fused after the results. The transform of the data has its own loops over tiles.
  const auto pattern = [](OpPattern kind) { return IntAttr::Get(static_cast<int64_t>(kind)); };
  TeCall input(call, "winograd_input");
  input.SetAttr(attr::kOpPattern, pattern(OpPattern::kOpaque));
  const Expr* data = call.builder().Emit(input.Finish({WinogradInput(input.Arg(0), conv->grid)}));
  TeCall products(call, "winograd_products");
  const te::Tensor left = products.Input(data);
  const te::Tensor right = products.Input(TransformedWeights(*conv, call.builder().workspace()));
  const Expr* product = call.builder().Emit(products.Finish({WinogradProducts(left, right)}));
  TeCall output(call, "winograd_output");
  output.SetAttr(attr::kOpPattern, pattern(OpPattern::kOutEWiseFusable));
  return output.Finish({WinogradOutput(output.Input(product), conv->grid)});
}

}  // namespace

Pass CreateWinogradConv2D(const PassOptions& options) {
  const pass_options::WinogradConv2D given(options);
  const int64_t tile = *given.tile;
  if (tile != 0 && tile != 2 && tile != 4) options.Refuse(given.tile, "must be 0, 2 or 4");
  return CreateModulePass(options.info(), [tile](Module module, ModulePassContext& context) {
    const auto replace = [&](LegalizeCall& call) { return ReplaceConv(call, tile, context.context.target); };
    return ReplaceByPrimFuncs(std::move(module), replace, context.diagnostics);
  });
}

}  // namespace iropt
