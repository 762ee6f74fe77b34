#include "iropt/driver/load_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/instruments/table.h"
#include "iropt/pass/load_plugin.h"

namespace iropt {

namespace {

std::string PathNextTo(const std::string& file_path, const std::string& path) {
  // A name without a slash may also be found on the system's library path.
  const std::filesystem::path path_next_to = std::filesystem::path(file_path).parent_path() / path;
  std::error_code error;
  const bool bare = path.find('/') == std::string::npos && !std::filesystem::exists(path_next_to, error);
  return bare ? path : std::filesystem::absolute(path_next_to, error).string();
}

// The built-in instruments of the driver are not in the registry.
Status CheckInstruments(const std::string& path, const PassRegistry& registry) {
  for (const OwnInstrument& own : OwnInstruments()) {
    if (!registry.instruments().contains(std::string(own.name))) continue;
    return Error{ErrorCode::Usage,
                 fmt::format("cannot load plugin '{}': there is already an instrument '{}'", path, own.name)};
  }
  return {};
}

Status Load(const std::string& path, PassRegistry& registry) {
  IROPT_RETURN_IF_ERROR(LoadPassPlugin(path, registry));
  return CheckInstruments(path, registry);
}

}  // namespace

Status LoadPlugins(std::span<const std::string> paths, PassRegistry& registry) {
  for (const std::string& path : paths) IROPT_RETURN_IF_ERROR(Load(path, registry));
  return {};
}

Status LoadPluginsOf(const PipelineFile& file, const std::string& file_path, PassRegistry& registry,
                     DiagnosticEngine& diagnostics) {
  std::optional<ErrorCode> failure;
  for (const LocatedName& plugin : file.plugins) {
    Status loaded = Load(PathNextTo(file_path, plugin.name), registry);
    if (loaded.ok()) continue;
    if (!loaded.error().reported()) diagnostics.Error(plugin.span, "plugin", loaded.error().message);
    if (!failure) failure = loaded.error().code;
  }
  if (failure) return Failure{*failure};
  return {};
}

}  // namespace iropt
