// Rewriting rules that are written as text of the language, see docs/rewriting.md.
#pragma once

#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/pass_info.h"
#include "iropt/pass/text_reader.h"
#include "iropt/transform/relax/rule_texts.h"

namespace iropt {

struct TextRules {
  RuleSet rules;
  std::vector<PassChange> changes = {};  // that the rules make on purpose, each once
  std::vector<RuleText> texts = {};
};

// Adds a rule from its description, {"name", "variables", "pattern", "replacement", "changes"}. False after an error,
// which is reported at `span`.
bool AddTextRule(const OptionValue& description, const TextReader& reader, SourceSpan span,
                 DiagnosticEngine& diagnostics, TextRules& rules);

}  // namespace iropt
