#include "iropt/driver/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/support/extension.h"
#include "iropt/support/shared_object.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

constexpr std::string_view kScriptExtensions[] = {".ir", ".py"};
constexpr std::string_view kDotExtensions[] = {".dot", ".gv"};
constexpr std::string_view kRelayExtensions[] = {".relay"};

// A text of Relay begins with its version, which TVM 0.6 writes as v0.0.4, or with a function.
bool IsRelay(std::string_view contents) {
  contents.remove_prefix(std::min(contents.find_first_not_of(" \t\r\n"), contents.size()));
  return contents.starts_with("#[version") || contents.starts_with("v0.0.") || contents.starts_with("def @");
}

// A varint of protobuf, which is taken from the front; nullopt if there is none.
std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// A ModelProto: its version and its graph are among its fields, and no others are there than it has. The graph may be
// cut off.
bool IsOnnx(std::string_view contents) {
  constexpr uint64_t kNumbers = 1 << 1 | 1 << 5;  // ir_version, model_version
  constexpr uint64_t kParts =
      1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 14 | 1 << 20 | 1 << 25 | 1 << 26;
  uint64_t seen = 0;
  while (!contents.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(contents);
    const uint64_t field = tag.value_or(0) >> 3;
    const uint64_t wire = tag.value_or(0) & 7;
    if (!tag || field > 26 || ((wire == 0 ? kNumbers : wire == 2 ? kParts : 0) >> field & 1) == 0) return false;
    const std::optional<uint64_t> value = TakeVarint(contents);
    if (!value) return false;
    if (wire == 2) contents.remove_prefix(std::min<uint64_t>(*value, contents.size()));
    seen |= uint64_t{1} << field;
  }
  constexpr uint64_t kNeeded = 1 << 1 | 1 << 7;
  return (seen & kNeeded) == kNeeded;
}
constexpr std::string_view kOnnxExtensions[] = {".onnx"};

constexpr FormatRow kFormats[] = {
    {.name = "tvmscript", .extensions = kScriptExtensions, .built_in = &ScriptFormat},
    {.name = "dot", .extensions = kDotExtensions, .reads = false, .built_in = &DotFormat},
    {.name = "relay",
     .extensions = kRelayExtensions,
     .sniff = &IsRelay,
     .weights_are_parameters = true,
     .library = "libiropt_relay.so"},
    {.name = "onnx", .extensions = kOnnxExtensions, .sniff = &IsOnnx, .is_text = false, .library = "libiropt_onnx.so"},
};

bool HasExtensionOf(const FormatRow& format, std::string_view path) {
  return std::ranges::any_of(format.extensions,
                             [&](std::string_view extension) { return HasExtension(path, extension); });
}

Result<const FormatRow*> FindFormat(std::string_view name, std::span<const FormatRow> formats, bool FormatRow::*use,
                                    std::string_view what) {
  std::vector<std::string_view> names;
  for (const FormatRow& format : formats) {
    if (!(format.*use)) continue;
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return Error{ErrorCode::Usage,
               fmt::format("unknown {} format '{}': expected one of {}", what, name, fmt::join(names, ", "))};
}

Error CannotLoad(const FormatRow& row, std::string_view reason) {
  return {ErrorCode::Usage, fmt::format("cannot load the format '{}': {}", row.name, reason)};
}

}  // namespace

std::span<const FormatRow> Formats() { return kFormats; }

Result<const FormatRow*> FindInputFormat(std::string_view name, std::span<const FormatRow> formats) {
  return FindFormat(name, formats, &FormatRow::reads, "input");
}

Result<const FormatRow*> FindOutputFormat(std::string_view name, std::span<const FormatRow> formats) {
  return FindFormat(name, formats, &FormatRow::writes, "output");
}

const FormatRow& DetectInputFormat(std::string_view path, std::string_view contents,
                                   std::span<const FormatRow> formats) {
  for (const FormatRow& format : formats) {
    if (format.reads && HasExtensionOf(format, path)) return format;
  }
  for (const FormatRow& format : formats) {
    if (format.reads && format.sniff != nullptr && format.sniff(contents)) return format;
  }
  return formats.front();
}

const FormatRow& DetectOutputFormat(std::string_view path, std::span<const FormatRow> formats) {
  for (const FormatRow& format : formats) {
    if (format.writes && HasExtensionOf(format, path)) return format;
  }
  return formats.front();
}

Result<const Format*> LoadFormat(const FormatRow& row) {
  if (row.built_in != nullptr) return &row.built_in();
  const Result<void*> object = OpenSharedObject(row.library);  // the loader knows which objects are loaded already
  if (!object.ok()) return CannotLoad(row, object.error().message);
  const auto entry = reinterpret_cast<const FormatLibrary* (*)()>(FindSymbol(*object, kFormatEntryPoint));
  if (entry == nullptr) return CannotLoad(row, fmt::format("{} does not have {}", row.library, kFormatEntryPoint));
  const FormatLibrary* library = entry();
  if (std::string_view(library->version) != IROPT_VERSION) {
    return CannotLoad(row, fmt::format("{} is of version {}, this program is of version {}", row.library,
                                       library->version, IROPT_VERSION));
  }
  return library->format;
}

}  // namespace iropt
