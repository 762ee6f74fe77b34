// The names that code uses and does not define.
#pragma once

#include <span>
#include <vector>

#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct UndefinedNames {
  // In the order of their first uses. The data variables and shapes of undefined buffers are among the variables.
  std::vector<const tir::Var*> vars;
  std::vector<const tir::Buffer*> buffers;
};

// `defined` are the variables that are known before, such as parameters. O(nodes).
UndefinedNames FindUndefinedNames(const tir::Stmt* stmt, std::span<const tir::Var* const> defined = {});

}  // namespace iropt
