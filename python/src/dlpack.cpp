// Tensors of other libraries, and ours for them, by the DLPack protocol: both sides use the same memory.
#include <pybind11/pybind11.h>

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "tensor.h"

namespace iropt::python {

namespace {

// The structures of the protocol, as its specification lays them out.
struct DlDevice {
  int32_t type;  // 1: the host
  int32_t id;
};
struct DlDtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlDtype dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major order
  uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*release)(DlManagedTensor* self);
};

constexpr int32_t kHost = 1;
enum DlCode : uint8_t { kDlInt = 0, kDlUint = 1, kDlFloat = 2, kDlBfloat = 4, kDlBool = 6 };
constexpr const char* kCapsule = "dltensor";
constexpr const char* kUsedCapsule = "used_dltensor";

DlDtype DtypeFor(DataType dtype) {
  const auto bits = static_cast<uint8_t>(dtype.bits);
  const auto lanes = static_cast<uint16_t>(dtype.lanes);
  if (dtype.is_bool()) return {kDlBool, 8, lanes};
  if (dtype.is_int()) return {kDlInt, bits, lanes};
  if (dtype.is_uint()) return {kDlUint, bits, lanes};
  if (dtype == DataType::BFloat(16)) return {kDlBfloat, bits, lanes};
  if (dtype.code == TypeCode::kFloat && bits > 8) return {kDlFloat, bits, lanes};
  throw py::type_error(fmt::format("DLPack has no tensors of dtype {}", dtype.ToString()));
}

DataType DtypeOf(DlDtype dtype) {
  const int bits = dtype.bits;
  if (dtype.lanes == 1) {
    if (dtype.code == kDlBool && bits == 8) return DataType::Bool();
    if (dtype.code == kDlInt) return DataType::Int(bits);
    if (dtype.code == kDlUint) return bits == 1 ? DataType::Bool() : DataType::UInt(bits);
    if (dtype.code == kDlFloat && bits > 8) return DataType::Float(bits);
    if (dtype.code == kDlBfloat && bits == 16) return DataType::BFloat(16);
  }
  throw py::type_error(fmt::format("a DLPack tensor of code {} with {} bits is not known", dtype.code, bits));
}

// What an exported tensor refers to.
struct Export {
  DlManagedTensor managed;
  std::shared_ptr<const NDArray> array;
  std::vector<int64_t> shape;
};

void DropCapsule(PyObject* capsule) {
  // A consumer renames what it has taken.
  if (PyCapsule_IsValid(capsule, kCapsule) == 0) return;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsule));
  managed->release(managed);
}

bool IsRowMajor(const DlTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t step = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != step) return false;
    step *= tensor.shape[i];
  }
  return true;
}

}  // namespace

py::object ToDlpack(const std::shared_ptr<const NDArray>& array) {
  auto made = std::make_unique<Export>();
  made->array = array;
  made->shape.assign(array->shape().begin(), array->shape().end());
  made->managed.tensor = {.data = const_cast<std::byte*>(array->data()),
                          .device = {kHost, 0},
                          .rank = static_cast<int32_t>(made->shape.size()),
                          .dtype = DtypeFor(array->dtype()),
                          .shape = made->shape.data(),
                          .strides = nullptr,
                          .byte_offset = 0};
  made->managed.context = made.get();
  made->managed.release = [](DlManagedTensor* self) { delete static_cast<Export*>(self->context); };
  PyObject* capsule = PyCapsule_New(&made->managed, kCapsule, &DropCapsule);
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(made.release());
  return py::reinterpret_steal<py::object>(capsule);
}

std::shared_ptr<const NDArray> FromDlpack(const py::object& source) {
  const py::object capsule =
      PyCapsule_CheckExact(source.ptr()) != 0 ? source : py::object(source.attr("__dlpack__")());
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  if (managed == nullptr) throw py::error_already_set();
  const DlTensor& tensor = managed->tensor;
  if (tensor.device.type != kHost) throw py::value_error("the tensor is not in the memory of the host");
  if (!IsRowMajor(tensor)) throw py::value_error("the tensor must be in row-major order: make it contiguous");
  const DataType dtype = DtypeOf(tensor.dtype);
  PyCapsule_SetName(capsule.ptr(), kUsedCapsule);
  const std::shared_ptr<const void> owner(static_cast<const void*>(managed), [managed](const void*) {
    if (managed->release == nullptr || Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire lock;
    managed->release(managed);
  });
  const auto rank = static_cast<size_t>(tensor.rank);
  const std::vector<int64_t> shape(tensor.shape, tensor.shape + rank);
  const auto* data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.data == nullptr) return NDArray::Make(dtype, shape);
  return NDArray::View(dtype, shape, data, owner);
}

}  // namespace iropt::python
