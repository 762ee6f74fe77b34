#include "elementwise.h"

#include <functional>

namespace iropt::eval {

Result<Tensor> MapUnary(KernelCall& call, const UnaryOp& op, const Tensor& x) {
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(x->dtype(), ShapeOf(*x)));
  bool supported = true;
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    supported = SupportsElement<T>(op);
    if (!supported) return;
    const std::span<const T> in = x->As<T>();
    const std::span<T> result = out->MutableAs<T>();
    for (size_t i = 0; i < in.size(); ++i) result[i] = ApplyUnary(op, in[i]);
  });
  if (!supported) return call.UnsupportedDType(x->dtype());
  return Tensor(out);
}

namespace {

// Calls f(out, a, b) for each element of the result. Operands of the same shape, the usual case, need no strides.
template <class R, class T, class F>
void ForEachPair(NDArray& out, const NDArray& a, const NDArray& b, F&& f) {
  R* result = out.MutableAs<R>().data();
  const T* x = a.As<T>().data();
  const T* y = b.As<T>().data();
  if (a.num_elements() == out.num_elements() && b.num_elements() == out.num_elements()) {
    const int64_t n = out.num_elements();
    for (int64_t i = 0; i < n; ++i) f(result[i], x[i], y[i]);
    return;
  }
  const LoopNest<3> nest = BroadcastNest<3>(out.shape(), {&a, &b});
  nest.ForEachRow({0, 0, 0}, [&](LoopNest<3>::Offsets at, int64_t n, const LoopNest<3>::Offsets& step) {
    R* const r = result + at[0];
    const T* const p = x + at[1];
    const T* const q = y + at[2];
    // The usual steps as constants, so that the compiler can vectorize.
    if (step == LoopNest<3>::Offsets{1, 1, 0}) {
      for (int64_t i = 0; i < n; ++i) f(r[i], p[i], *q);
    } else if (step == LoopNest<3>::Offsets{1, 0, 1}) {
      for (int64_t i = 0; i < n; ++i) f(r[i], *p, q[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) f(r[i * step[0]], p[i * step[1]], q[i * step[2]]);
    }
  });
}

// Computes the four operations of arithmetic in a format of the processor, where the compiler can inline and vectorize
// them. Returns false for other operations and formats.
template <class T>
bool MapArithmetic(const BinaryOp& op, NDArray& out, const NDArray& a, const NDArray& b) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto run = [&](auto f) {
      ForEachPair<T, T>(out, a, b, [f](T& r, T x, T y) { r = f(x, y); });
      return true;
    };
    if (op.real == kAdd.real) return run(std::plus<T>());
    if (op.real == kSubtract.real) return run(std::minus<T>());
    if (op.real == kMultiply.real) return run(std::multiplies<T>());
    if (op.real == kDivide.real) return run(std::divides<T>());
  }
  return false;
}

Result<std::shared_ptr<NDArray>> AllocateBroadcast(KernelCall& call, DataType dtype, const Tensor& a, const Tensor& b) {
  if (a->dtype() != b->dtype()) {
    return call.Fail(fmt::format("operands have dtypes {} and {}", a->dtype().ToString(), b->dtype().ToString()));
  }
  IROPT_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call, a->shape(), b->shape()));
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<NDArray> out, call.Allocate(dtype, std::move(shape)));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  return out;
}

}  // namespace

Result<Tensor> MapBinary(KernelCall& call, const BinaryOp& op, const Tensor& a, const Tensor& b) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, AllocateBroadcast(call, a->dtype(), a, b));
  bool supported = true;
  bool defined = true;
  DispatchElement(a->dtype(), [&]<class T>(std::type_identity<T>) {
    supported = SupportsElement<T>(op);
    if (!supported || MapArithmetic<T>(op, *out, *a, *b)) return;
    ForEachPair<T, T>(*out, *a, *b, [&](T& r, T x, T y) { defined &= ApplyBinary(op, x, y, &r); });
  });
  if (!supported) return call.UnsupportedDType(a->dtype());
  if (!defined) return call.Fail("the result is undefined for some elements");
  return Tensor(out);
}

Result<Tensor> MapCompare(KernelCall& call, const CompareOp& op, const Tensor& a, const Tensor& b) {
  if (!IsElementType(a->dtype())) return call.UnsupportedDType(a->dtype());
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, AllocateBroadcast(call, DataType::Bool(), a, b));
  DispatchElement(a->dtype(), [&]<class T>(std::type_identity<T>) {
    ForEachPair<BoolByte, T>(*out, *a, *b,
                             [&](BoolByte& r, T x, T y) { r = Element<BoolByte>::Store(ApplyCompare(op, x, y)); });
  });
  return Tensor(out);
}

namespace {

Result<HostValue> EvalUnary(KernelCall& call, const UnaryOp& op) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapUnary(call, op, x));
  return HostValue(std::move(result));
}

// One of two operands. A scalar broadcasts as a tensor of one element.
Result<Tensor> BroadcastArg(const KernelCall& call, size_t i) {
  const Scalar* scalar = i < call.num_args() ? call.arg(i).scalar() : nullptr;
  if (!scalar) return call.TensorArg(i);
  if (!IsElementType(scalar->dtype)) return call.UnsupportedDType(scalar->dtype);
  return Reshaped(MakeScalarTensor(*scalar), {1});
}

// Of two scalars the result is one, too.
HostValue BroadcastResult(const KernelCall& call, Tensor result) {
  if (!call.arg(0).scalar() || !call.arg(1).scalar()) return HostValue(std::move(result));
  return HostValue(*ScalarOf(*result));
}

Result<HostValue> EvalBinary(KernelCall& call, const BinaryOp& op) {
  IROPT_ASSIGN_OR_RETURN(const Tensor a, BroadcastArg(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor b, BroadcastArg(call, 1));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapBinary(call, op, a, b));
  return BroadcastResult(call, std::move(result));
}

Result<HostValue> EvalCompare(KernelCall& call, const CompareOp& op) {
  IROPT_ASSIGN_OR_RETURN(const Tensor a, BroadcastArg(call, 0));
  IROPT_ASSIGN_OR_RETURN(const Tensor b, BroadcastArg(call, 1));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapCompare(call, op, a, b));
  return BroadcastResult(call, std::move(result));
}

Result<HostValue> EvalTest(KernelCall& call, const TestOp& op) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(DataType::Bool(), ShapeOf(*x)));
  const std::span<BoolByte> result = out->MutableAs<BoolByte>();
  const bool known = DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const std::span<const T> in = x->As<T>();
    for (size_t i = 0; i < in.size(); ++i) {
      if constexpr (std::is_floating_point_v<MathOf<T>>) {
        result[i] = Element<BoolByte>::Store(op.real(ToReal(in[i])));
      } else {
        result[i] = Element<BoolByte>::Store(op.of_integers);
      }
    }
  });
  if (!known) return call.UnsupportedDType(x->dtype());
  return HostValue(Tensor(out));
}

}  // namespace

#define IROPT_UNARY(Name)                                                                                              \
  Result<HostValue> Eval##Name(KernelCall& call) { return EvalUnary(call, k##Name); }
#define IROPT_BINARY(Name)                                                                                             \
  Result<HostValue> Eval##Name(KernelCall& call) { return EvalBinary(call, k##Name); }
#define IROPT_COMPARE(Name)                                                                                            \
  Result<HostValue> Eval##Name(KernelCall& call) { return EvalCompare(call, k##Name); }
#define IROPT_TEST(Name)                                                                                               \
  Result<HostValue> Eval##Name(KernelCall& call) { return EvalTest(call, k##Name); }

IROPT_UNARY(Abs)
IROPT_UNARY(Acos)
IROPT_UNARY(Acosh)
IROPT_UNARY(Asin)
IROPT_UNARY(Asinh)
IROPT_UNARY(Atan)
IROPT_UNARY(Atanh)
IROPT_UNARY(BitwiseNot)
IROPT_UNARY(Ceil)
IROPT_UNARY(Cos)
IROPT_UNARY(Cosh)
IROPT_UNARY(Erf)
IROPT_UNARY(Exp)
IROPT_UNARY(Floor)
IROPT_UNARY(Gelu)
IROPT_UNARY(GeluTanh)
IROPT_UNARY(Log)
IROPT_UNARY(LogicalNot)
IROPT_UNARY(Negative)
IROPT_UNARY(Relu)
IROPT_UNARY(Round)
IROPT_UNARY(Rsqrt)
IROPT_UNARY(Selu)
IROPT_UNARY(Sigmoid)
IROPT_UNARY(Sign)
IROPT_UNARY(Silu)
IROPT_UNARY(Sin)
IROPT_UNARY(Sinh)
IROPT_UNARY(Sqrt)
IROPT_UNARY(Square)
IROPT_UNARY(Tan)
IROPT_UNARY(Tanh)
IROPT_UNARY(Trunc)

IROPT_BINARY(Add)
IROPT_BINARY(Atan2)
IROPT_BINARY(BitwiseAnd)
IROPT_BINARY(BitwiseOr)
IROPT_BINARY(BitwiseXor)
IROPT_BINARY(Divide)
IROPT_BINARY(FloorMod)
IROPT_BINARY(LeftShift)
IROPT_BINARY(LogAddExp)
IROPT_BINARY(LogicalAnd)
IROPT_BINARY(LogicalOr)
IROPT_BINARY(LogicalXor)
IROPT_BINARY(Maximum)
IROPT_BINARY(Minimum)
IROPT_BINARY(Mod)
IROPT_BINARY(Multiply)
IROPT_BINARY(Power)
IROPT_BINARY(RightShift)
IROPT_BINARY(Subtract)

IROPT_COMPARE(Equal)
IROPT_COMPARE(Greater)
IROPT_COMPARE(GreaterEqual)
IROPT_COMPARE(Less)
IROPT_COMPARE(LessEqual)
IROPT_COMPARE(NotEqual)

IROPT_TEST(IsFinite)
IROPT_TEST(IsInf)
IROPT_TEST(IsNan)

// The quotient of floats is rounded to their format before it is truncated.
Result<HostValue> EvalFloorDivide(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor a, BroadcastArg(call, 0));
  if (!a->dtype().is_floating()) return EvalBinary(call, kFloorDivide);
  IROPT_ASSIGN_OR_RETURN(const Tensor b, BroadcastArg(call, 1));
  IROPT_ASSIGN_OR_RETURN(const Tensor quotient, MapBinary(call, kDivide, a, b));
  IROPT_ASSIGN_OR_RETURN(Tensor result, MapUnary(call, kFloor, quotient));
  return BroadcastResult(call, std::move(result));
}

#undef IROPT_UNARY
#undef IROPT_BINARY
#undef IROPT_COMPARE
#undef IROPT_TEST

}  // namespace iropt::eval
