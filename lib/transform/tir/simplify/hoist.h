// Moving conditions and bindings out of the loops that they do not depend on.
#pragma once

#include <cstdint>

#include "iropt/ir/module.h"

namespace iropt {

// Kinds of conditions and bindings to move; the numbers are those of TVM's configuration.
struct HoistOptions {
  enum Conditionals : uint8_t {
    kIfElseStmt = 1,         // conditions of `if`
    kIfElseExpr = 2,         // of T.if_then_else
    kBooleanExpression = 4,  // operands of `and` and `or`
    kUsingBlockVar = 8,      // also if they depend on threads, and out of the scope of a thread
  };
  enum LetBindings : uint8_t {
    kRequiredByCondition = 1,  // bindings that a moved condition needs
    kLetStmt = 2,
    kLetExpr = 4,
  };
  int64_t conditionals = 0;
  int64_t let_bindings = 0;
};

// The function with a copy of each loop for either value of the conditions that move out of it; the conditions inside
// are not simplified. The same pointer if nothing moves. A loop has up to 64 copies, and all copies together add up to
// 500,000 nodes. Conditions for which that is not enough stay inside.
const PrimFunc* Hoist(const PrimFunc* func, const HoistOptions& options, Workspace& workspace);

}  // namespace iropt
