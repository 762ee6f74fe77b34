// Calls of Relax that Relay writes with operands that are constants in place of attributes or shapes.
#pragma once

#include "iropt/ir/module.h"
#include "written_ops.h"

namespace iropt::relay {

std::optional<WrittenCall> WriteCollapseSumTo(const Call& call, Workspace& workspace);
std::optional<WrittenCall> WriteGetValidCounts(const Call& call, Workspace& workspace);
std::optional<WrittenCall> WriteNonMaxSuppression(const Call& call, Workspace& workspace);

}  // namespace iropt::relay
