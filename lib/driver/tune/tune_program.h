// Tuning databases in the pipeline of a program, and the search that fills them.
#pragma once

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/observe/progress.h"
#include "iropt/pass/registry.h"

namespace iropt {

// The options for the pipeline, as OptionsForLoops gives them; with a database, its records come before the rules.
DriverOptions OptionsWithDatabase(const ProgramOptions& options, const PassRegistry& registry);

// Fills the database if the options ask for it. Fails with ErrorCode::Usage if they have a database and the passes of
// the program schedule no loops.
Status TuneProgram(CompilerInstance& compiler, const ProgramOptions& options, StepProgress& progress);

}  // namespace iropt
