// tir.HoistIfThenElse: moves the conditions of `if` out of the loops that they do not depend on, and simplifies.
//
//   for i, j in T.grid(5, 10):                  for i in range(5):
//       if i < n:                     -->           if i < n:
//           A[i, j] = T.float32(0)                      for j in range(10):
//                                                           A[i, j] = T.float32(0)
//
// With support_block_scope_hosting in the record tir.HoistIfThenElse, also conditions that depend on threads. A
// function with the attribute tir.HoistIfThenElseExprWithBlock has the conditions of its T.if_then_else moved instead.
// tir.HoistExpression moves more.
//
// O(nodes), times the nesting, for each copy of a loop.
//
// Source: TVM 0.18's pass of this name.
#include "configs/tir.HoistIfThenElse.h"
#include "function_passes.h"
#include "hoist.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/HoistIfThenElse.h"

namespace iropt {

namespace {

HoistOptions OptionsFor(const PrimFunc& func, bool basic, const PassContext& context) {
  if (basic) return {.conditionals = HoistOptions::kIfElseStmt};
  const auto* with_block = As<IntAttr>(func.attrs->Find(attr::kHoistIfThenElseExprWithBlock));
  if (with_block && with_block->value == 1)
    return {.conditionals = HoistOptions::kUsingBlockVar | HoistOptions::kIfElseExpr};
  const config::tir::HoistIfThenElse config(context);
  const bool block_vars = config.support_block_scope_hosting || config.support_block_scope_hoisting;
  return {.conditionals = HoistOptions::kIfElseStmt | (block_vars ? HoistOptions::kUsingBlockVar : 0)};
}

}  // namespace

Pass CreateHoistIfThenElse(const PassOptions& options) {
  using Options = pass_options::HoistIfThenElse;
  return CreatePrimFuncPass(options.info(),
                            [basic = *Options(options).variant == Options::Variant::kBasic](
                                const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              const PassContext& config = context.context();
                              function = Hoist(function, OptionsFor(*function, basic, config), context.workspace());
                              function = SimplifyStatements(function, config, context.workspace());
                              return RemoveNoOps(function, context.context(), context.workspace());
                            });
}

}  // namespace iropt
