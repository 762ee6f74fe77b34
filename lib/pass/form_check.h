// What the passes of a pipeline need of the module, held against what those before them guarantee.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/context.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Reports each pass that needs a form which is not guaranteed where it runs, with the pass that would establish it, and
// each one that requires a pass that is not registered. False where there is any. `context` says which passes run;
// without one, all do. The pipeline must hold known passes only.
bool CheckForms(const Pipeline& pipeline, const PassRegistry& registry, const PassContext* context,
                DiagnosticEngine& diagnostics);

}  // namespace iropt
