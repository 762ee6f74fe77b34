#include "load_plugins.h"

#include <fmt/format.h>

#include <filesystem>

#include "iropt/pass/plugin.h"

namespace iropt {

namespace {

std::string BesideFile(const std::string& file_path, const std::string& path) {
  // A name without a slash may also be one that the system knows where to find.
  const std::filesystem::path beside = std::filesystem::path(file_path).parent_path() / path;
  std::error_code error;
  const bool bare = path.find('/') == std::string::npos && !std::filesystem::exists(beside, error);
  return bare ? path : std::filesystem::absolute(beside, error).string();
}

}  // namespace

Status LoadPlugins(std::span<const std::string> paths, PassRegistry& registry) {
  for (const std::string& path : paths) IROPT_RETURN_IF_ERROR(LoadPassPlugin(path, registry));
  return {};
}

Status LoadPluginsOf(const PipelineFile& file, const std::string& file_path, PassRegistry& registry,
                     DiagnosticEngine& diagnostics) {
  std::optional<ErrorCode> failure;
  for (const LocatedName& plugin : file.plugins) {
    Status loaded = LoadPassPlugin(BesideFile(file_path, plugin.name), registry);
    if (loaded.ok()) continue;
    if (!loaded.error().reported()) diagnostics.Error(plugin.span, "plugin", loaded.error().message);
    if (!failure) failure = loaded.error().code;
  }
  if (failure) return Failure{*failure};
  return {};
}

}  // namespace iropt
