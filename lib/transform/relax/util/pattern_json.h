// Patterns of Relax expressions in JSON, for pass options; docs/rewriting.md describes the form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/pattern.h"
#include "iropt/pass/option_value.h"

namespace iropt {

// A pattern, and its parts that have names, in the order in which they occur.
struct NamedPattern {
  Pattern pattern;
  std::vector<std::pair<std::string, Pattern>> parts = {};

  // Null if no part has the name.
  const Pattern* Find(std::string_view name) const;
};

// Nothing after an error, which is reported at the wrong value, or at `fallback` if that has no location.
std::optional<NamedPattern> ReadPattern(const OptionValue& value, SourceSpan fallback, DiagnosticEngine& diagnostics);

}  // namespace iropt
