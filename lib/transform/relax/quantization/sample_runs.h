// Runs of a function on samples of its inputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/module.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

// The arguments of one run.
using Sample = std::vector<HostValue>;

// The samples in files of named tensors, one in each file: a tensor for each parameter, by its name or the one that the
// model has for it. Fails without a report.
Result<std::vector<Sample>> ReadSamples(const Function& function, const std::vector<std::string>& paths);

// Runs the function on each sample. The observer is told of the parameters, too. Fails with a report.
Status RunSamples(const Module& module, const Function& function, const std::vector<Sample>& samples,
                  RunObserver& observer, DiagnosticEngine& diagnostics);

}  // namespace iropt
