// Patterns of expressions in Python, for iropt.relax.dpl.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

// Adds the type Pattern, its constructors, the matcher, and the pass FuseOpsByPattern with functions of Python.
void AddPatterns(pybind11::module_& m);

}  // namespace iropt::python
