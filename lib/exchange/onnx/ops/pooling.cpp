// Pools with windows, and over all of the image.

#include "iropt/op/ops/pooling.h"

#include <array>

#include "exchange/onnx/ops/common.h"
#include "iropt/op/ops/reduction.h"

namespace iropt::onnx {

namespace {

struct PoolForm {
  OpId max;
  OpId average;
};

constexpr std::array kPoolForms = {
    PoolForm{op::kNnMaxPool1d, op::kNnAvgPool1d},
    PoolForm{op::kNnMaxPool2d, op::kNnAvgPool2d},
    PoolForm{op::kNnMaxPool3d, op::kNnAvgPool3d},
};

Value ImportPool(OpImport& op, OpId PoolForm::*member) {
  const int spatial = op.Rank(0) - 2;
  const std::vector<int64_t> kernel = op.Ints("kernel_shape");
  if (spatial < 1 || spatial > 3 || op.HasOutput(1)) return {};
  if (kernel.size() != static_cast<size_t>(spatial))
    return op.Error(fmt::format("attribute 'kernel_shape' has {} numbers: expected {}", kernel.size(), spatial));
  std::optional<std::vector<int64_t>> sizes = op.Dims(0);
  if (sizes) sizes->erase(sizes->begin(), sizes->begin() + 2);
  const std::optional<Window> window = WindowOf(op, kernel, sizes);
  if (!window) return {};
  const OpId pool = kPoolForms[static_cast<size_t>(spatial - 1)].*member;
  return op.Call(pool, {op.In(0)},
                 op.Attrs<PoolAttrs>(pool, {.pool_size = window->kernel,
                                            .strides = window->strides,
                                            .dilation = window->dilations,
                                            .padding = window->pads,
                                            .ceil_mode = op.Int("ceil_mode") != 0,
                                            .count_include_pad = op.Int("count_include_pad") != 0}));
}

Value ImportMaxPool(OpImport& op) { return ImportPool(op, &PoolForm::max); }
Value ImportAveragePool(OpImport& op) { return ImportPool(op, &PoolForm::average); }

Value ImportGlobal(OpImport& op, OpId reduction) {
  if (op.Rank(0) < 3) return {};
  return Reduce(op, reduction, op.In(0), Iota(2, op.Rank(0)), true);
}

Value ImportGlobalAveragePool(OpImport& op) { return ImportGlobal(op, op::kMean); }
Value ImportGlobalMaxPool(OpImport& op) { return ImportGlobal(op, op::kMax); }

constexpr OpRow kPoolingRows[] = {
    {"AveragePool", 1, 1, 1, ImportAveragePool, "R.nn.avg_pool1d, R.nn.avg_pool2d, R.nn.avg_pool3d"},
    {"GlobalAveragePool", 1, 1, 1, ImportGlobalAveragePool, "R.mean"},
    {"GlobalMaxPool", 1, 1, 1, ImportGlobalMaxPool, "R.max"},
    {"MaxPool", 1, 1, 1, ImportMaxPool, "R.nn.max_pool1d, R.nn.max_pool2d, R.nn.max_pool3d"},
};

}  // namespace

std::span<const OpRow> PoolingRows() { return kPoolingRows; }

}  // namespace iropt::onnx
