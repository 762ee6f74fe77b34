// Walks over nodes, and analyses.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddAnalyses(pybind11::module_& m);

}  // namespace iropt::python
