// The Python type of IR nodes: a pointer to the node and what keeps it alive. Its subclasses, one for each row of
// node_kinds.def, are made in Python (python/iropt); their fields come from the descriptions in the node structs.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>
#include <vector>

#include "iropt/ir/node.h"
#include "session.h"

namespace iropt::python {

namespace py = pybind11;

// Adds the type Node, and the functions that Python makes its subclasses with.
void AddNodeType(py::module_& m);

// The object of a node; None for null. Under the interpreter lock, as everything here.
py::object ToPython(const Node* node, const KeepRef& keep);
py::object ToPython(const NodeRef& ref);
// Returns whether an object is a node.
bool IsNode(py::handle object);
// The node of an object, which must be one.
NodeRef GetNode(py::handle object);

// The value of an attribute in Python: a number, a text, a list, a dictionary, or the node where there is nothing like
// it.
py::object AttrToPython(const Attr* attr, const KeepRef& keep);
// A tuple of the class that lists of nodes have (iropt.ir.Array).
py::object MakeArray(std::vector<py::object> items);

// A field of a node as Python has it.
struct FieldInfo {
  std::string_view name;
  std::string_view type;  // for type stubs
  FieldRole role;
};
// The fields of a kind of node in their order.
std::vector<FieldInfo> FieldsOf(NodeKind kind);
py::object GetField(const Node* node, size_t index, const KeepRef& keep);

}  // namespace iropt::python

namespace pybind11::detail {

template <>
struct type_caster<iropt::python::NodeRef> {
  PYBIND11_TYPE_CASTER(iropt::python::NodeRef, const_name("Node"));

  bool load(handle source, bool) {
    if (!iropt::python::IsNode(source)) return false;
    value = iropt::python::GetNode(source);
    return true;
  }
  static handle cast(const iropt::python::NodeRef& ref, return_value_policy, handle) {
    return iropt::python::ToPython(ref).release();
  }
};

}  // namespace pybind11::detail
