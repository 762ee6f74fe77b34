#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "iropt/driver/driver.h"
#include "iropt/support/file.h"
#include "iropt/transform/passes.h"
#include "load_plugins.h"

namespace iropt {

namespace {

std::string RenderPasses(const PassRegistry& registry) {
  size_t width = 4;
  for (const auto& [name, row] : registry.passes()) width = std::max(width, name.size());
  std::string out = fmt::format("{:<{}}  level  kind            summary\n", "pass", width);
  for (const auto& [name, row] : registry.passes()) {
    out += fmt::format("{:<{}}  {:>5}  {:<14}  {}\n", name, width, row.info.opt_level, PassKindName(row.info.kind),
                       row.summary + (row.plugin.empty() ? "" : fmt::format(" (plugin {})", row.plugin)));
    for (const OptionSpec& option : row.options) {
      out += fmt::format("{:<{}}    {}={}  {}, {}\n", "", width, option.name, ToString(option.default_value),
                         option.summary, OptionTypeName(option.type));
    }
  }
  return out;
}

}  // namespace

int ListPasses(const DriverOptions& options) {
  PassRegistry registry;
  Status registered = RegisterAllPasses(registry);
  IROPT_CHECK(registered.ok(), "{}", registered.error().message);
  Status done = LoadPlugins(options.plugins, registry);
  if (done.ok()) {
    OutputStream out(STDOUT_FILENO);
    out.Append(RenderPasses(registry));
    done = out.Flush();
  }
  if (done.ok()) return 0;
  OutputStream(STDERR_FILENO).Append(fmt::format("error: {}\n", done.error().message));
  return ExitCode(done.error().code);
}

}  // namespace iropt
