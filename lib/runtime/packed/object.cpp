// Packed functions on tuples, conditions and closures.
#include <fmt/format.h>

#include "builtins.h"
#include "iropt/ir/element.h"

namespace iropt::packed {

Result<HostValue> MakeTuple(PackedCall& call) {
  return HostValue(TupleValue{std::vector<HostValue>(call.args().begin(), call.args().end())});
}

Result<HostValue> GetTupleItem(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const TupleValue* tuple, call.TupleArg(0));
  IROPT_ASSIGN_OR_RETURN(const int64_t index, call.IntArg(1));
  if (index < 0 || index >= std::ssize(tuple->fields))
    return call.Fail(fmt::format("index {} is out of range for a tuple with {} fields", index, tuple->fields.size()));
  return tuple->fields[static_cast<size_t>(index)];
}

// Says that an item is not read again. Tuples do not change here, so its memory is kept as long as they are.
Result<HostValue> ResetTupleItem(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const HostValue item, GetTupleItem(call));
  return HostValue(TupleValue{});
}

// The condition is a scalar, or the first element of a tensor.
Result<HostValue> ReadIfCond(PackedCall& call) {
  if (call.num_args() != 1) return call.Fail("expects one operand");
  if (const Scalar* scalar = call.arg(0).scalar())
    return HostValue(Scalar::Int(scalar->ToDouble() != 0, DataType::Bool()));
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  const std::optional<Scalar> value = ScalarOf(*tensor);
  if (!value || !(value->dtype.is_integer() || value->dtype.is_bool()))
    return call.Fail("the condition is not a scalar of an integer or boolean dtype");
  if (tensor->storage() && !tensor->storage()->IsWritten(tensor->storage_offset(), tensor->num_bytes()))
    return call.Fail("the condition is read before it is initialized");
  return HostValue(Scalar::Int(value->integer != 0, DataType::Bool()));
}

// (function, bound arguments, which are appended to those of a call)
Result<HostValue> MakeClosure(PackedCall& call) {
  const FunctionValue* function = call.num_args() == 0 ? nullptr : call.arg(0).function();
  if (!function) return call.Fail("operand 0 is not a function");
  auto closure = std::make_shared<FunctionValue>(*function);
  closure->bound.insert(closure->bound.begin(), call.args().begin() + 1, call.args().end());
  return HostValue(HostValue::CalleeRef(std::move(closure)));
}

// (closure, arguments)
Result<HostValue> InvokeClosure(PackedCall& call) {
  if (call.num_args() == 0) return call.Fail("expects a function");
  return call.context().Invoke(call.arg(0), call.args().subspan(1));
}

// (function, index): storage for a captured graph. Nothing is cached: the function allocates it at each run.
Result<HostValue> GetCachedAlloc(PackedCall& call) {
  if (call.num_args() == 0) return call.Fail("expects a function");
  return call.context().Invoke(call.arg(0), {});
}

// (function, tuple of arguments, index, shape of symbolic variables or nothing). Nothing is captured on the host.
Result<HostValue> RunOrCapture(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const TupleValue* args, call.TupleArg(1));
  return call.context().Invoke(call.arg(0), args->fields);
}

// (function, arguments, shape). The dimensions of the shape are passed as separate arguments.
Result<HostValue> CallTirDyn(PackedCall& call) {
  if (call.num_args() < 2) return call.Fail("expects a function and a shape");
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, call.ShapeArg(call.num_args() - 1));
  std::vector<HostValue> args(call.args().begin() + 1, call.args().end() - 1);
  for (const int64_t dim : shape) args.emplace_back(Scalar::Int(dim));
  return call.context().Invoke(call.arg(0), args);
}

}  // namespace iropt::packed
