// tir.HoistExpression: moves conditions and bindings out of the loops that they do not depend on, and simplifies.
//
//   for i in range(16):                         if n != 0:
//       if n != 0:                    -->           for i in range(16):
//           A[i] = T.float32(0)                         A[i] = T.float32(0)
//
// The record tir.HoistExpression configures which of them move: conditions of `if` and T.if_then_else, operands of
// `and` and `or`, also those that depend on threads; bindings. Nothing moves out of a sequence of statements, and
// nothing that reads memory or divides by what may be 0. A condition that is not only that of an `if` without an `else`
// gives a second copy of the loop. tir.Simplify and tir.RemoveNoOp then remove what is decided.
//
// O(nodes), times the nesting, for each copy of a loop.
//
// Source: TVM 0.18's pass of this name.
#include "configs/tir.HoistExpression.h"
#include "function_passes.h"
#include "hoist.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

Pass CreateHoistExpression(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const config::tir::HoistExpression config(context.context());
                              const HoistOptions hoisted{config.hoisted_conditionals, config.hoisted_let_bindings};
                              function = Hoist(function, hoisted, context.workspace());
                              function = SimplifyStatements(function, context.context(), context.workspace());
                              return RemoveNoOps(function, context.context(), context.workspace());
                            });
}

}  // namespace iropt
