// The names that code uses and does not define.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct UndefinedNames {
  // In the order of their first uses. The data variables and shapes of undefined buffers are among the variables.
  std::vector<const tir::Var*> vars;
  std::vector<const tir::Buffer*> buffers;
};

// `defined` are the variables that are known before, such as parameters. O(nodes).
UndefinedNames FindUndefinedNames(const tir::Stmt* stmt, std::span<const tir::Var* const> defined = {});

// Reports the variables that the function uses and does not define. False if there are any.
bool CheckDefined(const PrimFunc& func, std::string_view name, DiagnosticEngine& diagnostics);

}  // namespace iropt
