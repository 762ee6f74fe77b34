// PrimFuncs in TVM's JSON of object graphs: the workloads of tuning databases.
#pragma once

#include "iropt/ir/module.h"
#include "iropt/support/result.h"
#include "object_graph.h"

namespace iropt::schedule {

// The only function of the module that is the root of the graph. Its attributes have the names that functions of
// modules have, whatever the version; its type is not set. Statements that workloads do not have, such as allocations,
// are errors. O(nodes).
Result<ModuleEntry> ReadWorkload(const ObjectGraph& graph);

}  // namespace iropt::schedule
