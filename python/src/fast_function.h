// Functions of the extension module that take their arguments as they come, without the dispatch of pybind11: for those
// that programs call very often.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <exception>
#include <span>

namespace iropt::python {

namespace py = pybind11;

using FastFunction = py::object (*)(std::span<PyObject* const>);

template <FastFunction function, size_t count>
PyObject* CallFastFunction(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (given != static_cast<Py_ssize_t>(count)) {
    PyErr_Format(PyExc_TypeError, "expected %zd arguments, not %zd", static_cast<Py_ssize_t>(count), given);
    return nullptr;
  }
  try {
    return function({args, count}).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "an argument is of another type than expected");
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Adds a function of `count` positional arguments.
template <FastFunction function, size_t count>
void AddFastFunction(py::module_& m, const char* name) {
  // A function refers to its definition forever.
  auto* definition = new PyMethodDef{
      name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallFastFunction<function, count>)), METH_FASTCALL, nullptr};
  m.add_object(name, py::reinterpret_steal<py::object>(PyCFunction_NewEx(definition, nullptr, m.attr("__name__").ptr())));
}

}  // namespace iropt::python
