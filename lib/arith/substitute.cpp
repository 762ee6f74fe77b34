#include "iropt/arith/substitute.h"

#include "iropt/support/stack.h"
#include "map_operands.h"

namespace iropt::arith {

const PrimExpr* MapVars(const PrimExpr* e, FunctionRef<const PrimExpr*(const tir::Var*)> map, const PrimBuilder& make) {
  if (tir::Var::ClassOf(e->kind)) return map(static_cast<const tir::Var*>(e));
  if (e->interned() && !e->has_sym_var()) return e;
  return WithStack([&] {
    auto visit = [&](const PrimExpr* operand) { return MapVars(operand, map, make); };
    return MapOperands(e, visit, make);
  });
}

void ForEachVar(const PrimExpr* e, FunctionRef<void(const tir::Var*)> f) {
  const auto visit = [&](const tir::Var* var) -> const PrimExpr* {
    f(var);
    return var;
  };
  MapVars(e, visit);
}

}  // namespace iropt::arith
