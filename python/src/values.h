// From values of Python to values of the IR.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/option_value.h"
#include "iropt/support/text_version.h"
#include "node.h"
#include "session.h"

namespace iropt::python {

// All of these throw py::type_error or py::value_error with a message that says what was expected.

// The characters of a text; they live as long as it.
std::string_view TextOf(py::handle value);
// "float32", numpy.float32, numpy.dtype("float32"), a class of Python (int, float, bool); None is void.
DataType ToDType(py::handle value);
// A version of TVM, such as "0.18".
TextVersion ToVersion(std::string_view text);
// A scalar expression: a node, a number (an integer gets `int_dtype`), a text, an iteration variable; None for null.
const PrimExpr* ToPrim(py::handle value, Build& build, DataType int_dtype = DataType::Int(32));
// As ToPrim and ToType, but None is an error.
const PrimExpr* RequiredPrim(py::handle value, Build& build, DataType int_dtype = DataType::Int(32));
const Type* RequiredType(py::handle value, Build& build);
// A scalar expression that a type may have: without variables of a function.
const PrimExpr* ToDim(py::handle value, Build& build);
// A Relax expression: a node, or None for null; numbers, texts, tuples and tensors become literals.
const Expr* ToExpr(py::handle value, Build& build);
// An attribute: numbers, texts, lists, dictionaries, types, expressions, attribute nodes; None for NoneAttr.
const Attr* ToAttr(py::handle value, Build& build);
const DictAttr* ToDictAttr(py::handle value, Build& build);
// A type; None for null.
const Type* ToType(py::handle value, Build& build);
// The node of an object with what it needs kept by the build; None for null. `what` says what was expected.
const Node* ToNode(py::handle value, Build& build, std::string_view what = "a node");

// Options of passes and configuration: what JSON has; tensors, types and other nodes as the text that passes take.
OptionValue ToOption(py::handle value);
py::object FromOption(const OptionValue& value);

// "an int", "a Call": for messages.
std::string DescribeObject(py::handle value);

}  // namespace iropt::python
