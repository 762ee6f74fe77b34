// PrimFuncs as TVM's JSON of object graphs: the workloads of tuning databases.
#pragma once

#include <string>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/result.h"

namespace iropt::schedule {

// The module with the function under the name "main", as TVM 0.18 writes it. Statements and attributes that
// ReadWorkload does not read are errors. O(nodes).
Result<std::string> WriteWorkload(const PrimFunc& func);

}  // namespace iropt::schedule
