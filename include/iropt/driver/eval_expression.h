// ir-opt -eval: one expression, evaluated or simplified and printed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "iropt/driver/compiler_options.h"

namespace iropt {

struct EvalRequest {
  std::string text;
  std::vector<std::string> assumptions;  // about the variables of an expression on scalars
  bool as_json = false;
};

// An expression that uses operators of Relax, such as R.add(R.const(1), R.const(2)), has no variables. It is checked by
// the type rules and evaluated; its value and its type go to stdout: an expression that reads back to the value, with
// the type as a comment.
//
// Any other expression is one on scalars, such as T.floordiv(x * 8 + y, 8). It is simplified as tir.Simplify does where
// the assumptions hold; the result goes to stdout, with what is known about it as a comment. Variables have dtype
// int32, unless an assumption declares them: n: T.int64.
//
// Returns the exit code; if it is not 0, diagnostics have said why and nothing was written. Plugins are loaded for
// their operators. Of the options, only those of diagnostics count.
int EvalExpression(const CompilerOptions& options, std::span<const std::string> plugins, const EvalRequest& request);

}  // namespace iropt
