// Packed functions on shapes: the shape heap, in which lowered code keeps symbolic dimensions, and checks of arguments.
#include <fmt/format.h>

#include <cstring>

#include "builtins.h"

namespace iropt::packed {

namespace {

// The codes of match_shape and make_shape for one dimension (TVM's MatchShapeCode and MakeShapeCode).
enum MatchCode : int64_t { kEqualImmediate = 0, kStore = 1, kIgnore = 2, kEqualStored = 3 };
enum MakeCode : int64_t { kImmediate = 0, kLoad = 1 };

// The shape heap: slots for the symbolic variables of a function. The null object is an empty heap.
class ShapeHeap {
 public:
  static Result<ShapeHeap> Of(const PackedCall& call, size_t operand) {
    ShapeHeap heap(call);
    if (operand < call.num_args() && std::holds_alternative<std::monostate>(call.arg(operand).state)) return heap;
    IROPT_ASSIGN_OR_RETURN(heap.tensor_, call.TensorArg(operand));
    if (heap.tensor_->dtype() != DataType::Int(64) || !heap.tensor_->storage())
      return call.Fail(fmt::format("operand {} is not a shape heap", operand));
    return heap;
  }

  Status Store(int64_t slot, int64_t value) {
    IROPT_ASSIGN_OR_RETURN(const size_t at, OffsetOf(slot));
    Storage& storage = *tensor_->storage();
    std::memcpy(storage.data() + at, &value, sizeof value);
    storage.SetWritten(at, sizeof value, true);
    return {};
  }

  Result<int64_t> Load(int64_t slot) const {
    IROPT_ASSIGN_OR_RETURN(const size_t at, OffsetOf(slot));
    Storage& storage = *tensor_->storage();
    if (!storage.IsWritten(at, sizeof(int64_t)))
      return call_.Fail(fmt::format("slot {} of the shape heap is read before it is initialized", slot));
    int64_t value = 0;
    std::memcpy(&value, storage.data() + at, sizeof value);
    return value;
  }

 private:
  explicit ShapeHeap(const PackedCall& call) : call_(call) {}

  Result<size_t> OffsetOf(int64_t slot) const {
    const int64_t size = tensor_ ? tensor_->num_elements() : 0;
    if (slot < 0 || slot >= size)
      return call_.Fail(fmt::format("slot {} is out of range for a shape heap of {} slots", slot, size));
    return tensor_->storage_offset() + static_cast<size_t>(slot) * sizeof(int64_t);
  }

  const PackedCall& call_;
  Tensor tensor_;
};

// The last operand: the compiler's description of the position in the program, for messages.
std::string ContextOf(const PackedCall& call, size_t operand) {
  const Result<std::string_view> text = call.StringArg(operand);
  if (!text.ok()) return "";
  std::string_view context = *text;
  while (context.ends_with(' ')) context.remove_suffix(1);
  return fmt::format(" [{}]", context);
}

// Checks a dimension, or stores it in the heap.
Status MatchOne(PackedCall& call, ShapeHeap& heap, int64_t value, size_t code_operand, std::string_view what,
                std::string_view context) {
  IROPT_ASSIGN_OR_RETURN(const int64_t code, call.IntArg(code_operand));
  IROPT_ASSIGN_OR_RETURN(const int64_t operand, call.IntArg(code_operand + 1));
  if (code == kIgnore) return {};
  if (code == kStore) return heap.Store(operand, value);
  if (code != kEqualImmediate && code != kEqualStored) return call.Fail(fmt::format("unknown match code {}", code));
  int64_t expected = operand;
  if (code == kEqualStored) {
    IROPT_ASSIGN_OR_RETURN(expected, heap.Load(operand));
  }
  if (value == expected) return {};
  return call.Fail(fmt::format("{} is {}, expected {}{}", what, value, expected, context));
}

Result<int64_t> MakeOne(const PackedCall& call, const ShapeHeap& heap, size_t code_operand) {
  IROPT_ASSIGN_OR_RETURN(const int64_t code, call.IntArg(code_operand));
  IROPT_ASSIGN_OR_RETURN(const int64_t operand, call.IntArg(code_operand + 1));
  if (code == kImmediate) return operand;
  if (code == kLoad) return heap.Load(operand);
  return call.Fail(fmt::format("unknown shape code {}", code));
}

// Checks the rank against an operand; -1 accepts any rank.
Status CheckRank(const PackedCall& call, size_t operand, size_t rank, std::string_view context) {
  IROPT_ASSIGN_OR_RETURN(const int64_t expected, call.IntArg(operand));
  if (expected == -1 || expected == static_cast<int64_t>(rank)) return {};
  return call.Fail(fmt::format("the rank is {}, expected {}{}", rank, expected, context));
}

Error WrongKind(const PackedCall& call, std::string_view expected, std::string_view context) {
  const std::string_view got = call.num_args() == 0 ? "nothing" : KindOf(call.arg(0));
  return call.Fail(fmt::format("the argument is {}, expected {}{}", got, expected, context));
}

}  // namespace

Result<HostValue> AllocShapeHeap(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const int64_t size, call.IntArg(0));
  const std::optional<uint64_t> bytes = ArrayBytes(DataType::Int(64), std::span(&size, 1));
  if (!bytes) return call.Fail(fmt::format("invalid size {}", size));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<Storage> storage, call.context().Allocate(*bytes));
  return HostValue(Tensor(NDArray::View(DataType::Int(64), std::span(&size, 1), storage, 0)));
}

// (tensor or shape, heap, rank, (code, operand) for each dimension, context)
Result<HostValue> MatchShape(PackedCall& call) {
  if (call.num_args() == 0) return call.Fail("expects a tensor or a shape");
  const NDArray* tensor = call.arg(0).tensor();
  if (!tensor && !call.arg(0).shape()) return WrongKind(call, "a tensor or a shape", "");
  const ShapeValue shape = tensor ? ShapeValue(tensor->shape().begin(), tensor->shape().end()) : *call.arg(0).shape();
  IROPT_ASSIGN_OR_RETURN(ShapeHeap heap, ShapeHeap::Of(call, 1));
  const std::string context = ContextOf(call, 3 + 2 * shape.size());
  IROPT_RETURN_IF_ERROR(CheckRank(call, 2, shape.size(), context));
  for (size_t i = 0; i < shape.size(); ++i) {
    IROPT_RETURN_IF_ERROR(MatchOne(call, heap, shape[i], 3 + 2 * i, fmt::format("dimension {}", i), context));
  }
  return HostValue();
}

// (scalar, heap, code, operand, context)
Result<HostValue> MatchPrimValue(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const int64_t value, call.IntArg(0));
  IROPT_ASSIGN_OR_RETURN(ShapeHeap heap, ShapeHeap::Of(call, 1));
  IROPT_RETURN_IF_ERROR(MatchOne(call, heap, value, 2, "the value", ContextOf(call, 4)));
  return HostValue();
}

// (heap, rank, (code, operand) for each dimension)
Result<HostValue> MakeShape(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ShapeHeap heap, ShapeHeap::Of(call, 0));
  IROPT_ASSIGN_OR_RETURN(const int64_t rank, call.IntArg(1));
  ShapeValue shape;
  for (int64_t i = 0; i < rank; ++i) {
    IROPT_ASSIGN_OR_RETURN(const int64_t dim, MakeOne(call, heap, 2 + 2 * static_cast<size_t>(i)));
    shape.push_back(dim);
  }
  return HostValue(std::move(shape));
}

// (heap, code, operand)
Result<HostValue> MakePrimValue(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ShapeHeap heap, ShapeHeap::Of(call, 0));
  IROPT_ASSIGN_OR_RETURN(const int64_t value, MakeOne(call, heap, 1));
  return HostValue(Scalar::Int(value));
}

// (value, rank, dtype or void for any, context)
Result<HostValue> CheckTensorInfo(PackedCall& call) {
  const bool has_dtype = call.DTypeArg(2).ok();
  const std::string context = ContextOf(call, has_dtype ? 3 : 2);
  const NDArray* tensor = call.num_args() == 0 ? nullptr : call.arg(0).tensor();
  if (!tensor) return WrongKind(call, "a tensor", context);
  IROPT_RETURN_IF_ERROR(CheckRank(call, 1, tensor->shape().size(), context));
  const DataType dtype = has_dtype ? *call.DTypeArg(2) : DataType::Void();
  if (dtype.is_void() || dtype == tensor->dtype()) return HostValue();
  return call.Fail(
      fmt::format("the dtype is {}, expected {}{}", tensor->dtype().ToString(), dtype.ToString(), context));
}

// (value, rank, context)
Result<HostValue> CheckShapeInfo(PackedCall& call) {
  const std::string context = ContextOf(call, 2);
  const ShapeValue* shape = call.num_args() == 0 ? nullptr : call.arg(0).shape();
  if (!shape) return WrongKind(call, "a shape", context);
  IROPT_RETURN_IF_ERROR(CheckRank(call, 1, shape->size(), context));
  return HostValue();
}

// (value, dtype, context)
Result<HostValue> CheckPrimValueInfo(PackedCall& call) {
  const std::string context = ContextOf(call, 2);
  const Scalar* scalar = call.num_args() == 0 ? nullptr : call.arg(0).scalar();
  if (!scalar) return WrongKind(call, "a scalar", context);
  IROPT_ASSIGN_OR_RETURN(const DataType dtype, call.DTypeArg(1));
  // The bit width of scalars is not checked, because the host passes them as 64 bits.
  const bool fits = dtype.is_void() || dtype.is_floating() == scalar->dtype.is_floating();
  if (fits) return HostValue();
  return call.Fail(fmt::format("the dtype is {}, expected {}{}", scalar->dtype.ToString(), dtype.ToString(), context));
}

// (value, size, context)
Result<HostValue> CheckTupleInfo(PackedCall& call) {
  const std::string context = ContextOf(call, 2);
  const TupleValue* tuple = call.num_args() == 0 ? nullptr : call.arg(0).tuple();
  if (!tuple) return WrongKind(call, "a tuple", context);
  IROPT_ASSIGN_OR_RETURN(const int64_t size, call.IntArg(1));
  if (size == std::ssize(tuple->fields)) return HostValue();
  return call.Fail(fmt::format("the tuple has {} fields, expected {}{}", tuple->fields.size(), size, context));
}

// (value, context)
Result<HostValue> CheckFuncInfo(PackedCall& call) {
  if (call.num_args() != 0 && call.arg(0).function()) return HostValue();
  return WrongKind(call, "a function", ContextOf(call, 1));
}

Result<HostValue> GetShapeOf(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  return HostValue(ShapeValue(tensor->shape().begin(), tensor->shape().end()));
}

Result<HostValue> TensorToShape(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  if (tensor->shape().size() != 1) return call.Fail(fmt::format("the rank is {}, expected 1", tensor->shape().size()));
  IROPT_ASSIGN_OR_RETURN(ShapeValue shape, IntElements(call, *tensor));
  return HostValue(std::move(shape));
}

}  // namespace iropt::packed
