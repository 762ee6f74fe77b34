// The steps that separate the code of host and device: each is a pass, and tir.SplitHostDevice can run all of them.
#pragma once

#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

// States the target of the parts of the function that run on the device. Null after an error.
const PrimFunc* AnnotateDeviceRegions(const PrimFunc* func, Workspace& workspace, DiagnosticEngine& diagnostics);

// Launches functions for other devices as kernels. If `runs_on_host`, a function whose target has a host runs there.
Result<Module> LowerDeviceKernelLaunches(Module module, bool runs_on_host, DiagnosticEngine& diagnostics);

}  // namespace iropt
