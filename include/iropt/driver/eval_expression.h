// ir-opt -eval: one expression, typed, evaluated and printed.
#pragma once

#include <span>
#include <string>

#include "iropt/driver/compiler_options.h"

namespace iropt {

// Reads one Relax expression without variables, such as R.add(R.const(1), R.const(2)), checks it by the type rules,
// evaluates it, and writes its value and its type to stdout: an expression that reads back to the value, with the type
// as a comment. Returns the exit code; if it is not 0, diagnostics have said why and nothing was written. Plugins are
// loaded for their operators. Of the options, only those of diagnostics count.
int EvalExpression(const CompilerOptions& options, std::span<const std::string> plugins, const std::string& text);

}  // namespace iropt
