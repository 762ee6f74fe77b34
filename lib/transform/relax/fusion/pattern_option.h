// Patterns of expressions as JSON, for options of passes:
//
//   {"op": "nn.relu", "args": [{"op": "matmul", "args": ["*", "const"]}]}
//
//   "*"      any expression
//   "const"  a constant
//   "var"    a variable from outside of the dataflow block
//   {"op": NAME}              a call of the operator, with further keys:
//       "args": [PATTERN...]    these operands; any operands if the key is missing
//       "commutative": true     two operands in either order
//       "attrs": {NAME: VALUE}  attributes with these values
//   {"tuple": [PATTERN...]}   a tuple
//   {"item": PATTERN}         an item of a tuple; with "index": only this one
//   {"any_of": [PATTERN...]}  the first one that matches
//
// An object may also have "dtype": "float32", "rank": 2, "shape": [4, "*"], conditions on the tensor, "used_once":
// true, so that nothing else uses the result, and "name": patterns of one name are the same expression, so the others
// may be written as {"name": "x"} alone.
#pragma once

#include <optional>
#include <string>

#include "iropt/ir/relax/pattern.h"
#include "iropt/pass/option_value.h"

namespace iropt {

struct PatternOptionError {
  SourceSpan span;
  std::string message;
};

// The pattern; nothing with an error.
std::optional<Pattern> ReadPatternOption(const OptionValue& value, PatternOptionError& error);

}  // namespace iropt
