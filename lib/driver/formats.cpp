#include "iropt/driver/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "iropt/support/check.h"
#include "iropt/text/dot/printer.h"

namespace iropt {

namespace {

constexpr std::string_view kScriptExtensions[] = {".ir", ".py"};

constexpr InputFormat kInputFormats[] = {
    {.name = "tvmscript", .extensions = kScriptExtensions, .sniff = nullptr, .parse = &ParseModule},
};

constexpr OutputFormat kOutputFormats[] = {
    {.name = "tvmscript", .print = &PrintModule},
    {.name = "dot", .print = &PrintDot},
};

bool HasExtension(const InputFormat& format, std::string_view path) {
  return std::ranges::any_of(format.extensions, [&](std::string_view extension) { return path.ends_with(extension); });
}

}  // namespace

std::span<const InputFormat> InputFormats() { return kInputFormats; }
std::span<const OutputFormat> OutputFormats() { return kOutputFormats; }

Result<const InputFormat*> FindInputFormat(std::string_view name, std::span<const InputFormat> formats) {
  const auto at = std::ranges::find(formats, name, &InputFormat::name);
  if (at != formats.end()) return &*at;
  std::vector<std::string_view> names;
  for (const InputFormat& format : formats) names.push_back(format.name);
  return Error{ErrorCode::Usage,
               fmt::format("unknown input format '{}': expected one of {}", name, fmt::join(names, ", "))};
}

const OutputFormat& FindOutputFormat(std::string_view name) {
  const auto at = std::ranges::find(kOutputFormats, name, &OutputFormat::name);
  IROPT_CHECK(at != std::ranges::end(kOutputFormats), "output format '{}'", name);
  return *at;
}

const InputFormat& DetectInputFormat(std::string_view path, std::string_view text,
                                     std::span<const InputFormat> formats) {
  for (const InputFormat& format : formats) {
    if (HasExtension(format, path)) return format;
  }
  for (const InputFormat& format : formats) {
    if (format.sniff != nullptr && format.sniff(text)) return format;
  }
  return formats.front();
}

}  // namespace iropt
