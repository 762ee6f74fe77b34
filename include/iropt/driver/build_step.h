// ir-opt as a step of a build: dependency files for Make and Ninja, and a cache of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iropt/driver/driver_options.h"

namespace iropt {

struct BuildStepOptions {
  // The folder of the cache; none: nothing is cached.
  std::optional<std::string> cache_dir = {};
  // The cache removes the results that were used longest ago when it has more bytes than these.
  uint64_t cache_bytes = uint64_t{5} << 30;
  // All that the result depends on besides the files that are read: the program with its version, and the settings.
  std::string identity = {};

  bool writes_dependencies = false;
  std::optional<std::string> dependency_file = {};    // else the output with the extension .d
  std::optional<std::string> dependency_target = {};  // else the output
};

// Runs ir-opt as RunDriver does, and returns its exit code.
//
// With a cache, a run that succeeds is kept: its output, the files next to it and its messages. A later run with the
// same identity, the same contents of the input and of all other files that the first one read (weights, rules,
// plugins, pipelines) gives these again and does nothing else; if there are such other files, in the same folders only,
// because the output may name them by their paths from there. Runs during which a file changes, results larger than a
// sixteenth of the cache, and runs that read streams or plugins in Python are not kept. A folder that
// cannot be used is a warning, later failures to write the cache are ignored. Several processes can share a cache.
//
// A dependency file is written if the run succeeds. It has one rule: the output depends on all files that were read.
//
// One input, and an output that is a file: Usage otherwise.
int RunBuildStep(const DriverOptions& options, const BuildStepOptions& build);

}  // namespace iropt
