// The instruments that check what passes do.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/pipeline.h"
#include "iropt/semantics/options.h"
#include "iropt/support/result.h"

namespace iropt {

// The options of -check-semantics and of its instrument. Reports what is wrong with them.
Result<SemanticCheckOptions> ReadSemanticCheck(const InstrumentSpec& spec, DiagnosticEngine& diagnostics);

}  // namespace iropt
