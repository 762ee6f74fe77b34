#include "exchange/onnx/ops/common.h"

#include <algorithm>

#include "iropt/ir/context.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/normalization.h"
#include "iropt/op/ops/reduction.h"

namespace iropt::onnx {

const Expr* Add(OpImport& op, const Expr* a, const Expr* b) { return op.Call(op::kAdd, {a, b}); }
const Expr* Subtract(OpImport& op, const Expr* a, const Expr* b) { return op.Call(op::kSubtract, {a, b}); }
const Expr* Multiply(OpImport& op, const Expr* a, const Expr* b) { return op.Call(op::kMultiply, {a, b}); }
const Expr* Divide(OpImport& op, const Expr* a, const Expr* b) { return op.Call(op::kDivide, {a, b}); }
const Expr* Scaled(OpImport& op, const Expr* x, double factor) {
  return factor == 1 ? x : Multiply(op, x, ScalarLike(op, x, factor));
}
const Expr* Where(OpImport& op, const Expr* condition, const Expr* a, const Expr* b) {
  return op.Call(op::kWhere, {condition, a, b});
}

const Expr* ExpandDims(OpImport& op, const Expr* x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  return op.Call(op::kExpandDims, {x}, OpImport::Attrs<ExpandDimsAttrs>(op::kExpandDims, {.axis = axes}));
}

const Expr* Reduce(OpImport& op, OpId reduction, const Expr* x, const std::vector<int64_t>& axes, bool keepdims) {
  return op.Call(reduction, {x}, OpImport::Attrs<StatisticalAttrs>(reduction, {.axis = axes, .keepdims = keepdims}));
}

const PrimExpr* DimOf(const TensorType* type, size_t axis) {
  if (type == nullptr || !type->known || axis >= type->dims.size()) return nullptr;
  return type->dims[static_cast<uint32_t>(axis)];
}

const Expr* AlongAxis(OpImport& op, const Expr* x, int64_t axis, int rank) {
  std::vector<int64_t> axes = Iota(0, axis);
  for (int64_t i = axis + 1; i < rank; ++i) axes.push_back(i);
  const auto* constant = As<Constant>(x);
  if (constant == nullptr) return ExpandDims(op, x, axes);
  // A view of the same bytes.
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = constant->data->num_elements();
  const auto array = constant->data->shared_from_this();
  auto* view =
      const_cast<Constant*>(To<Constant>(op.Constant(NDArray::View(array->dtype(), dims, array->data(), array))));
  view->set_span(constant->span());
  return view;
}

bool CheckNumbers(OpImport& op, std::string_view name, std::span<const int64_t> numbers, size_t count, int64_t least) {
  const auto fits = [&](int64_t number) { return number >= least && number <= INT32_MAX; };
  if (numbers.size() == count && std::ranges::all_of(numbers, fits)) return true;
  op.Error(fmt::format("attribute '{}' is [{}]: expected {} numbers from {} to {}", name, fmt::join(numbers, ", "),
                       count, least, INT32_MAX));
  return false;
}

const Expr* GroupNorm(OpImport& op, const Expr* scale, const Expr* bias) {
  const double epsilon = op.Float("epsilon", static_cast<double>(1e-5F));
  return op.Call(op::kNnGroupNorm, {op.In(0), scale, bias},
                 op.Attrs<GroupNormAttrs>(op::kNnGroupNorm, {.num_groups = op.Int("num_groups", 1),
                                                             .channel_axis = int64_t{1},
                                                             .axes = Iota(2, op.Rank(0)),
                                                             .epsilon = epsilon}));
}

namespace {

void FillDefaults(std::vector<int64_t>& values, size_t count, int64_t fallback) {
  if (values.empty()) values.assign(count, fallback);
}

bool CheckWindow(OpImport& op, const Window& window) {
  const size_t rank = window.kernel.size();
  return CheckNumbers(op, "kernel_shape", window.kernel, rank, 0) &&
         CheckNumbers(op, "strides", window.strides, rank, 1) &&
         CheckNumbers(op, "dilations", window.dilations, rank, 1) &&
         CheckNumbers(op, "pads", window.pads, 2 * rank, INT32_MIN);
}

}  // namespace

std::optional<Window> WindowOf(OpImport& op, std::vector<int64_t> kernel,
                               const std::optional<std::vector<int64_t>>& sizes) {
  const size_t rank = kernel.size();
  Window window{std::move(kernel), op.Ints("strides"), op.Ints("dilations"), op.Ints("pads")};
  FillDefaults(window.strides, rank, 1);
  FillDefaults(window.dilations, rank, 1);
  const std::string_view auto_pad = op.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (same || auto_pad == "VALID") window.pads.clear();
  FillDefaults(window.pads, 2 * rank, 0);
  if (!CheckWindow(op, window)) return std::nullopt;
  if (!same) return window;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    // With strides of 1 the padding does not depend on the size.
    if (!sizes && window.strides[i] != 1) return std::nullopt;
    const int64_t size = sizes ? (*sizes)[i] : window.strides[i];
    // What the last window has beyond its first element, less what the data has there.
    const int64_t rest = size == 0 ? window.strides[i] : (size - 1) % window.strides[i] + 1;
    const int64_t total = std::max<int64_t>(0, extent - rest);
    const int64_t total_or_extent = sizes ? total : extent - 1;
    const int64_t small = total_or_extent / 2;
    window.pads[i] = auto_pad == "SAME_UPPER" ? small : total_or_extent - small;
    window.pads[rank + i] = total_or_extent - window.pads[i];
  }
  return window;
}

}  // namespace iropt::onnx
