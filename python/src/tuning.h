// Candidates for schedules, and records of measured ones in a tuning database.
#pragma once

#include <pybind11/pybind11.h>

namespace iropt::python {

void AddTuning(pybind11::module_& m);

}  // namespace iropt::python
