// Legalization of convolutions and poolings.
#include "iropt/op/ops/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/pooling.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;

// ---- Convolutions

const Expr* LegalizeConv(LegalizeCall& call, std::string_view name) {
  const ConvAttrs attrs(call.call());
  const TensorType* data = call.TensorArg(0);
  const size_t ndim = static_cast<size_t>(data->ndim);
  if (attrs.out_layout() != attrs.data_layout()) return call.Unchanged("its result has another layout than its data");
  if (attrs.data_layout().size() != ndim || attrs.kernel_layout().size() != ndim)
    return call.Unchanged("axes of its layouts are split");
  TeCall te(call, name);
  const Tensor x = te.Arg(0);
  const Tensor w = te.Arg(1);
  const DataType out = attrs.out_dtype();
  return te.Finish({topi::Conv(
      x, w,
      {attrs.strides().vector(), attrs.padding().vector(), attrs.dilation().vector(), attrs.groups(),
       std::string(attrs.data_layout()), std::string(attrs.kernel_layout()), out.is_void() ? x.dtype() : out})});
}

const Expr* LegalizeConvTranspose(LegalizeCall& call, std::string_view name, std::string_view data_layout,
                                  std::string_view kernel_layout) {
  const ConvTransposeAttrs attrs(call.call());
  if (attrs.out_layout() != attrs.data_layout()) return call.Unchanged("its result has another layout than its data");
  if (attrs.data_layout() != data_layout || attrs.kernel_layout() != kernel_layout)
    return call.Unchanged(fmt::format("its layouts are not {} and {}", data_layout, kernel_layout));
  TeCall te(call, name);
  const Tensor x = te.Arg(0);
  const Tensor w = te.Arg(1);
  return te.Finish({topi::ConvTranspose(x, w,
                                        {attrs.strides().vector(),
                                         attrs.padding().vector(),
                                         attrs.dilation().vector(),
                                         attrs.groups(),
                                         {},
                                         {},
                                         call.result()->dtype},
                                        attrs.output_padding().vector())});
}

// ---- Poolings

topi::PoolOptions OptionsOf(const PoolAttrs& attrs, bool is_max) {
  return {is_max,
          attrs.pool_size().vector(),
          attrs.strides().vector(),
          attrs.dilation().vector(),
          attrs.padding().vector(),
          attrs.ceil_mode(),
          attrs.count_include_pad(),
          std::string(attrs.layout())};
}

const Expr* LegalizePool(LegalizeCall& call, std::string_view name, bool is_max) {
  const PoolAttrs attrs(call.call());
  if (attrs.out_layout() != attrs.layout()) return call.Unchanged("its result has another layout than its data");
  TeCall te(call, name);
  const Tensor x = te.Arg(0);
  return te.Finish({topi::Pool(x, te.Dims(call.result()->dims.span()), OptionsOf(attrs, is_max))});
}

const Expr* LegalizeAdaptivePool(LegalizeCall& call, std::string_view name, std::string_view axes) {
  const AdaptivePoolAttrs attrs(call.call());
  if (attrs.out_layout() != attrs.layout()) return call.Unchanged("its result has another layout than its data");
  TeCall te(call, name);
  const Tensor x = te.Arg(0);
  std::vector<Value> sizes;
  if (const auto given = attrs.output_size()) {
    for (const int64_t size : *given) sizes.emplace_back(size);
  } else {
    for (const char axis : axes) sizes.push_back(x.dim(attrs.layout().find(axis)));
  }
  return te.Finish({topi::AdaptiveAvgPool(x, sizes, attrs.layout())});
}

const Expr* LegalizePoolGrad(LegalizeCall& call, std::string_view name, bool is_max) {
  const PoolAttrs attrs(call.call());
  const std::vector<int64_t> dilation = attrs.dilation().vector();
  if (std::any_of(dilation.begin(), dilation.end(), [](int64_t d) { return d != 1; }))
    return call.Unchanged("it is dilated");
  TeCall te(call, name);
  const Tensor grad = te.Arg(0);
  return te.Finish({topi::PoolGrad(grad, te.Arg(1), OptionsOf(attrs, is_max))});
}

}  // namespace

const Expr* LegalizeNnConv1d(LegalizeCall& call) { return LegalizeConv(call, "conv1d"); }
const Expr* LegalizeNnConv2d(LegalizeCall& call) { return LegalizeConv(call, "conv2d"); }
const Expr* LegalizeNnConv3d(LegalizeCall& call) { return LegalizeConv(call, "conv3d"); }
const Expr* LegalizeNnConv1dTranspose(LegalizeCall& call) {
  return LegalizeConvTranspose(call, "conv1d_transpose", "NCW", "IOW");
}
const Expr* LegalizeNnConv2dTranspose(LegalizeCall& call) {
  return LegalizeConvTranspose(call, "conv2d_transpose", "NCHW", "IOHW");
}

const Expr* LegalizeNnConv3dTranspose(LegalizeCall& call) {
  return LegalizeConvTranspose(call, "conv3d_transpose", "NCDHW", "IODHW");
}

const Expr* LegalizeNnAvgPool1d(LegalizeCall& call) { return LegalizePool(call, "avg_pool1d", false); }
const Expr* LegalizeNnAvgPool2d(LegalizeCall& call) { return LegalizePool(call, "avg_pool2d", false); }
const Expr* LegalizeNnAvgPool3d(LegalizeCall& call) { return LegalizePool(call, "avg_pool3d", false); }
const Expr* LegalizeNnMaxPool1d(LegalizeCall& call) { return LegalizePool(call, "max_pool1d", true); }
const Expr* LegalizeNnMaxPool2d(LegalizeCall& call) { return LegalizePool(call, "max_pool2d", true); }
const Expr* LegalizeNnMaxPool3d(LegalizeCall& call) { return LegalizePool(call, "max_pool3d", true); }
const Expr* LegalizeNnAdaptiveAvgPool1d(LegalizeCall& call) {
  return LegalizeAdaptivePool(call, "adaptive_avg_pool1d", "W");
}
const Expr* LegalizeNnAdaptiveAvgPool2d(LegalizeCall& call) {
  return LegalizeAdaptivePool(call, "adaptive_avg_pool2d", "HW");
}
const Expr* LegalizeNnAdaptiveAvgPool3d(LegalizeCall& call) {
  return LegalizeAdaptivePool(call, "adaptive_avg_pool3d", "DHW");
}
const Expr* LegalizeGradAvgPool2dBackward(LegalizeCall& call) {
  return LegalizePoolGrad(call, "avg_pool2d_backward", false);
}
const Expr* LegalizeGradMaxPool2dBackward(LegalizeCall& call) {
  return LegalizePoolGrad(call, "max_pool2d_backward", true);
}

}  // namespace iropt::legalize
