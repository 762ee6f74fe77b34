// Tensors in Python: class NDArray, which shares its memory with NumPy and others through the buffer protocol.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "iropt/ir/ndarray.h"

namespace iropt::python {

namespace py = pybind11;

void AddTensorType(py::module_& m);

// A tensor of a node; None for null. The memory of one that is `writable` is written by WriteTo and by the program.
py::object TensorToPython(const NDArray* array);
py::object TensorToPython(std::shared_ptr<const NDArray> array, bool writable = false);
// The tensor of an NDArray, or of an object with a buffer, such as an array of NumPy, or a number. Null if it is
// something else. The memory of a buffer in row-major order is used as it is, unless its bytes are in another order than
// those of this machine; it must not be changed afterwards.
std::shared_ptr<const NDArray> TensorFromPython(py::handle object, DataType dtype = DataType::Void());

// As TensorFromPython, for a call: an NDArray that programs write to remains one.
std::shared_ptr<const NDArray> ArgumentFromPython(py::handle object);

// A capsule of DLPack with the memory of a tensor, and the tensor of an object that gives one.
py::object ToDlpack(const std::shared_ptr<const NDArray>& array);
std::shared_ptr<const NDArray> FromDlpack(const py::object& source);

// Returns whether WriteTo can give the object, an NDArray or one with a buffer, other elements.
// Returns whether the object is a tensor whose memory no node and no other tensor relies on.
bool IsWritableTensor(pybind11::handle object);
bool CanWriteTo(py::handle object);
// The value has the shape and the dtype of the object. The memory of a buffer, or of an NDArray that is writable, is
// written; another NDArray gets the value in place of its own.
void WriteTo(py::handle object, std::shared_ptr<const NDArray> value);

}  // namespace iropt::python
