#include "reduce.h"

#include <algorithm>
#include <numeric>

#include "elementwise.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/scan.h"
#include "numeric.h"

namespace iropt::eval {

namespace {

// The two loops of a reduction: over the elements of the result, and over the elements combined into each. Offsets
// count in elements of the operand.
struct ReduceLoops {
  Shape out_shape;
  LoopNest<1> kept;
  LoopNest<1> reduced;
  int64_t count = 1;  // of the elements combined into one
};

ReduceLoops PlanReduce(const NDArray& x, std::span<const int64_t> axes, bool keepdims) {
  ReduceLoops loops;
  const Shape strides = RowMajorStrides(x.shape());
  for (size_t d = 0; d < strides.size(); ++d) {
    const bool reduce = std::ranges::find(axes, static_cast<int64_t>(d)) != axes.end();
    const int64_t dim = x.shape()[d];
    (reduce ? loops.reduced : loops.kept).AddDim(dim, {strides[d]});
    if (reduce) loops.count *= dim;
    if (!reduce || keepdims) loops.out_shape.push_back(reduce ? 1 : dim);
  }
  return loops;
}

template <class M>
M Combine(ReduceOp op, M a, M b) {
  switch (op) {
    case ReduceOp::kSum: return WrapAdd(a, b);
    case ReduceOp::kProd: return WrapMul(a, b);
    case ReduceOp::kMax: return MaxOf(a, b);
    case ReduceOp::kMin: return MinOf(a, b);
  }
  IROPT_UNREACHABLE("reduction {}", static_cast<int>(op));
}

template <ReduceOp kOp, class T>
void RunReduce(const ReduceLoops& loops, const T* x, T* out) {
  loops.kept.ForEach({0}, [&](LoopNest<1>::Offsets base) {
    T total = Element<T>::Store(static_cast<MathOf<T>>(kOp == ReduceOp::kProd ? 1 : 0));
    bool first = kOp == ReduceOp::kMax || kOp == ReduceOp::kMin;
    loops.reduced.ForEachRow(base, [&](LoopNest<1>::Offsets at, int64_t n, LoopNest<1>::Offsets stride) {
      for (int64_t i = 0; i < n; ++i) {
        const T value = x[at[0] + i * stride[0]];
        total = first ? value : Element<T>::Store(Combine(kOp, Element<T>::Load(total), Element<T>::Load(value)));
        first = false;
      }
    });
    *out++ = total;
  });
}

template <class T>
void DispatchReduce(ReduceOp op, const ReduceLoops& loops, const T* x, T* out) {
  switch (op) {
    case ReduceOp::kSum: return RunReduce<ReduceOp::kSum>(loops, x, out);
    case ReduceOp::kProd: return RunReduce<ReduceOp::kProd>(loops, x, out);
    case ReduceOp::kMax: return RunReduce<ReduceOp::kMax>(loops, x, out);
    case ReduceOp::kMin: return RunReduce<ReduceOp::kMin>(loops, x, out);
  }
}

}  // namespace

Result<Tensor> Reduce(KernelCall& call, ReduceOp op, const Tensor& x, std::span<const int64_t> axes, bool keepdims) {
  const ReduceLoops loops = PlanReduce(*x, axes, keepdims);
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), loops.out_shape));
  const bool has_identity = op == ReduceOp::kSum || op == ReduceOp::kProd;
  if (!has_identity && loops.count == 0 && out->num_elements() != 0) return call.Fail("an empty tensor has no extreme");
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      // On bytes 0 and 1: any of them, the sum, is the maximum.
      const ReduceOp of_bytes = op == ReduceOp::kSum ? ReduceOp::kMax : op;
      DispatchReduce(of_bytes, loops, x->As<uint8_t>().data(), out->MutableAs<uint8_t>().data());
    } else {
      DispatchReduce(op, loops, x->As<T>().data(), out->MutableAs<T>().data());
    }
  });
  return Tensor(out);
}

Result<Tensor> Mean(KernelCall& call, const Tensor& x, std::span<const int64_t> axes, bool keepdims) {
  const DataType dtype = x->dtype();
  if (dtype.is_bool()) return call.UnsupportedDType(dtype);
  // Neither the sum nor the number of integers wraps around in the format of the elements.
  const DataType wide = dtype.is_integer() && dtype.bits < 64 ? DataType::Int(64) : dtype;
  IROPT_ASSIGN_OR_RETURN(const Tensor elements, CastTensor(call, x, wide));
  IROPT_ASSIGN_OR_RETURN(const Tensor sum, Reduce(call, ReduceOp::kSum, elements, axes, keepdims));
  int64_t count = 1;
  for (const int64_t axis : axes) count *= x->shape()[static_cast<size_t>(axis)];
  IROPT_ASSIGN_OR_RETURN(const Tensor divisor, CastTensor(call, MakeScalarTensor(Scalar::Int(count)), wide));
  IROPT_ASSIGN_OR_RETURN(const Tensor mean, MapBinary(call, kDivide, sum, divisor));
  return CastTensor(call, mean, dtype);
}

namespace {

struct ReduceArgs {
  Tensor x;
  Shape axes;
  bool keepdims = false;
};

// The operand, and the attributes `axis` (a list; absent: every axis) and `keepdims`.
Result<ReduceArgs> ReadReduceArgs(const KernelCall& call) {
  const auto attrs = call.attrs<StatisticalAttrs>();
  ReduceArgs args;
  IROPT_ASSIGN_OR_RETURN(args.x, call.TensorArg(0));
  const size_t rank = args.x->shape().size();
  if (const auto listed = attrs.axis()) {
    IROPT_ASSIGN_OR_RETURN(args.axes, NormalizeAxes(call, listed->vector(), rank));
  } else {
    args.axes.resize(rank);
    std::iota(args.axes.begin(), args.axes.end(), 0);
  }
  const auto keepdims = attrs.keepdims();
  args.keepdims = keepdims != 0;
  return args;
}

Result<HostValue> EvalReduce(KernelCall& call, ReduceOp op) {
  IROPT_ASSIGN_OR_RETURN(const ReduceArgs args, ReadReduceArgs(call));
  IROPT_ASSIGN_OR_RETURN(Tensor result, Reduce(call, op, args.x, args.axes, args.keepdims));
  return HostValue(std::move(result));
}

// The mean of the squared distances from the mean.
Result<Tensor> Variance(KernelCall& call, const ReduceArgs& args) {
  IROPT_ASSIGN_OR_RETURN(const Tensor mean, Mean(call, args.x, args.axes, /*keepdims=*/true));
  IROPT_ASSIGN_OR_RETURN(const Tensor distance, MapBinary(call, kSubtract, args.x, mean));
  IROPT_ASSIGN_OR_RETURN(const Tensor square, MapUnary(call, kSquare, distance));
  return Mean(call, square, args.axes, args.keepdims);
}

}  // namespace

Result<HostValue> EvalSum(KernelCall& call) { return EvalReduce(call, ReduceOp::kSum); }
Result<HostValue> EvalProd(KernelCall& call) { return EvalReduce(call, ReduceOp::kProd); }
Result<HostValue> EvalMax(KernelCall& call) { return EvalReduce(call, ReduceOp::kMax); }
Result<HostValue> EvalMin(KernelCall& call) { return EvalReduce(call, ReduceOp::kMin); }

Result<HostValue> EvalMean(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ReduceArgs args, ReadReduceArgs(call));
  IROPT_ASSIGN_OR_RETURN(Tensor result, Mean(call, args.x, args.axes, args.keepdims));
  return HostValue(std::move(result));
}

Result<HostValue> EvalVariance(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ReduceArgs args, ReadReduceArgs(call));
  IROPT_ASSIGN_OR_RETURN(Tensor result, Variance(call, args));
  return HostValue(std::move(result));
}

Result<HostValue> EvalStd(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ReduceArgs args, ReadReduceArgs(call));
  IROPT_ASSIGN_OR_RETURN(const Tensor variance, Variance(call, args));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapUnary(call, kSqrt, variance));
  return HostValue(std::move(result));
}

namespace {

// The index of the first extreme element.
template <bool kMaximum, class T>
void RunArgReduce(const ReduceLoops& loops, const T* x, int64_t* out) {
  loops.kept.ForEach({0}, [&](LoopNest<1>::Offsets base) {
    int64_t best = 0;
    int64_t index = 0;
    MathOf<T> extreme{};
    loops.reduced.ForEach(base, [&](LoopNest<1>::Offsets at) {
      const MathOf<T> value = Element<T>::Load(x[at[0]]);
      if (index == 0 || IsMoreExtreme<kMaximum>(value, extreme)) {
        extreme = value;
        best = index;
      }
      ++index;
    });
    *out++ = best;
  });
}

Result<HostValue> EvalArgReduce(KernelCall& call, bool maximum) {
  const auto attrs = call.attrs<ArgmaxArgminAttrs>();
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  const size_t rank = x->shape().size();
  const auto keepdims = attrs.keepdims();
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = attrs.axis()) {
    IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, *given, rank));
    axes = {axis};
  }
  const ReduceLoops loops = PlanReduce(*x, axes, keepdims != 0);
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Int(64), loops.out_shape));
  if (loops.count == 0 && out->num_elements() != 0) return call.Fail("an empty tensor has no extreme");
  const bool known = DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    int64_t* result = out->MutableAs<int64_t>().data();
    if (maximum) {
      RunArgReduce<true>(loops, x->As<T>().data(), result);
    } else {
      RunArgReduce<false>(loops, x->As<T>().data(), result);
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalArgmax(KernelCall& call) { return EvalArgReduce(call, /*maximum=*/true); }
Result<HostValue> EvalArgmin(KernelCall& call) { return EvalArgReduce(call, /*maximum=*/false); }

namespace {

// Sums over the dimensions that the shape lacks or has as 1: the inverse of broadcasting.
Result<HostValue> CollapseSum(KernelCall& call, const Tensor& x, const Shape& shape) {
  IROPT_ASSIGN_OR_RETURN(const Shape common, BroadcastShapes(call, x->shape(), shape));
  if (common != ShapeOf(*x))
    return call.Fail(fmt::format("shape {} does not collapse to {}", ShapeText(x->shape()), ShapeText(shape)));
  Shape axes;
  const size_t extra = x->shape().size() - shape.size();
  for (size_t d = 0; d < x->shape().size(); ++d) {
    if (d < extra || (shape[d - extra] == 1 && x->shape()[d] != 1)) axes.push_back(static_cast<int64_t>(d));
  }
  IROPT_ASSIGN_OR_RETURN(const Tensor sum, Reduce(call, ReduceOp::kSum, x, axes, /*keepdims=*/true));
  return HostValue(Reshaped(sum, shape));
}

}  // namespace

Result<HostValue> EvalCollapseSumTo(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Shape shape, call.ShapeArg(1));
  return CollapseSum(call, x, shape);
}

Result<HostValue> EvalCollapseSumLike(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor target, call.TensorArg(1));
  return CollapseSum(call, x, ShapeOf(*target));
}

}  // namespace iropt::eval
