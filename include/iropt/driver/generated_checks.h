// -generate-checks: the FileCheck lines of a test, from the output of its command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// Fails unless FileCheck takes the text as a prefix of its lines.
Status CheckCheckPrefix(std::string_view prefix);

// The text of the test with other FileCheck lines of this prefix: those that it has are removed, and a line for each
// line of the module `output` is added where the first of them was; else after the last RUN line; else at the top.
// The definitions of functions become PREFIX-LABEL lines. The metadata section has no lines. All other lines stay, so
// that a second run changes nothing. O(size of both).
std::string RenewChecks(std::string_view test, std::string_view output, std::string_view prefix);

// Warns if the metadata section of the module has arrays that could be in the text, and so in the checks: of more than
// `inline_constants` elements and not of many. O(expressions).
void WarnOfUncheckedValues(const Module& module, int64_t inline_constants, DiagnosticEngine& diagnostics);

}  // namespace iropt
