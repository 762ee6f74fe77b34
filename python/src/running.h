// Running functions on tensors, and comparing what modules compute.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddRunning(pybind11::module_& m);

}  // namespace iropt::python
