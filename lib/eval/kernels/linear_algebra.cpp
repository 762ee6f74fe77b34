// Matrix products, and the normalizations over an axis that are built from elementwise operators and reductions.
#include "linear_algebra.h"

#include <algorithm>

#include "elementwise.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/softmax.h"
#include "matrix_product.h"
#include "reduce.h"

namespace iropt::eval {

namespace {

// Both operands as batches of matrices, and the shape of the result.
struct MatmulPlan {
  int64_t rows = 1;
  int64_t depth = 1;
  int64_t columns = 1;
  Shape batch;
  Shape a_batch;
  Shape b_batch;
  Shape out_shape;
};

Result<MatmulPlan> PlanMatmul(const KernelCall& call, std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.empty() || b.empty()) return call.Fail("a scalar has no matrix product");
  MatmulPlan plan;
  plan.depth = a.back();
  plan.rows = a.size() > 1 ? a[a.size() - 2] : 1;
  plan.columns = b.size() > 1 ? b.back() : 1;
  if (plan.depth != (b.size() > 1 ? b[b.size() - 2] : b[0])) {
    return call.Fail(fmt::format("shapes {} and {} have no product", ShapeText(a), ShapeText(b)));
  }
  plan.a_batch.assign(a.begin(), a.end() - std::min<int64_t>(2, std::ssize(a)));
  plan.b_batch.assign(b.begin(), b.end() - std::min<int64_t>(2, std::ssize(b)));
  IROPT_ASSIGN_OR_RETURN(plan.batch, BroadcastShapes(call, plan.a_batch, plan.b_batch));
  plan.out_shape = plan.batch;
  if (a.size() > 1) plan.out_shape.push_back(plan.rows);
  if (b.size() > 1) plan.out_shape.push_back(plan.columns);
  return plan;
}

template <class T>
void MultiplyBatches(const MatmulPlan& plan, const NDArray& a, const NDArray& b, NDArray& out) {
  const Shape a_strides = BroadcastStrides(plan.a_batch, plan.batch);
  const Shape b_strides = BroadcastStrides(plan.b_batch, plan.batch);
  LoopNest<2> nest;
  for (size_t d = 0; d < plan.batch.size(); ++d) {
    nest.AddDim(plan.batch[d], {a_strides[d] * plan.rows * plan.depth, b_strides[d] * plan.depth * plan.columns});
  }
  T* place = out.MutableAs<T>().data();
  nest.ForEach({}, [&](const LoopNest<2>::Offsets& at) {
    Multiply(MatrixProduct<T>{.rows = plan.rows,
                              .depth = plan.depth,
                              .columns = plan.columns,
                              .a = a.As<T>().data() + at[0],
                              .a_stride = plan.depth,
                              .b = b.As<T>().data() + at[1],
                              .b_stride = plan.columns,
                              .c = place,
                              .c_stride = plan.columns});
    place += plan.rows * plan.columns;
  });
}

}  // namespace

Result<Tensor> Matmul(KernelCall& call, Tensor a, Tensor b, DataType dtype) {
  if (dtype.is_bool()) return call.UnsupportedDType(dtype);
  IROPT_ASSIGN_OR_RETURN(const MatmulPlan plan, PlanMatmul(call, a->shape(), b->shape()));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, plan.out_shape));
  uint64_t work;
  if (__builtin_mul_overflow(static_cast<uint64_t>(out->num_elements()), static_cast<uint64_t>(plan.depth), &work))
    work = UINT64_MAX;
  IROPT_RETURN_IF_ERROR(call.Charge(work));
  IROPT_ASSIGN_OR_RETURN(a, CastTensor(call, a, dtype));
  IROPT_ASSIGN_OR_RETURN(b, CastTensor(call, b, dtype));
  DispatchNumber(dtype, [&]<class T>(std::type_identity<T>) { MultiplyBatches<T>(plan, *a, *b, *out); });
  return Tensor(out);
}

Result<HostValue> EvalMatmul(KernelCall& call) {
  const auto attrs = call.attrs<MatmulAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor a, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor b, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(Tensor result, Matmul(call, a, b, DTypeOr(attrs.out_dtype(), a->dtype())));
  return HostValue(std::move(result));
}

namespace {

struct SoftmaxParts {
  Shape axes;
  Tensor shifted;  // x - max(x), so that the exponentials stay in range
  Tensor exps;
  Tensor sums;
};

Result<SoftmaxParts> ComputeSoftmaxParts(KernelCall& call, const Tensor& x, int64_t axis) {
  if (x->num_elements() == 0) return SoftmaxParts{{axis}, x, x, x};
  SoftmaxParts parts;
  parts.axes = {axis};
  IROPT_ASSIGN_OR_RETURN(const Tensor highest, Reduce(call, ReduceOp::kMax, x, parts.axes, /*keepdims=*/true));
  IROPT_ASSIGN_OR_RETURN(parts.shifted, MapBinary(call, kSubtract, x, highest));
  IROPT_ASSIGN_OR_RETURN(parts.exps, MapUnary(call, kExp, parts.shifted));
  IROPT_ASSIGN_OR_RETURN(parts.sums, Reduce(call, ReduceOp::kSum, parts.exps, parts.axes, /*keepdims=*/true));
  return parts;
}

Result<SoftmaxParts> ComputeSoftmaxParts(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const int64_t given = call.attrs<SoftmaxAttrs>().axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  return ComputeSoftmaxParts(call, x, axis);
}

}  // namespace

Result<Tensor> Softmax(KernelCall& call, const Tensor& x, int64_t axis) {
  IROPT_ASSIGN_OR_RETURN(const SoftmaxParts parts, ComputeSoftmaxParts(call, x, axis));
  return MapBinary(call, kDivide, parts.exps, parts.sums);
}

Result<HostValue> EvalSoftmax(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const SoftmaxParts parts, ComputeSoftmaxParts(call));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapBinary(call, kDivide, parts.exps, parts.sums));
  return HostValue(std::move(result));
}

Result<HostValue> EvalLogSoftmax(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const SoftmaxParts parts, ComputeSoftmaxParts(call));
  IROPT_ASSIGN_OR_RETURN(const Tensor logs, MapUnary(call, kLog, parts.sums));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapBinary(call, kSubtract, parts.shifted, logs));
  return HostValue(std::move(result));
}

Result<HostValue> EvalOuter(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor a, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor b, call.TensorArg(1));
  if (a->shape().size() != 1 || b->shape().size() != 1) return call.Fail("expects two vectors");
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapBinary(call, kMultiply, Reshaped(a, {a->num_elements(), 1}), b));
  return HostValue(std::move(result));
}

}  // namespace iropt::eval
