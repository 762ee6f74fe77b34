// New nodes from values of Python.
#pragma once

#include <string_view>

#include "iropt/op/op.h"
#include "node.h"

namespace iropt::python {

// The operator of this name. Raises KeyError for others.
const OpInfo& OpNamed(std::string_view name);

void AddNodeMaking(py::module_& m);

}  // namespace iropt::python
