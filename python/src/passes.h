// Passes, contexts and instruments in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddPasses(pybind11::module_& m);

}  // namespace iropt::python
