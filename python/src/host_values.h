// Values of runs in Python: tensors, numbers, texts, shapes, tuples, functions, and every other object as itself.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <string>

#include "iropt/runtime/value.h"
#include "module.h"

namespace iropt::python {

namespace py = pybind11;

// The value of an object. One that is not a value of the library is carried through a run as an opaque one.
HostValue ToHost(py::handle value);
py::object FromHost(const HostValue& value);

// The functions of Python that runs have as values, by the names under which runs call them.
const std::map<std::string, PyObject*>& PythonCallables();

// While it lives, functions that this thread gives to Python are those of the module.
class RunningModule {
 public:
  explicit RunningModule(const PyModule& module);
  ~RunningModule();
  RunningModule(const RunningModule&) = delete;
  RunningModule& operator=(const RunningModule&) = delete;

 private:
  const PyModule* outer_;
};

void AddHostValues(py::module_& m);

}  // namespace iropt::python
