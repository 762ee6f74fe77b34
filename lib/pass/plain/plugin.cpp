// Plugins are shared objects or Python, and this build loads neither.
#include "iropt/pass/plugin.h"

#include <fmt/format.h>

#include "iropt/pass/load_plugin.h"
#include "iropt/pass/python_plugin.h"

namespace iropt {

void SetPythonPluginLoader(PythonPluginLoader) {}

Status LoadPassPlugin(const std::string& path, PassRegistry&) {
  return Error{ErrorCode::Usage, fmt::format("cannot load plugin '{}': this build loads no plugins", path)};
}

}  // namespace iropt
