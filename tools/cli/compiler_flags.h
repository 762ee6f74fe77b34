// The translation of the flags of diagnostic_flags.def to options of a compiler instance.
#pragma once

#include <string_view>

#include "iropt/driver/compiler_options.h"

namespace iropt {

inline DiagnosticFormat ToDiagnosticFormat(std::string_view word) {
  if (word == "json") return DiagnosticFormat::Json;
  return word == "sarif" ? DiagnosticFormat::Sarif : DiagnosticFormat::Text;
}

inline void TranslateDiagnosticFlags(std::string_view diagnostics, std::string_view colour, CompilerOptions& options) {
  options.diagnostics = ToDiagnosticFormat(diagnostics);
  if (colour == "always") options.colour = Colour::Always;
  if (colour == "never") options.colour = Colour::Never;
}

}  // namespace iropt
