// Loading plugins, which plugin.h describes.
#pragma once

#include <string>

#include "iropt/pass/registry.h"
#include "iropt/support/result.h"

namespace iropt {

// Loads a plugin and lets it add to the registry, all or nothing. A plugin that the registry has already is not loaded
// again. The shared object stays in memory until the process ends. A path without a slash is that of a file in the
// current folder, or else found as the system finds libraries.
//
// Fails with ErrorCode::Usage if the file is missing or not a plugin, was built for another version or configuration,
// or adds names that are taken, and with ErrorCode::PassFailed if its code throws.
Status LoadPassPlugin(const std::string& path, PassRegistry& registry);

}  // namespace iropt
