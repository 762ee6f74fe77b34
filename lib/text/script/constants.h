// Names that the text gives to values before its functions, as a test in Python does: n = 128, dtype = "float16",
// shape = (4, n). In functions they stand for the values.
#pragma once

#include "parser_core.h"

namespace iropt::text {

// Returns whether the statement at the current token is `name = value`.
bool AtConstant(const ParserCore& reader);
// Reads that statement. False after an error.
bool ReadConstant(ParserCore& reader);

}  // namespace iropt::text
