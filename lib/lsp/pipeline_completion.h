// Completion in pipeline files, which are JSON.
#pragma once

#include <string>
#include <vector>

#include "iropt/lsp/text_document.h"
#include "iropt/pass/registry.h"

namespace iropt::lsp {

struct PipelineWord {
  std::string word;
  std::string detail = {};
};

// The words that may be in the string at the offset; `replaced` is set to its text up to there. None outside of
// strings.
std::vector<PipelineWord> CompletePipeline(const TextDocument& text, uint32_t offset, const PassRegistry& registry,
                                           TextSpan& replaced);

}  // namespace iropt::lsp
