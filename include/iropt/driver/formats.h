// Input and output formats of modules. A new one is a folder and a row in formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/file.h"
#include "iropt/support/result.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {

struct InputFormat {
  std::string_view name;                         // its name for -x
  std::span<const std::string_view> extensions;  // of files, with the dot
  // Returns whether the text, or the bytes, are certainly in this format. Null if the contents do not show it.
  bool (*sniff)(std::string_view text);
  // As ParseModule.
  std::optional<Module> (*parse)(std::string_view text, uint32_t base, const ParseOptions& options,
                                 DiagnosticEngine& diagnostics);
};

struct OutputFormat {
  std::string_view name;
  // As PrintModule.
  void (*print)(const Module& module, const PrintOptions& options, OutputStream& out);
};

// The first row is the default for input.
std::span<const InputFormat> InputFormats();
// The first row is the default for output.
std::span<const OutputFormat> OutputFormats();

// The format of that name. Fails with ErrorCode::Usage and lists all names.
Result<const InputFormat*> FindInputFormat(std::string_view name,
                                           std::span<const InputFormat> formats = InputFormats());
// The same for output, of which the name is known.
const OutputFormat& FindOutputFormat(std::string_view name);
// The format that has the extension of the file, else the first one that recognizes the text, else the first one.
const InputFormat& DetectInputFormat(std::string_view path, std::string_view text,
                                     std::span<const InputFormat> formats = InputFormats());

}  // namespace iropt
