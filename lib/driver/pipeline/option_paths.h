// The files that options of passes name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "iropt/pass/pipeline.h"
#include "iropt/pass/registry.h"

namespace iropt {

// Resolves relative paths in options of passes against the folder. The registry knows which options are paths; unknown
// passes are skipped.
void ResolveOptionPaths(Pipeline& pipeline, const PassRegistry& registry, const std::filesystem::path& folder);

// A file that an option of a pass names.
struct OptionFile {
  std::string owner;  // in messages: "option 'file' of pass 'RewriteByRules'"
  std::string path;
};

// The existing files that options of passes name. Plugins need not say which of their options are paths, so each string
// in an option of theirs counts that is the path of a file.
std::vector<OptionFile> FilesOfOptions(const Pipeline& pipeline, const PassRegistry& registry);

// Reports every option that names a missing file; false then.
bool CheckOptionPaths(const Pipeline& pipeline, const PassRegistry& registry, DiagnosticEngine& diagnostics);

}  // namespace iropt
