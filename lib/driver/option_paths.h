// The files that options of passes name.
#pragma once

#include <filesystem>

#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Makes the paths in options of passes start from the folder where they are relative. Which options are paths, the
// registry knows; passes that it does not have are left alone.
void ResolveOptionPaths(Pipeline& pipeline, const PassRegistry& registry, const std::filesystem::path& folder);

// Reports every option that names a file which is not there; false then.
bool CheckOptionPaths(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics);

}  // namespace iropt
