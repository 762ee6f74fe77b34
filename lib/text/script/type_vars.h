// Symbolic variables of a signature that the text declares by name, as TVM 0.27 does: n = TypeVar("n") before the
// functions, and def f[n](...) (PEP 695).
#pragma once

#include <string_view>
#include <vector>

#include "parser_core.h"

namespace iropt::text {

// Returns whether the statement at the current token is `name = TypeVar(...)`.
bool AtTypeVar(const ParserCore& reader);
// Reads that statement, whose name is then declared for all functions of the text. False after an error.
bool ReadTypeVar(ParserCore& reader);
// After the name of a function: the names in `[m, n]`, if any, and those of the TypeVars that occur in the rest of the
// header. False after an error. O(header * TypeVars).
bool ReadTypeParams(ParserCore& reader, std::vector<std::string_view>& names);

}  // namespace iropt::text
