// -verify-diagnostics: comments in the input name the diagnostics that a run of ir-opt reports.
//
//   # expected-error@+1 {{unknown name 'z'}}
//         y = R.add(x, z)
//         return valeu  # expected-error {{did you mean 'value'}}
//   # expected-warning-re@unknown {{limit of {{[0-9]+}} steps}}
//
// error, warning, note and remark; a note of a diagnostic is expected by a comment of its own. The text is a part of
// the message; with -re, it may hold POSIX extended regular expressions in nested {{ }}. The line is that of the
// comment unless '@' follows: @LINE counts through the whole file, @+N and @-N from the comment, @above and @below name
// the nearest line without expectations, and @unknown is for diagnostics that are not at a line of the input: those
// without a location, or with one in a flag or another file. The notation is that of MLIR and Clang.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"

namespace iropt {

struct ExpectedDiagnostic {
  static constexpr uint32_t kUnknownLine = 0;

  Severity severity = Severity::Error;
  uint32_t line = kUnknownLine;
  std::string text = {};                       // as it is written
  std::optional<std::string> expression = {};  // the message matches it; else the text is a part of the message
  SourceSpan span = {};                        // of the comment
};

// The expectations in a text, in its order. `base` is the offset of the text in the sources, `first_line` the number of
// its first line. Reports malformed ones to `diagnostics`.
std::vector<ExpectedDiagnostic> ReadExpectations(std::string_view text, uint32_t base, uint32_t first_line,
                                                 DiagnosticEngine& diagnostics);

// Compares the diagnostics of a run on the input of that name with the expectations: each diagnostic and each of its
// notes satisfies the first fitting expectation that none has satisfied before. A note without a location is at the
// place of its diagnostic. Reports the unexpected and the missing ones to `diagnostics`; returns whether there are
// none. With `only_expected`, unexpected ones are ignored.
bool CompareDiagnostics(const std::vector<ExpectedDiagnostic>& expected, const std::vector<Diagnostic>& found,
                        bool only_expected, std::string_view input, const SourceManager& sources,
                        DiagnosticEngine& diagnostics);

}  // namespace iropt
