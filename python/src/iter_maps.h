// Maps of iterators and of indices in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddIterMaps(pybind11::module_& m);

}  // namespace iropt::python
