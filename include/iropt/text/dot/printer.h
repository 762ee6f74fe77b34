// The dataflow of a module as a graph in the language of Graphviz. For people: it cannot be read back.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/support/file.h"
#include "iropt/text/script/printer.h"

namespace iropt {

// A node for each parameter, binding and result of a Relax function, with edges from definitions to uses. Functions and
// blocks are clusters; a PrimFunc or an external function is one node, to which dashed edges lead from its uses. Nodes
// are numbered by function and definition, in the order of the module. O(nodes).
void PrintDot(const Module& module, const PrintOptions& options, OutputStream& out);

}  // namespace iropt
