// The extension module iropt._iropt: what the Python sources of the package are made of.
#include <pybind11/pybind11.h>

#include <string>

#include "analyses.h"
#include "errors.h"
#include "graph_builder.h"
#include "host_values.h"
#include "iropt/support/version.h"
#include "iter_maps.h"
#include "make_node.h"
#include "module.h"
#include "node.h"
#include "operators.h"
#include "passes.h"
#include "patterns.h"
#include "precision.h"
#include "running.h"
#include "schedule.h"
#include "tensor.h"
#include "tensor_exprs.h"
#include "tuning.h"

namespace {

namespace py = pybind11;

// What older protocols of pickle do with an object of a class of pybind11 ends the process.
void RefusePickling(const py::module_& m) {
  auto* base = reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(m.attr("__dict__"))) {
    if (PyType_Check(value.ptr()) == 0) continue;
    if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(value.ptr()), base) == 0) continue;
    const auto refuse = [](py::handle object) -> py::object {
      throw py::type_error(std::string("cannot pickle '") + Py_TYPE(object.ptr())->tp_name + "' object");
    };
    py::setattr(value, "__reduce__", py::cpp_function(refuse, py::name("__reduce__"), py::is_method(value)));
  }
}

}  // namespace

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
  iropt::python::AddOperators(m);
  iropt::python::AddAnalyses(m);
  iropt::python::AddIterMaps(m);
  iropt::python::AddPatterns(m);
  iropt::python::AddPrecision(m);
  iropt::python::AddHostValues(m);
  iropt::python::AddRunning(m);
  iropt::python::AddSchedules(m);
  iropt::python::AddTuning(m);
  iropt::python::AddTensorExprs(m);
  RefusePickling(m);
}
