// Plugins that are written in Python, for programs that have an interpreter.
#pragma once

#include <string>

#include "iropt/support/result.h"

namespace iropt {

class PassRegistry;

// Adds what the plugin at a path has to a registry. May throw.
using PythonPluginLoader = Status (*)(const std::string& path, PassRegistry& registry);

// LoadPassPlugin uses this for paths that end with ".py"; without it, such a plugin is an error. Not while another
// thread loads plugins.
void SetPythonPluginLoader(PythonPluginLoader loader);

}  // namespace iropt
