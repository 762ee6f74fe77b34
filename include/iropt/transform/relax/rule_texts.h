// The rules of RewriteByRules as functions, for tools that look into them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/text_reader.h"

namespace iropt {

// A rule: the function has its variables as parameters and returns the pattern and the replacement.
struct RuleText {
  std::string name;
  Module module;
  const Function* function = nullptr;  // of the module
  std::vector<PassChange> changes = {};
  SourceSpan span = {};
  std::string values = {};  // of the names of the rule, for which there are several functions
};

// The rules of a file, see docs/rewriting.md. Nothing after an error, which was reported.
std::optional<std::vector<RuleText>> ReadRuleTexts(const std::string& path, const TextReader& reader,
                                                   DiagnosticEngine& diagnostics);

}  // namespace iropt
