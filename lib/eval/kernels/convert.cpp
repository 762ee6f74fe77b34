// Conversion between dtypes, and elementwise operators with more than two operands or with parameters.
#include <limits>
#include <type_traits>
#include <utility>

#include "axis_loops.h"
#include "elementwise.h"
#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/datatype.h"
#include "numeric.h"

namespace iropt::eval {

Result<Tensor> CastTensor(KernelCall& call, const Tensor& tensor, DataType dtype) {
  if (tensor->dtype() == dtype) return tensor;
  if (!IsElementType(tensor->dtype())) return call.UnsupportedDType(tensor->dtype());
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(tensor->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(dtype, ShapeOf(*tensor)));
  bool defined = true;
  DispatchElement(tensor->dtype(), [&]<class From>(std::type_identity<From>) {
    DispatchElement(dtype, [&]<class To>(std::type_identity<To>) {
      const std::span<const From> in = tensor->As<From>();
      const std::span<To> result = out->MutableAs<To>();
      for (size_t i = 0; i < in.size(); ++i) defined &= ConvertElement(in[i], &result[i]);
    });
  });
  if (!defined) return call.Fail(fmt::format("a value is out of range for {}", dtype.ToString()));
  return Tensor(out);
}

Result<HostValue> EvalAstype(KernelCall& call) {
  const auto attrs = call.attrs<AstypeAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(Tensor result, CastTensor(call, x, DTypeOr(attrs.dtype(), x->dtype())));
  return HostValue(std::move(result));
}

namespace {

// Calls f with the number of a scalar, of which uint64 has numbers that int64 has not.
template <class F>
auto WithNumber(const Scalar& scalar, F&& f) {
  if (scalar.dtype.is_floating()) return f(scalar.real);
  return scalar.dtype.is_uint() ? f(static_cast<uint64_t>(scalar.integer)) : f(scalar.integer);
}

// A bound of clip in the dtype of the tensor: what integers and booleans do not hold is their end.
template <class T>
bool BoundAs(const Scalar& bound, T* result) {
  return WithNumber(bound, [&](auto number) {
    if constexpr (std::is_same_v<T, BoolByte>) {
      *result = Element<T>::Store(number > 0);
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      const auto is_beyond = [&](T limit, bool above) {
        if constexpr (std::is_integral_v<decltype(number)>)
          return above ? std::cmp_greater(number, limit) : std::cmp_less(number, limit);
        else
          return above ? number >= static_cast<double>(limit) : number <= static_cast<double>(limit);
      };
      const bool above = is_beyond(Limits::max(), true);
      if (above || is_beyond(Limits::min(), false)) {
        *result = above ? Limits::max() : Limits::min();
        return true;
      }
    }
    return ConvertElement(number, result);
  });
}

}  // namespace

Result<HostValue> EvalClip(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar low, call.ScalarArg(1));
  IROPT_ASSIGN_OR_RETURN(const Scalar high, call.ScalarArg(2));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  bool in_range = true;
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    T lowest;
    T highest;
    in_range = BoundAs(low, &lowest) && BoundAs(high, &highest);
    if (!in_range) return;
    const MathOf<T> least = Element<T>::Load(lowest);
    const MathOf<T> most = Element<T>::Load(highest);
    const std::span<const T> in = x->As<T>();
    const std::span<T> result = out->MutableAs<T>();
    for (size_t i = 0; i < in.size(); ++i)
      result[i] = Element<T>::Store(MaxOf(MinOf(Element<T>::Load(in[i]), most), least));
  });
  if (!in_range) return call.Fail(fmt::format("a bound is out of range for {}", x->dtype().ToString()));
  return HostValue(Tensor(out));
}

Result<HostValue> EvalLeakyRelu(KernelCall& call) {
  const auto attrs = call.attrs<LeakyReluAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const auto slope = attrs.alpha();
  if (!x->dtype().is_floating()) return call.UnsupportedDType(x->dtype());
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<MathOf<T>>) {
      const double alpha = ToReal(FromReal<T>(slope));
      const std::span<const T> in = x->As<T>();
      const std::span<T> result = out->MutableAs<T>();
      for (size_t i = 0; i < in.size(); ++i) result[i] = ToReal(in[i]) > 0 ? in[i] : FromReal<T>(ToReal(in[i]) * alpha);
    }
  });
  return HostValue(Tensor(out));
}

namespace {

// Three operands of which the second and third have the dtype of the result, broadcast together.
struct Ternary {
  Tensor a, b, c;
  std::shared_ptr<NDArray> out;
};

Result<Ternary> PrepareTernary(KernelCall& call) {
  Ternary t;
  IROPT_ASSIGN_OR_RETURN(t.a, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(t.b, call.TensorArg(1));
  IROPT_ASSIGN_OR_RETURN(t.c, call.TensorArg(2));
  if (t.b->dtype() != t.c->dtype()) {
    return call.Fail(fmt::format("operands have dtypes {} and {}", t.b->dtype().ToString(), t.c->dtype().ToString()));
  }
  IROPT_ASSIGN_OR_RETURN(const Shape values, BroadcastShapes(call, t.b->shape(), t.c->shape()));
  IROPT_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call, t.a->shape(), values));
  IROPT_ASSIGN_OR_RETURN(t.out, call.Allocate(t.b->dtype(), std::move(shape)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(t.out->num_elements())));
  return t;
}

// Rounds once, as a fused operation must: the product of two floats is exact in double, that of doubles in std::fma.
// The sum of two doubles that is rounded again to float is not, hence the float version for float.
template <class T>
T FusedMultiplyAdd(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>) {
    return WrapAdd(WrapMul(a, b), c);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::fma(a, b, c);
  } else {
    return FromReal<T>(std::fma(ToReal(a), ToReal(b), ToReal(c)));
  }
}

}  // namespace

Result<HostValue> EvalWhere(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Ternary t, PrepareTernary(call));
  if (!t.a->dtype().is_bool()) return call.UnsupportedDType(t.a->dtype());
  const LoopNest<4> nest = BroadcastNest<4>(t.out->shape(), {t.a.get(), t.b.get(), t.c.get()});
  const BoolByte* condition = t.a->As<BoolByte>().data();
  DispatchElement(t.b->dtype(), [&]<class T>(std::type_identity<T>) {
    T* out = t.out->MutableAs<T>().data();
    const T* x = t.b->As<T>().data();
    const T* y = t.c->As<T>().data();
    nest.ForEach({}, [&](const LoopNest<4>::Offsets& at) {
      out[at[0]] = Element<BoolByte>::Load(condition[at[1]]) ? x[at[2]] : y[at[3]];
    });
  });
  return HostValue(Tensor(t.out));
}

Result<HostValue> EvalEwiseFma(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Ternary t, PrepareTernary(call));
  if (t.a->dtype() != t.b->dtype() || t.a->dtype().is_bool()) return call.UnsupportedDType(t.a->dtype());
  const LoopNest<4> nest = BroadcastNest<4>(t.out->shape(), {t.a.get(), t.b.get(), t.c.get()});
  DispatchElement(t.b->dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_same_v<T, BoolByte>) {
      T* out = t.out->MutableAs<T>().data();
      const T* a = t.a->As<T>().data();
      const T* b = t.b->As<T>().data();
      const T* c = t.c->As<T>().data();
      nest.ForEach(
          {}, [&](const LoopNest<4>::Offsets& at) { out[at[0]] = FusedMultiplyAdd(a[at[1]], b[at[2]], c[at[3]]); });
    }
  });
  return HostValue(Tensor(t.out));
}

// x, or x times the slope of its channel if it is not positive; a single slope is that of all channels.
Result<HostValue> EvalPrelu(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Tensor slopes, call.TensorArg(1));
  const int64_t given = call.attrs<PReluAttrs>().axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const AxisLoops loops = LoopsOf(*x, axis);
  if (slopes->dtype() != x->dtype()) return call.Fail("data and slopes differ in dtype");
  const bool single = slopes->num_elements() == 1;
  if (!single && slopes->num_elements() != loops.length) return call.Fail("the slopes do not fit the channels");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  const bool known = DispatchFloat(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> in = x->As<T>();
    const std::span<const T> slope = slopes->As<T>();
    const std::span<T> result = out->MutableAs<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      const auto channel = static_cast<int64_t>(i) / loops.inner % loops.length;
      const T factor = slope[static_cast<size_t>(single ? 0 : channel)];
      result[i] = ToReal(in[i]) > 0 ? in[i] : MulElements(in[i], factor);
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  return HostValue(Tensor(out));
}

// log(1 + exp(beta * x)) / beta, which is x in all digits where beta * x is over the threshold.
Result<HostValue> EvalSoftplus(KernelCall& call) {
  const auto attrs = call.attrs<SoftplusAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  const bool known = DispatchFloat(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> in = x->As<T>();
    const std::span<T> result = out->MutableAs<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      const double scaled = ToReal(in[i]) * attrs.beta();
      result[i] = scaled > attrs.threshold() ? in[i] : FromReal<T>(std::log1p(std::exp(scaled)) / attrs.beta());
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
