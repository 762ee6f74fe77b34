// Rewriting rules that are written as text of the language, see docs/rewriting.md.
#pragma once

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/pass/option_value.h"
#include "iropt/pass/text_reader.h"

namespace iropt {

// Adds a rule from its description, {"name", "variables", "pattern", "replacement"}, to the set. False after an error,
// which is reported at `span`.
bool AddTextRule(const OptionValue& description, const TextReader& reader, SourceSpan span,
                 DiagnosticEngine& diagnostics, RuleSet& rules);

}  // namespace iropt
