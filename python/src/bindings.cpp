// The extension module iropt._iropt: what the Python sources of the package are made of.
#include <pybind11/pybind11.h>

#include "analyses.h"
#include "errors.h"
#include "graph_builder.h"
#include "iropt/support/version.h"
#include "make_node.h"
#include "module.h"
#include "node.h"
#include "passes.h"
#include "running.h"
#include "schedule.h"
#include "tensor.h"

PYBIND11_MODULE(_iropt, m) {
  m.doc() = "The library of ir-opt.";
  m.attr("__version__") = IROPT_VERSION;
  iropt::python::AddErrors(m);
  iropt::python::AddNodeType(m);
  iropt::python::AddTensorType(m);
  iropt::python::AddNodeMaking(m);
  iropt::python::AddModuleType(m);
  iropt::python::AddPasses(m);
  iropt::python::AddGraphBuilding(m);
  iropt::python::AddAnalyses(m);
  iropt::python::AddRunning(m);
  iropt::python::AddSchedules(m);
}
