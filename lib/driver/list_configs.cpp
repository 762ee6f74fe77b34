#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "iropt/driver/driver.h"
#include "iropt/support/file.h"
#include "iropt/transform/passes.h"

namespace iropt {

namespace {

constexpr size_t kNameWidth = 52;

// "KEY=DEFAULT  meaning, type"; the fields of a record follow it under their paths.
void RenderConfig(const OptionSpec& spec, const std::string& path, std::string& out) {
  if (spec.type == OptionType::Record) {
    out += fmt::format("{:<{}}  {}\n", path, kNameWidth, spec.summary);
    for (const OptionSpec& field : spec.fields) RenderConfig(field, path + '.' + field.name, out);
    return;
  }
  const std::string name = fmt::format("{}={}", path, ToString(spec.default_value));
  const std::string gap = name.size() > kNameWidth ? fmt::format("\n{:{}}", "", kNameWidth) : "";
  out += fmt::format("{}{:<{}}  {}, {}\n", name, gap, gap.empty() ? kNameWidth - name.size() : 0, spec.summary,
                     OptionTypeName(spec.type));
}

}  // namespace

int ListConfigs() {
  PassRegistry registry;
  Status registered = RegisterAllPasses(registry);
  IROPT_CHECK(registered.ok(), "{}", registered.error().message);
  std::string text;
  for (const auto& [key, spec] : registry.configs()) RenderConfig(spec, key, text);
  OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const Status written = out.Flush();
  if (written.ok()) return 0;
  OutputStream(STDERR_FILENO).Append(fmt::format("error: {}\n", written.error().message));
  return ExitCode(written.error().code);
}

}  // namespace iropt
