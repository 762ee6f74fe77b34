#include "builtin_calls.h"

#include "iropt/op/ops/call.h"

namespace iropt {

Call* BuiltinCalls::WithContext(std::string_view name, std::span<const Expr* const> args, const Type* type) {
  const Expr* tuple = workspace_.New<Tuple>(workspace_.Copy(args), nullptr);
  const List<const Expr*> operands = workspace_.arena().Copy<const Expr*>({Name(name), tuple});
  return workspace_.New<Call>(GetOp(op::kCallBuiltinWithCtx), operands, nullptr, TypeArgs(type), type);
}

}  // namespace iropt
