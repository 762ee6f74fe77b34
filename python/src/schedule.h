// Schedules of modules in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddSchedules(pybind11::module_& m);

}  // namespace iropt::python
