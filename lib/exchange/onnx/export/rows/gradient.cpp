// Gradients of indexing and of the negated logarithm of probabilities.

#include <algorithm>
#include <numeric>
#include <utility>

#include "exchange/onnx/export/op_rows.h"
#include "iropt/op/ops/grad.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/slice.h"

namespace iropt::onnx {

namespace {

constexpr DataType kLong = DataType::Int(64);

// A constant of rank 1.
std::string_view Vector(OpExport& op, std::shared_ptr<const NDArray> array, std::string_view name) {
  return op.exporter().context().Initializer(std::move(array), name);
}

// Zeros with each slice of the gradient added where it was taken from.
Names ExportTakeBackward(OpExport& op) {
  const TensorType* type = op.TypeOf(1);
  if (type == nullptr || !type->known || op.Rank(2) != 1 || op.Rank(0) != type->ndim)
    return op.Lacks("its shape is not known, or its indices are not a vector");
  const auto given = op.Attrs<TakeAttrs>().axis();
  const int64_t rank = given ? type->ndim : 1;
  const int64_t axis = given ? *given + (*given < 0 ? rank : 0) : 0;
  if (axis < 0 || axis >= rank) return op.Lacks("its axis is out of range");
  std::vector<const PrimExpr*> dims(type->dims.begin(), type->dims.end());
  std::vector<int64_t> front(static_cast<size_t>(rank));
  std::iota(front.begin(), front.end(), 0);
  std::rotate(front.begin(), front.begin() + axis, front.begin() + axis + 1);
  if (given)
    std::ranges::transform(front, dims.begin(), [&](int64_t i) { return type->dims[static_cast<uint32_t>(i)]; });
  const std::string_view shape = op.exporter().dims().ShapeTensor(dims);
  std::string_view zeros = op.Add("Expand", {op.Scalar(0, type->dtype), shape});
  std::string_view grad = op.In(0);
  if (!given) {
    zeros = op.Reshape(zeros, {-1});
    grad = op.Reshape(grad, {-1});
  } else if (axis != 0) {
    grad = op.Transpose(grad, front);
  }
  const std::string_view rows = op.Unsqueeze(op.Cast(op.In(2), op.Dtype(2), kLong), {1});
  std::string_view sum = op.Add("ScatterND", {zeros, rows, grad}, {TextAttribute("reduction", "add")});
  if (!given) return {op.Add("Reshape", {sum, shape})};
  std::vector<int64_t> back(front.size());
  for (size_t i = 0; i < front.size(); ++i) back[static_cast<size_t>(front[i])] = static_cast<int64_t>(i);
  return {axis == 0 ? sum : op.Transpose(sum, back)};
}

// Where the class of a prediction is the target, the negated weight of the class times the gradient.
Names ExportNllLossBackward(OpExport& op) {
  const auto attrs = op.Attrs<NLLLossAttrs>();
  const TensorType* type = op.TypeOf(1);
  const uint32_t axis = type && type->ndim == 1 ? 0 : 1;
  const auto* classes = type && type->known ? As<tir::IntImm>(type->dims[axis]) : nullptr;
  if (classes == nullptr) return op.Lacks("the number of its classes is not known");
  const auto count = classes->value;
  const DataType dtype = type->dtype;
  std::vector<int64_t> along(type->dims.size() - axis, 1);
  along[0] = count;
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::string_view targets = op.Unsqueeze(op.Cast(op.In(2), op.Dtype(2), kLong), {axis});
  const std::string_view is_class = op.Add("Equal", {targets, op.Reshape(op.Ints(numbers), along)});
  const std::string_view zero = op.Scalar(0, dtype);
  std::string_view weights = op.num_args() > 3 ? op.Reshape(op.In(3), along) : op.Scalar(1, dtype);
  if (attrs.ignore_index() >= 0 && attrs.ignore_index() < count) {
    auto counted = NDArray::Make(DataType::Bool(), {count});
    const std::span<uint8_t> flags(reinterpret_cast<uint8_t*>(counted->mutable_data()), static_cast<size_t>(count));
    std::ranges::fill(flags, uint8_t{1});
    flags[static_cast<size_t>(attrs.ignore_index())] = 0;
    weights = op.Add("Where", {op.Reshape(Vector(op, std::move(counted), "counted"), along), weights, zero});
  }
  std::string_view grad = op.In(0);
  if (attrs.reduction() == "none") grad = op.Unsqueeze(grad, {axis});
  if (attrs.reduction() == "mean") {
    std::vector<int64_t> all(type->dims.size());
    std::iota(all.begin(), all.end(), 0);
    grad = op.Add("Div", {grad, op.Reduce("ReduceSum", op.Add("Where", {is_class, weights, zero}), all, false)});
  }
  const std::string_view product = op.Add("Mul", {op.Add("Neg", {weights}), grad});
  return {op.Add("Where", {is_class, product, zero})};
}

constexpr ExportRow kGradientExports[] = {
    {op::kGradNllLossBackward, "", 9, ExportNllLossBackward},  // Equal, Where, Mul
    {op::kGradTakeBackward, "ScatterND", 16, ExportTakeBackward},
};

}  // namespace

std::span<const ExportRow> GradientExports() { return kGradientExports; }

}  // namespace iropt::onnx
