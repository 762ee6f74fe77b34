// The passes that ir-run runs so that compiled loops are fast, for the processor that it runs on.
#pragma once

#include <string>
#include <string_view>

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/ir/module.h"
#include "iropt/pass/context.h"

namespace iropt {

// The target of the processor that runs this program, as -target takes it.
std::string HostTarget();

// Returns whether levels from 3 on schedule the loops: they are to be compiled, and the program states no passes of its
// own.
bool SchedulesLoops(const ProgramOptions& options);
// The options for the pipeline: where the program states no passes of its own, levels from 3 on schedule the loops that
// are to be compiled for the processor.
DriverOptions OptionsForLoops(const ProgramOptions& options);

// Runs passes, which are not those of the program.
Result<Module> RunPasses(std::string_view passes, Module module, PassContext& context, CompilerInstance& compiler);

// Lowers the PrimFuncs that were scheduled to loops and vectors; others stay as they are.
Result<Module> LowerScheduledLoops(Module module, PassContext context, CompilerInstance& compiler);

}  // namespace iropt
