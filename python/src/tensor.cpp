#include "tensor.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iropt::python {

namespace {

// The class NDArray of Python: a pointer that pybind11 can hold without a holder that is const.
struct Tensor {
  std::shared_ptr<const NDArray> array;
  bool writable = false;  // no node and no other tensor relies on the bytes
};

// The letters of the buffer protocol; nothing for formats that it does not know.
std::optional<std::string> FormatOf(DataType dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  if (dtype.is_bool()) return "?";
  const auto pick = [](int bits, const char* one, const char* two, const char* four, const char* eight) {
    return bits == 8    ? std::optional<std::string>(one)
           : bits == 16 ? std::optional<std::string>(two)
           : bits == 32 ? std::optional<std::string>(four)
           : bits == 64 ? std::optional<std::string>(eight)
                        : std::nullopt;
  };
  if (dtype.is_int()) return pick(dtype.bits, "b", "h", "i", "q");
  if (dtype.is_uint()) return pick(dtype.bits, "B", "H", "I", "Q");
  if (dtype.code == TypeCode::kFloat && dtype.bits != 8) return pick(dtype.bits, "", "e", "f", "d");
  return std::nullopt;
}

// Formats that the protocol does not know are shown as their bits.
DataType StoredAs(DataType dtype) {
  return FormatOf(dtype) ? dtype : DataType::UInt(static_cast<int>(dtype.bytes() * 8));
}

// The elements of a buffer. Their bytes are in the other order than those of this machine where `swapped` says so.
struct BufferElements {
  DataType dtype;
  bool swapped;
};

// A format is a letter, which another one for the order of bytes may precede.
BufferElements ElementsOf(const py::buffer_info& info) {
  constexpr std::string_view kOrders = "@=<>!";
  const std::string format = info.format.empty() ? "B" : info.format;
  const bool has_order = kOrders.find(format[0]) != std::string_view::npos;
  const bool swapped = format[0] == (std::endian::native == std::endian::little ? '>' : '<') ||
                       (format[0] == '!' && std::endian::native == std::endian::little);
  const std::string_view letters = std::string_view(format).substr(has_order ? 1 : 0);
  const int bits = static_cast<int>(info.itemsize * 8);
  const auto is_one_of = [&](std::string_view known) {
    return letters.size() == 1 && known.find(letters[0]) != std::string_view::npos;
  };
  if (is_one_of("?")) return {DataType::Bool(), swapped};
  if (is_one_of("bhilqn")) return {DataType::Int(bits), swapped};
  if (is_one_of("BHILQN")) return {DataType::UInt(bits), swapped};
  if (is_one_of("efd")) return {DataType::Float(bits), swapped};
  throw py::type_error(fmt::format("a buffer of format '{}' is not a tensor", info.format));
}

// Copies elements and reverses the bytes of each.
void CopySwapped(const std::byte* from, size_t num_bytes, size_t element, std::byte* to) {
  for (size_t i = 0; i < num_bytes; i += element) std::reverse_copy(from + i, from + i + element, to + i);
}

bool IsRowMajor(const py::buffer_info& info) {
  py::ssize_t step = info.itemsize;
  for (py::ssize_t i = info.ndim; i-- > 0;) {
    const auto axis = static_cast<size_t>(i);
    if (info.shape[axis] != 1 && info.strides[axis] != step) return false;
    step *= info.shape[axis];
  }
  return true;
}

// Keeps the memory of a buffer, from whatever thread it is dropped.
std::shared_ptr<const void> KeepBuffer(py::buffer_info info) {
  auto* kept = new py::buffer_info(std::move(info));
  return {static_cast<const void*>(kept), [kept](const void*) {
            if (Py_IsInitialized() == 0) return;
            const py::gil_scoped_acquire lock;
            delete kept;
          }};
}

std::shared_ptr<const NDArray> FromBuffer(const py::buffer& buffer) {
  py::buffer_info info = buffer.request();
  const auto [dtype, swapped] = ElementsOf(info);
  const std::vector<int64_t> shape(info.shape.begin(), info.shape.end());
  if (!IsRowMajor(info)) throw py::value_error("the tensor must be in row-major order: use numpy.ascontiguousarray");
  const auto* data = static_cast<const std::byte*>(info.ptr);
  if (info.size == 0) return NDArray::Make(dtype, shape);
  if (swapped) {
    auto array = NDArray::Make(dtype, shape);
    CopySwapped(data, array->num_bytes(), static_cast<size_t>(info.itemsize), array->mutable_data());
    return array;
  }
  return NDArray::View(dtype, shape, data, KeepBuffer(std::move(info)));
}

template <class T>
std::shared_ptr<const NDArray> Scalar(DataType dtype, T value) {
  auto array = NDArray::Make(dtype, {});
  std::memcpy(array->mutable_data(), &value, sizeof(T));
  return array;
}

py::buffer_info BufferOf(const Tensor& tensor) {
  const NDArray& array = *tensor.array;
  const DataType dtype = StoredAs(array.dtype());
  std::vector<py::ssize_t> shape(array.shape().begin(), array.shape().end());
  std::vector<py::ssize_t> strides(shape.size());
  py::ssize_t step = dtype.bytes();
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  const auto rank = static_cast<py::ssize_t>(shape.size());
  return {const_cast<std::byte*>(array.data()),
          dtype.bytes(),
          *FormatOf(dtype),
          rank,
          std::move(shape),
          std::move(strides),
          !tensor.writable};
}

// Returns what `repr` shows: shape and dtype, and the elements as NumPy shows them, if it is installed and has the dtype.
std::string DescribeTensor(const py::object& tensor) {
  std::string text = py::str("<NDArray shape={}, {}>").format(tensor.attr("shape"), tensor.attr("dtype"));
  try {
    text += "\n" + py::repr(py::module_::import("numpy").attr("asarray")(tensor)).cast<std::string>();
  } catch (const py::error_already_set&) {
    return text;
  }
  return text;
}

}  // namespace

py::object TensorToPython(const NDArray* array) {
  return array == nullptr ? py::none() : TensorToPython(array->shared_from_this());
}

py::object TensorToPython(std::shared_ptr<const NDArray> array, bool writable) {
  return py::cast(Tensor{std::move(array), writable});
}

std::shared_ptr<const NDArray> ArgumentFromPython(py::handle object) {
  if (py::isinstance<Tensor>(object)) return object.cast<const Tensor&>().array;
  return TensorFromPython(object);
}

std::shared_ptr<const NDArray> TensorFromPython(py::handle object, DataType dtype) {
  if (py::isinstance<Tensor>(object)) {
    // From now on its bytes stay as they are.
    auto& tensor = object.cast<Tensor&>();
    tensor.writable = false;
    return tensor.array;
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0) return FromBuffer(py::reinterpret_borrow<py::buffer>(object));
  if (py::isinstance<py::bool_>(object)) return Scalar<uint8_t>(DataType::Bool(), object.cast<bool>() ? 1 : 0);
  if (py::isinstance<py::int_>(object)) {
    if (dtype == DataType::Int(64)) return Scalar<int64_t>(dtype, object.cast<int64_t>());
    return Scalar<int32_t>(DataType::Int(32), object.cast<int32_t>());
  }
  if (py::isinstance<py::float_>(object)) {
    if (dtype == DataType::Float(64)) return Scalar<double>(dtype, object.cast<double>());
    return Scalar<float>(DataType::Float(32), object.cast<float>());
  }
  return nullptr;
}

bool IsWritableTensor(py::handle object) {
  return py::isinstance<Tensor>(object) && object.cast<const Tensor&>().writable;
}

bool CanWriteTo(py::handle object) {
  if (py::isinstance<Tensor>(object)) return true;
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  return !py::reinterpret_borrow<py::buffer>(object).request().readonly;
}

void WriteTo(py::handle object, std::shared_ptr<const NDArray> value) {
  if (py::isinstance<Tensor>(object)) {
    auto& tensor = object.cast<Tensor&>();
    if (!tensor.writable) {
      // Others that have the old tensor, such as constants, keep it.
      tensor.array = std::move(value);
    } else if (value->num_bytes() > 0) {
      std::memmove(const_cast<std::byte*>(tensor.array->data()), value->data(), value->num_bytes());
    }
    return;
  }
  const py::buffer_info info = py::reinterpret_borrow<py::buffer>(object).request(/*writable=*/true);
  auto* memory = static_cast<std::byte*>(info.ptr);
  if (ElementsOf(info).swapped) {
    CopySwapped(value->data(), value->num_bytes(), static_cast<size_t>(info.itemsize), memory);
  } else if (value->num_bytes() > 0) {
    std::memcpy(memory, value->data(), value->num_bytes());
  }
}

void AddTensorType(py::module_& m) {
  py::class_<Tensor>(m, "NDArray", py::buffer_protocol(), py::dynamic_attr(),
                     "A tensor in memory. numpy.asarray(tensor) shares it.")
      .def(py::init([](const py::object& value, bool writable) {
             std::shared_ptr<const NDArray> array = TensorFromPython(value);
             if (array == nullptr) throw py::type_error("expected an array, or an object with a buffer");
             return Tensor{std::move(array), writable};
           }),
           py::arg("value"), py::arg("writable") = false)
      .def_static("_from_bytes",
                  [](const std::string& dtype, const std::vector<int64_t>& shape,
                     const std::optional<py::bytes>& bytes) {
                    const std::optional<DataType> known = DataType::Parse(dtype);
                    if (!known) throw py::value_error(fmt::format("'{}' is not a dtype", dtype));
                    auto array = NDArray::Make(*known, shape);
                    if (!bytes) return Tensor{std::move(array), true};
                    const std::string_view data(*bytes);
                    if (array->num_bytes() != data.size()) throw py::value_error("the bytes are not those of the shape");
                    if (!data.empty()) std::memcpy(array->mutable_data(), data.data(), data.size());
                    return Tensor{std::move(array), true};
                  })
      .def_static("_from_dlpack", [](const py::object& source) { return Tensor{FromDlpack(source), true}; })
      .def("_bytes",
           [](const Tensor& tensor) {
             return py::bytes(reinterpret_cast<const char*>(tensor.array->data()), tensor.array->num_bytes());
           })
      .def("_write", [](const py::object& self, const Tensor& value) { WriteTo(self, value.array); })
      .def_property_readonly("_writable", [](const Tensor& tensor) { return tensor.writable; })
      .def("__dlpack__", [](const Tensor& tensor, const py::kwargs&) { return ToDlpack(tensor.array); })
      .def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(1, 0); })
      .def_buffer([](const Tensor& tensor) { return BufferOf(tensor); })
      .def_property_readonly("dtype", [](const Tensor& tensor) { return tensor.array->dtype().ToString(); })
      .def_property_readonly("shape",
                             [](const Tensor& tensor) {
                               py::tuple shape(tensor.array->shape().size());
                               for (size_t i = 0; i < shape.size(); ++i) shape[i] = tensor.array->shape()[i];
                               return shape;
                             })
      .def("__eq__", [](const Tensor& a, const Tensor& b) { return *a.array == *b.array; })
      .def("__hash__", [](const Tensor& tensor) { return tensor.array->Hash(); })
      .def("__repr__", &DescribeTensor);
}

}  // namespace iropt::python
