// The user's own legalizations: PrimFuncs by the names of operators.
#pragma once

#include "iropt/pass/pass_options.h"
#include "iropt/transform/relax/lowering/legalize_ops.h"

namespace iropt {

// Reads the options `file` and `customize_legalize_map` of LegalizeOps into options of the transformation. Errors are
// reported.
void ReadCustomLegalizations(const PassOptions& options, LegalizeOptions& legalize);

}  // namespace iropt
