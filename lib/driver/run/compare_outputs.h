// Comparison of the outputs of a run with expected ones.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/execution/tolerance.h"
#include "iropt/runtime/value.h"

namespace iropt {

// Tells that something was not compared: a warning, or an error with ErrorCode::SemanticCheck if the options require
// it.
Status TellNotCompared(std::string message, const ProgramOptions& options, CompilerInstance& compiler);

// Compares the tensors of the value, with their names, with the expected ones, and reports each difference, with `hint`
// as a note unless it is empty, and what was not compared. Prints the errors of the outputs that agree to stderr.
// `source` names the expected ones in messages, and `precision` is that of the run that gave the value.
Status CompareOutputs(const HostValue& value, const std::vector<NamedTensor>& outputs,
                      const std::vector<NamedTensor>& expected, const std::string& source,
                      const RunPrecision& precision, const std::string& hint, const ProgramOptions& options,
                      CompilerInstance& compiler);

}  // namespace iropt
