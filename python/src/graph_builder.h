// Calls of operators, and building of Relax code binding by binding.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddGraphBuilding(pybind11::module_& m);

}  // namespace iropt::python
