// The choice of number formats for operators.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddPrecision(pybind11::module_& m);

}  // namespace iropt::python
