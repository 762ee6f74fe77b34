// New nodes from values of Python.
#pragma once

#include "node.h"

namespace iropt::python {

void AddNodeMaking(py::module_& m);

}  // namespace iropt::python
