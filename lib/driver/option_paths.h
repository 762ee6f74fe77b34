// The files that options of passes name.
#pragma once

#include <filesystem>

#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Resolves relative paths in options of passes against the folder. The registry knows which options are paths; unknown
// passes are skipped.
void ResolveOptionPaths(Pipeline& pipeline, const PassRegistry& registry, const std::filesystem::path& folder);

// Reports every option that names a missing file; false then.
bool CheckOptionPaths(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics);

}  // namespace iropt
