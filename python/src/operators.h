// Operators of Relax that programs of Python add.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddOperators(pybind11::module_& m);

}  // namespace iropt::python
