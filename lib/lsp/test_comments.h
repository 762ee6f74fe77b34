// Comments of tests: RUN lines with pipelines, and expected diagnostics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document.h"
#include "iropt/pass/registry.h"

namespace iropt::lsp {

// The kind of problems with expectations.
inline constexpr std::string_view kExpectedDiagnostic = "expected-diagnostic";

// A command of a RUN line.
struct RunLine {
  TextSpan command;   // up to the end of the line
  TextSpan pipeline;  // the value of -passes; empty if there is none
};

// O(bytes).
std::vector<RunLine> RunLines(const TextDocument& text);

struct HoverText {
  TextSpan span;
  std::string text;  // Markdown
};
// Explains the word at the offset in a RUN line or in a pipeline file; nothing elsewhere.
std::optional<HoverText> HoverOfComment(const Document& document, uint32_t offset, const PassRegistry& registry);
// Describes the pass, named pipeline or configuration option of this name; empty if there is none.
std::string DescribePassName(std::string_view name, const PassRegistry& registry);

// Adds the problems of the pipelines of RUN lines and of the expectations of the text. Problems of the module that the
// text expects become information.
void CheckComments(const TextDocument& text, const PassRegistry& registry, std::vector<Problem>& problems);

// Adds the problems of a pipeline file.
void CheckPipelineFile(const TextDocument& text, const PassRegistry& registry, std::vector<Problem>& problems);

}  // namespace iropt::lsp
