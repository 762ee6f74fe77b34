// What reading and printing pipelines share.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "iropt/pass/pipeline.h"
#include "word.h"

namespace iropt {

// Words that are no names of passes.
inline constexpr std::array<std::string_view, 4> kPipelineKeywords = {"Sequential", "default", "fixpoint", "repeat"};

// Whether a pipeline string takes the name of a pass without quotes.
inline bool IsBareName(std::string_view name) {
  return IsWord(name) && std::ranges::find(kPipelineKeywords, name) == kPipelineKeywords.end();
}

// Reads a text that no source has as it is; everything in it is located at `whole`.
std::optional<Pipeline> ParsePipelineAt(std::string_view text, SourceSpan whole, DiagnosticEngine& diagnostics);

// Reads the contents of a quoted string of a source.
std::optional<Pipeline> ParseEmbeddedPipeline(std::string_view text, SourceSpan quoted, DiagnosticEngine& diagnostics);

}  // namespace iropt
