// Shared parts of the parser and the printer of pipelines.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "iropt/pass/pipeline.h"
#include "word.h"

namespace iropt {

// Words that are not names of passes.
inline constexpr std::array<std::string_view, 4> kPipelineKeywords = {"Sequential", "default", "fixpoint", "repeat"};

// Returns whether a pipeline string accepts the name of a pass without quotes.
inline bool IsBareName(std::string_view name) {
  return IsWord(name) && std::ranges::find(kPipelineKeywords, name) == kPipelineKeywords.end();
}

// Returns whether the word is a level, such as "O2".
inline bool IsLevel(std::string_view word) {
  return word.size() == 2 && word[0] == 'O' && word[1] >= '0' && word[1] <= '0' + kMaxOptLevel;
}

// Reads a text that does not occur literally in a source; everything in it is located at `whole`.
std::optional<Pipeline> ParsePipelineAt(std::string_view text, SourceSpan whole, DiagnosticEngine& diagnostics);

// Reads the contents of a quoted string of a source.
std::optional<Pipeline> ParseEmbeddedPipeline(std::string_view text, SourceSpan quoted, DiagnosticEngine& diagnostics);

}  // namespace iropt
