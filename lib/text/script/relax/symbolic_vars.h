// Statements of Relax functions that define symbolic variables.
#pragma once

#include <span>
#include <vector>

#include "expr_parser.h"

namespace iropt::text {

// Reads the names up to the '=' of `a, b = values`. False after an error.
bool ReadTargets(ParserCore& p, std::vector<Token>& names);
// n = T.int64(), or m, n = T.int64(), I.meta_var(4): the names were read. False, with nothing read, if other values
// follow.
bool ReadSymbolicVars(RelaxExprParser& p, std::span<const Token> names);

}  // namespace iropt::text
