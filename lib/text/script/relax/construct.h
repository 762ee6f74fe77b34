// R.const, R.shape, R.prim_value and the other script functions that are not operators.
#pragma once

#include <string_view>

#include "expr_parser.h"

namespace iropt::text {

// Reads the call of R.name, which was read; `known` says whether it is one of them. False after an error.
bool ParseConstructor(RelaxExprParser& p, std::string_view name, uint32_t begin, PyValue& out, bool& known);
// A type or a list of types. Null after an error.
const TupleType* TypeArguments(RelaxExprParser& p, const PyValue& value);

}  // namespace iropt::text
