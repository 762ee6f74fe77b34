// Targets as options of passes and as settings.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/target.h"
#include "iropt/pass/option_value.h"

namespace iropt {

// The target that a value describes: a text as ParseTarget takes it, a text that is a JSON object, or an object, such
// as
// {"kind": "llvm", "mcpu": "skylake"}. Reports an error at the value, or in it if the value is the whole text of its
// source; null then.
const TargetAttr* ReadTarget(const OptionValue& value, DiagnosticEngine& diagnostics);

}  // namespace iropt
