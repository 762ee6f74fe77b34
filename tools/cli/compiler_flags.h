// What the rows of diagnostic_flags.def mean to a compiler instance.
#pragma once

#include <string_view>

#include "iropt/driver/compiler_options.h"

namespace iropt {

inline void TranslateDiagnosticFlags(std::string_view diagnostics, std::string_view colour, CompilerOptions& options) {
  if (diagnostics == "json") options.diagnostics = DiagnosticFormat::Json;
  if (colour == "always") options.colour = Colour::Always;
  if (colour == "never") options.colour = Colour::Never;
}

}  // namespace iropt
