// ir-opt -eval of an expression on scalars.
#pragma once

#include <string>

#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/eval_expression.h"
#include "iropt/support/result.h"

namespace iropt {

// The line to print, or an error after diagnostics that say why.
Result<std::string> SimplifyScalar(const EvalRequest& request, CompilerInstance& compiler);

}  // namespace iropt
