// Losses, and the gradients of operators that select elements by index.
#include "iropt/op/ops/loss.h"

#include <algorithm>
#include <numeric>

#include "elementwise.h"
#include "iropt/op/ops/slice.h"
#include "numeric.h"
#include "reduce.h"

namespace iropt::eval {

namespace {

Result<Tensor> SumAll(KernelCall& call, const Tensor& x) {
  Shape axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  return Reduce(call, ReduceOp::kSum, x, axes, /*keepdims=*/false);
}

}  // namespace

// The negated sum of the products, divided by the length of the batch if there is one.
Result<HostValue> EvalCrossEntropyWithLogits(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor predictions, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor labels, call.TensorArg(1));
  if (ShapeOf(*predictions) != ShapeOf(*labels)) return call.Fail("predictions and labels differ in shape");
  if (!predictions->dtype().is_floating()) return call.UnsupportedDType(predictions->dtype());
  IROPT_ASSIGN_OR_RETURN(const Tensor products, MapBinary(call, kMultiply, predictions, labels));
  IROPT_ASSIGN_OR_RETURN(const Tensor sum, SumAll(call, products));
  IROPT_ASSIGN_OR_RETURN(Tensor loss, MapUnary(call, kNegative, sum));
  if (predictions->shape().size() > 1) {
    const Tensor batch = MakeScalarTensor(Scalar::Int(predictions->shape()[0]));
    IROPT_ASSIGN_OR_RETURN(const Tensor count, CastTensor(call, batch, loss->dtype()));
    IROPT_ASSIGN_OR_RETURN(loss, MapBinary(call, kDivide, loss, count));
  }
  return HostValue(std::move(loss));
}

namespace {

// Predictions (C,) or (N, C, ...), a target class for each of their positions except the class axis, and a weight per
// class (surplus weights are ignored).
struct Nll {
  Tensor predictions;
  Tensor targets;
  Tensor weights;
  std::vector<int64_t> classes;  // of the targets
  int64_t num_classes = 0;
  int64_t inner = 1;  // the product of the dimensions after the classes
  int64_t ignored = -100;
  std::string_view reduction;

  // The position of the prediction for target i of class c.
  size_t Place(size_t i, int64_t c) const {
    const int64_t at = static_cast<int64_t>(i);
    return static_cast<size_t>((at / inner * num_classes + c) * inner + at % inner);
  }
};

Result<Nll> ReadNll(KernelCall& call, size_t first) {
  Nll nll;
  IROPT_ASSIGN_OR_RETURN(nll.predictions, call.TensorArg(first));
  IROPT_ASSIGN_OR_RETURN(nll.targets, call.TensorArg(first + 1));
  const DataType dtype = nll.predictions->dtype();
  if (!dtype.is_floating()) return call.UnsupportedDType(dtype);
  const std::span<const int64_t> shape = nll.predictions->shape();
  if (shape.empty()) return call.Fail("the predictions are a scalar");
  const size_t axis = shape.size() > 1 ? 1 : 0;
  nll.num_classes = shape[axis];
  Shape expected(shape.begin(), shape.end());
  expected.erase(expected.begin() + static_cast<int64_t>(axis));
  if (ShapeOf(*nll.targets) != expected) return call.Fail("the targets do not fit the predictions");
  for (size_t d = axis + 1; d < shape.size(); ++d) nll.inner *= shape[d];
  const auto attrs = call.attrs<NLLLossAttrs>();
  nll.ignored = attrs.ignore_index();
  IROPT_ASSIGN_OR_RETURN(nll.classes, IntElements(call, *nll.targets));
  nll.reduction = attrs.reduction();
  if (nll.reduction != "mean" && nll.reduction != "sum" && nll.reduction != "none")
    return call.Fail(fmt::format("the reduction '{}' is not supported", nll.reduction));
  if (call.num_args() > first + 2) {
    IROPT_ASSIGN_OR_RETURN(nll.weights, call.TensorArg(first + 2));
    if (nll.weights->dtype() != dtype || nll.weights->shape().size() != 1 || nll.weights->shape()[0] < nll.num_classes)
      return call.Fail("the weights do not fit the predictions");
  }
  const auto fits = [&](int64_t c) { return c == nll.ignored || (c >= 0 && c < nll.num_classes); };
  if (!std::ranges::all_of(nll.classes, fits)) return call.Fail("a target is out of range");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(nll.predictions->num_elements()) * 2));
  return nll;
}

// The weight of each target, 0 for those that are ignored.
template <class T>
void FillWeights(const Nll& nll, std::span<T> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t c = nll.classes[i];
    if (c == nll.ignored) {
      out[i] = ElementOf<T>(0);
    } else {
      out[i] = nll.weights ? nll.weights->As<T>()[static_cast<size_t>(c)] : ElementOf<T>(1);
    }
  }
}

Result<Tensor> TargetWeights(KernelCall& call, const Nll& nll) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out,
                         call.Allocate(nll.predictions->dtype(), ShapeOf(*nll.targets)));
  DispatchFloat(out->dtype(), [&]<class T>(std::type_identity<T>) { FillWeights(nll, out->MutableAs<T>()); });
  return Tensor(out);
}

}  // namespace

// For each target, the negated prediction for its class times the weight of the class.
Result<HostValue> EvalNllLoss(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Nll nll, ReadNll(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor weights, TargetWeights(call, nll));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> losses, call.Allocate(weights->dtype(), ShapeOf(*nll.targets)));
  DispatchFloat(losses->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<T> out = losses->MutableAs<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      if (nll.classes[i] == nll.ignored) continue;
      const T prediction = nll.predictions->As<T>()[nll.Place(i, nll.classes[i])];
      out[i] = MulElements(NegateElement(prediction), weights->As<T>()[i]);
    }
  });
  if (nll.reduction == "none") return HostValue(Tensor(losses));
  IROPT_ASSIGN_OR_RETURN(Tensor total, SumAll(call, losses));
  if (nll.reduction == "mean") {
    IROPT_ASSIGN_OR_RETURN(const Tensor weight, SumAll(call, weights));
    IROPT_ASSIGN_OR_RETURN(total, MapBinary(call, kDivide, total, weight));
  }
  return HostValue(std::move(total));
}

Result<HostValue> EvalNllLossBackward(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(Tensor grad, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Nll nll, ReadNll(call, 1));
  if (grad->dtype() != nll.predictions->dtype()) return call.Fail("the gradient differs in dtype");
  IROPT_ASSIGN_OR_RETURN(const Tensor weights, TargetWeights(call, nll));
  if (nll.reduction == "mean") {
    IROPT_ASSIGN_OR_RETURN(const Tensor total, SumAll(call, weights));
    IROPT_ASSIGN_OR_RETURN(grad, MapBinary(call, kDivide, grad, total));
  }
  const bool is_one = nll.reduction != "none";
  if (is_one ? grad->num_elements() != 1 : ShapeOf(*grad) != ShapeOf(*nll.targets))
    return call.Fail("the gradient does not fit the loss");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(grad->dtype(), ShapeOf(*nll.predictions)));
  DispatchFloat(out->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> gradients = grad->As<T>();
    for (size_t i = 0; i < nll.classes.size(); ++i) {
      // Ignored targets have the weight 0. If all are ignored, the gradient is divided by 0, as in TVM.
      if (nll.classes[i] < 0 || nll.classes[i] >= nll.num_classes) continue;
      const T weight = NegateElement(weights->As<T>()[i]);
      out->MutableAs<T>()[nll.Place(i, nll.classes[i])] = MulElements(weight, gradients[is_one ? 0 : i]);
    }
  });
  return HostValue(Tensor(out));
}

// Adds each slice of the gradient to the slice that it was taken from.
Result<HostValue> EvalTakeBackward(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor grad, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, call.TensorArg(2));
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, IntElements(call, *indices));
  Shape shape = ShapeOf(*x);
  int64_t axis = 0;
  if (const auto given = call.attrs<TakeAttrs>().axis()) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, *given, shape.size()));
  } else {
    shape = {x->num_elements()};
  }
  const size_t at = static_cast<size_t>(axis);
  const int64_t length = shape[at];
  if (std::ranges::any_of(rows, [&](int64_t row) { return row < 0 || row >= length; }))
    return call.Fail("an index is out of range");
  Shape expected = shape;
  expected[at] = static_cast<int64_t>(rows.size());
  const int64_t elements = std::accumulate(expected.begin(), expected.end(), int64_t{1}, WrapMul<int64_t>);
  if (indices->shape().size() != 1 || grad->num_elements() != elements || grad->dtype() != x->dtype())
    return call.Fail("the gradient does not fit the indices");
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(elements) + static_cast<uint64_t>(x->num_elements())));
  const int64_t inner = RowMajorStrides(shape)[at];
  const bool supported = DispatchNumber(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* from = grad->As<T>().data();
    const std::span<T> to = out->MutableAs<T>();
    for (int64_t i = 0; i < elements; ++i) {
      const int64_t slice = i / inner;
      const int64_t outer = slice / static_cast<int64_t>(rows.size());
      const int64_t row = rows[static_cast<size_t>(slice) % rows.size()];
      T& place = to[static_cast<size_t>((outer * length + row) * inner + i % inner)];
      place = AddElements(place, from[i]);
    }
  });
  if (!supported) return call.UnsupportedDType(x->dtype());
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
