// The text form of the configuration of a PassContext.
//
//   config := option ',' ...
//   option := KEY '=' VALUE                     VALUE is JSON, or a word in place of a string
//           | '{' "KEY" ':' VALUE, ... '}'      what "config" is in a pipeline file
//
// A key is that of a registered option; the field of a record is appended to it, as in my.UnrollLoop.max_step.
#pragma once

#include <optional>
#include <string_view>

#include "iropt/diag/diagnostic.h"
#include "iropt/pass/option_value.h"

namespace iropt {

// Reads the text of a buffer that begins at the global offset `base`. Reports the first error and then returns nothing.
// PassContext::SetConfig checks the keys.
std::optional<OptionValue::Dict> ParseConfig(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

}  // namespace iropt
