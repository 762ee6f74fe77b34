// Calls the function that a run begins with.
#pragma once

#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/execution/entry.h"

namespace iropt {

// The size of the memory of the machine, which a tensor must not exceed.
size_t PhysicalMemory();

// Calls the function of the entry on values of its inputs; `run` names the executor of PrimFuncs. What goes wrong is
// reported. The results of a PrimFunc are the tensors that it writes; without any, its return value. Uninitialized
// elements of them are an error.
Result<HostValue> CallEntry(const Module& module, const Entry& entry, std::vector<HostValue> values,
                            DiagnosticEngine& diagnostics, const RunOptions& run);

}  // namespace iropt
