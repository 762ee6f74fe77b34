// Plugins named by the command line and by pipeline files.
#pragma once

#include <span>
#include <string>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Loads the plugins of the command line.
Status LoadPlugins(std::span<const std::string> paths, PassRegistry& registry);

// Loads those of a pipeline file, whose paths start from the folder of the file. Reports each that cannot be loaded.
Status LoadPluginsOf(const PipelineFile& file, const std::string& file_path, PassRegistry& registry,
                     DiagnosticEngine& diagnostics);

}  // namespace iropt
