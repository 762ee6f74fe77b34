#include "iropt/exchange/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "iropt/support/edit_distance.h"
#include "iropt/support/extension.h"
#include "iropt/support/shared_object.h"
#include "iropt/support/version.h"

namespace iropt {

namespace {

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
               fmt::format("unknown {} format '{}'{}", what, name, DidYouMeanOr(": expected one of ", name, names))};
}

Error CannotLoad(const FormatRow& row, std::string_view reason) {
  return {ErrorCode::Usage, fmt::format("cannot load the format '{}': {}", row.name, reason)};
}

}  // namespace

Result<Module> Format::Read(const ReadRequest& /*request*/, DiagnosticEngine& /*diagnostics*/) const {
  return Error{ErrorCode::Usage, "modules cannot be read from this format"};
}

Status Format::Write(const Module& /*module*/, const WriteRequest& /*request*/, OutputStream& /*out*/,
                     DiagnosticEngine& /*diagnostics*/) const {
  return Error{ErrorCode::Usage, "modules cannot be written in this format"};
}

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
