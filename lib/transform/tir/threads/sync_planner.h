// The places where threads must wait for each other. For tir.ThreadSync.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt {

using SyncPoints = LookupSet<const tir::Stmt*>;

// The statements before which the threads must wait because of conflicting accesses to memory of the scope. O(nodes),
// times the accesses between two of them.
SyncPoints PlanSyncs(const tir::Stmt* body, std::string_view scope, Workspace& workspace,
                     DiagnosticEngine& diagnostics);

}  // namespace iropt
