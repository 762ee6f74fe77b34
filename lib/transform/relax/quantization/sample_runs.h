// Runs of a function on samples of its inputs.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pass_options.h"
#include "iropt/runtime/value.h"
#include "iropt/support/result.h"

namespace iropt {

// A file of named tensors, or the tensors.
struct SampleSource {
  std::string path;  // empty: the tensors are given
  std::vector<NamedTensor> tensors;
};

// The value of an option: a list of paths and of objects of arrays. Refuses others.
std::vector<SampleSource> ReadSampleSources(const PassOptions& options, const TypedOption<OptionValue>& given);

// The arguments of one run.
using Sample = std::vector<HostValue>;

// The samples of the sources: a tensor for each parameter, by its name or the one that the model has for it. Fails
// without a report.
Result<std::vector<Sample>> ReadSamples(const Function& function, const std::vector<SampleSource>& sources);

// Runs the function on each sample, and appends the results to `results` unless it is null. The observer is told of the
// parameters, too. Fails with a report.
Status RunSamples(const Module& module, const Function& function, const std::vector<Sample>& samples,
                  RunObserver& observer, DiagnosticEngine& diagnostics, std::vector<HostValue>* results = nullptr);

}  // namespace iropt
