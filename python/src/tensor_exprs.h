// Tensor expressions: from the stages that Python has to a PrimFunc.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddTensorExprs(pybind11::module_& m);

}  // namespace iropt::python
