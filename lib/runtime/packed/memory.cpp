// Packed functions that allocate storage and make tensors in it.
#include <fmt/format.h>

#include <cstring>

#include "builtins.h"

namespace iropt {

Result<Tensor> MakeTensorView(const std::shared_ptr<Storage>& storage, int64_t offset, const ShapeValue& shape,
                              DataType dtype) {
  const std::optional<uint64_t> bytes = ArrayBytes(dtype, shape);
  const size_t size = storage->num_bytes();
  if (!bytes || offset < 0 || static_cast<uint64_t>(offset) > size || *bytes > size - static_cast<uint64_t>(offset)) {
    return Error{ErrorCode::SemanticCheck,
                 fmt::format("a tensor of shape ({}) and dtype {} at byte {} does not fit into storage of {} bytes",
                             fmt::join(shape, ", "), dtype.ToString(), offset, size)};
  }
  if (dtype.bytes() != 0 && offset % dtype.bytes() != 0)
    return Error{ErrorCode::SemanticCheck,
                 fmt::format("a tensor of dtype {} is misaligned at byte {} of its storage", dtype.ToString(), offset)};
  return Tensor(NDArray::View(dtype, shape, storage, static_cast<size_t>(offset)));
}

namespace packed {

namespace {

// A view of a tensor with another shape and dtype, from a byte offset.
Result<HostValue> MakeView(const PackedCall& call, const Tensor& tensor, const ShapeValue& shape, DataType dtype,
                           int64_t offset) {
  if (tensor->storage()) {
    IROPT_ASSIGN_OR_RETURN(
        Tensor view,
        MakeTensorView(tensor->storage(), static_cast<int64_t>(tensor->storage_offset()) + offset, shape, dtype));
    return HostValue(std::move(view));
  }
  const std::optional<uint64_t> bytes = ArrayBytes(dtype, shape);
  const size_t size = tensor->num_bytes();
  if (!bytes || offset < 0 || static_cast<uint64_t>(offset) > size || *bytes > size - static_cast<uint64_t>(offset))
    return call.Fail(fmt::format("a view of shape ({}) and dtype {} at byte {} does not fit a tensor of {} bytes",
                                 fmt::join(shape, ", "), dtype.ToString(), offset, size));
  return HostValue(NDArray::View(dtype, shape, tensor->data() + offset, tensor));
}

}  // namespace

// (shape, device, dtype, scope)
Result<HostValue> AllocStorage(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, call.ShapeArg(0));
  IROPT_ASSIGN_OR_RETURN(const DataType dtype, call.DTypeArg(2));
  const std::optional<uint64_t> bytes = ArrayBytes(dtype, shape);
  if (!bytes) return call.Fail(fmt::format("invalid size ({})", fmt::join(shape, ", ")));
  IROPT_ASSIGN_OR_RETURN(std::shared_ptr<Storage> storage, call.context().Allocate(*bytes));
  return HostValue(std::move(storage));
}

// (storage, offset, shape, dtype). The elements become uninitialized, even if the storage was used before.
Result<HostValue> AllocTensor(PackedCall& call) {
  const auto* storage = call.num_args() == 0 ? nullptr : std::get_if<std::shared_ptr<Storage>>(&call.arg(0).state);
  if (!storage) return call.Fail("operand 0 is not storage");
  IROPT_ASSIGN_OR_RETURN(const int64_t offset, call.IntArg(1));
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, call.ShapeArg(2));
  IROPT_ASSIGN_OR_RETURN(const DataType dtype, call.DTypeArg(3));
  Result<Tensor> tensor = MakeTensorView(*storage, offset, shape, dtype);
  if (!tensor.ok()) return call.Fail(tensor.error().message);
  (*storage)->SetWritten(static_cast<size_t>(offset), (*tensor)->num_bytes(), false);
  return HostValue(*std::move(tensor));
}

Result<HostValue> Reshape(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, call.ShapeArg(1));
  if (ArrayBytes(tensor->dtype(), shape) != tensor->num_bytes()) {
    return call.Fail(fmt::format("cannot reshape a tensor of shape ({}) to ({}): the numbers of elements differ",
                                 fmt::join(tensor->shape(), ", "), fmt::join(shape, ", ")));
  }
  return MakeView(call, tensor, shape, tensor->dtype(), 0);
}

// (tensor, shape, dtype, offset in bytes)
Result<HostValue> CreateView(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const ShapeValue shape, call.ShapeArg(1));
  IROPT_ASSIGN_OR_RETURN(const DataType dtype, call.DTypeArg(2));
  IROPT_ASSIGN_OR_RETURN(const int64_t offset, call.IntArg(3));
  return MakeView(call, tensor, shape, dtype, offset);
}

// The data pointer of a view includes its offset, so the offset is always zero.
Result<HostValue> EnsureZeroOffset(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  return HostValue(tensor);
}

// (tensor, device type, device id). All devices are the host, but the tensor is copied.
Result<HostValue> ToDevice(PackedCall& call) {
  IROPT_ASSIGN_OR_RETURN(const Tensor tensor, call.TensorArg(0));
  if (!tensor->storage()) return HostValue(tensor);
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<Storage> copy, call.context().Allocate(tensor->num_bytes()));
  std::memcpy(copy->data(), tensor->data(), tensor->num_bytes());
  const Storage& source = *tensor->storage();
  copy->SetWritten(0, copy->num_bytes(), source.IsWritten(tensor->storage_offset(), tensor->num_bytes()));
  const ShapeValue shape(tensor->shape().begin(), tensor->shape().end());
  return HostValue(Tensor(NDArray::View(tensor->dtype(), shape, copy, 0)));
}

Result<HostValue> Identity(PackedCall& call) {
  if (call.num_args() != 1) return call.Fail("expects one operand");
  return call.arg(0);
}

Result<HostValue> NullValue(PackedCall& call) {
  if (call.num_args() != 0) return call.Fail("expects no operands");
  return HostValue();
}

}  // namespace packed

}  // namespace iropt
