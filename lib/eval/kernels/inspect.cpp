// Operators on the properties of a tensor besides its elements, and operators that return their operand.
#include <cstring>

#include "iropt/ir/dlpack.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/dropout.h"
#include "kernel.h"

namespace iropt::eval {

namespace {

template <class F>
Result<HostValue> Inspect(const KernelCall& call, DataType dtype, F&& field) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  return HostValue(Scalar::Int(field(*x), dtype));
}

// One element of a list that has one number for each axis.
Result<HostValue> InspectAxis(const KernelCall& call, Shape (*list)(const NDArray&)) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const Scalar given, call.ScalarArg(1));
  const int64_t axis = given.ToInt().value_or(-1);
  const Shape values = list(*x);
  if (axis < 0 || axis >= std::ssize(values)) return call.Fail(fmt::format("axis {} is out of range", axis));
  return HostValue(Scalar::Int(values[static_cast<size_t>(axis)]));
}

Shape StridesOf(const NDArray& x) { return RowMajorStrides(x.shape()); }
int64_t Zero(const NDArray&) { return 0; }

}  // namespace

Result<HostValue> EvalTensorByteOffset(KernelCall& call) { return Inspect(call, DataType::UInt(64), Zero); }
Result<HostValue> EvalTensorElemOffset(KernelCall& call) { return Inspect(call, DataType::UInt(64), Zero); }
Result<HostValue> EvalTensorDtypeBits(KernelCall& call) {
  return Inspect(call, DataType::UInt(8), [](const NDArray& x) { return int64_t{x.dtype().bits}; });
}
Result<HostValue> EvalTensorDtypeCode(KernelCall& call) {
  return Inspect(call, DataType::UInt(8), [](const NDArray& x) { return DLPackCode(x.dtype().code); });
}
Result<HostValue> EvalTensorDtypeLanes(KernelCall& call) {
  return Inspect(call, DataType::UInt(16), [](const NDArray& x) { return int64_t{x.dtype().lanes}; });
}
Result<HostValue> EvalTensorNdim(KernelCall& call) {
  return Inspect(call, DataType::Int(32), [](const NDArray& x) { return std::ssize(x.shape()); });
}
Result<HostValue> EvalTensorShapeI(KernelCall& call) { return InspectAxis(call, ShapeOf); }
Result<HostValue> EvalTensorStrideI(KernelCall& call) { return InspectAxis(call, StridesOf); }

Result<HostValue> EvalShapeOf(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  return HostValue(ShapeValue(ShapeOf(*x)));
}

Result<HostValue> EvalIdentity(KernelCall& call) {
  if (call.num_args() != 1) return call.Fail("expects one operand");
  return call.arg(0);
}

namespace {

// Chooses the elements that are kept, as ones and zeros of the dtype.
Result<Tensor> MakeDropoutMask(KernelCall& call, const NDArray& x, double rate) {
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> mask, call.Allocate(x.dtype(), ShapeOf(x)));
  IROPT_ASSIGN_OR_RETURN(const Tensor one, CastTensor(call, MakeScalarTensor(Scalar::Int(1)), x.dtype()));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x.num_elements())));
  const size_t size = static_cast<size_t>(x.dtype().bytes());
  for (size_t at = 0; at < mask->num_bytes(); at += size) {
    if (rate == 0 || call.random()->Uniform() >= rate) std::memcpy(mask->mutable_data() + at, one->data(), size);
  }
  return Tensor(mask);
}

}  // namespace

// Random but for the rate at which nothing is left to chance. What is kept is scaled so that sums stay as they are on
// average. In inference, everything is kept.
Result<HostValue> EvalDropout(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const double rate = call.is_inference() ? 0 : call.attrs<DropoutAttrs>().rate();
  if (rate != 0 && !call.random()) return call.Fail("the result is random");
  if (!(rate >= 0 && rate < 1)) return call.Fail(fmt::format("the rate is {}, expected 0 to less than 1", rate));
  IROPT_ASSIGN_OR_RETURN(const Tensor mask, MakeDropoutMask(call, *x, rate));
  TupleValue result{{HostValue(x), HostValue(mask)}};
  if (rate == 0) return HostValue(std::move(result));
  IROPT_ASSIGN_OR_RETURN(const Tensor scale,
                         CastTensor(call, MakeScalarTensor(Scalar::Float(1 / (1 - rate))), x->dtype()));
  const HostValue factors[] = {x, mask};
  IROPT_ASSIGN_OR_RETURN(const HostValue kept, EvalOp(OpInfoOf(op::kMultiply), nullptr, factors));
  const HostValue scaled[] = {kept, scale};
  IROPT_ASSIGN_OR_RETURN(result.fields[0], EvalOp(OpInfoOf(op::kMultiply), nullptr, scaled));
  return HostValue(std::move(result));
}

// The bytes of a tensor from an offset on, under another shape and dtype; missing operands are empty tuples.
Result<HostValue> EvalMemoryView(KernelCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const auto given = [&](size_t i) { return i < call.num_args() && !call.arg(i).tuple(); };
  Shape shape = ShapeOf(*x);
  if (given(1)) {
    IROPT_ASSIGN_OR_RETURN(shape, call.ShapeArg(1));
  }
  const DataType* dtype_arg = given(2) ? std::get_if<DataType>(&call.arg(2).state) : nullptr;
  if (given(2) && !dtype_arg) return call.Fail("operand 2 is not a dtype");
  int64_t offset = 0;
  if (given(3)) {
    IROPT_ASSIGN_OR_RETURN(const Scalar start, call.ScalarArg(3));
    offset = start.ToInt().value_or(-1);
  }
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out,
                         call.Allocate(dtype_arg ? *dtype_arg : x->dtype(), std::move(shape)));
  const size_t available = x->num_bytes();
  if (offset < 0 || static_cast<uint64_t>(offset) > available ||
      out->num_bytes() > available - static_cast<size_t>(offset))
    return call.Fail("the view is out of range");
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(out->num_elements())));
  if (out->num_bytes() != 0) std::memcpy(out->mutable_data(), x->data() + offset, out->num_bytes());
  return HostValue(Tensor(out));
}

}  // namespace iropt::eval
