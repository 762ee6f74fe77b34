// Pipeline strings within other texts.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/pass/pipeline.h"

namespace iropt {

// Reads the contents of a quoted string of a source.
std::optional<Pipeline> ParseEmbeddedPipeline(std::string_view text, SourceSpan quoted, DiagnosticEngine& diagnostics);

}  // namespace iropt
