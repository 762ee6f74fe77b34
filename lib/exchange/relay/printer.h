// Writes a module as Relay text.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/file.h"

namespace iropt::relay {

// False after errors: what Relay lacks is reported, once for each place. Reading the text gives the module back, up to
// the names of what is bound and the division into blocks.
bool PrintModule(const Module& module, OutputStream& out, DiagnosticEngine& diagnostics);

}  // namespace iropt::relay
