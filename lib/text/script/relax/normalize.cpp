// A-normal form while reading: nested operands are bound to new variables, see ir/relax/normalizer.h.
#include "iropt/infer/infer.h"
#include "iropt/ir/relax/normalizer.h"
#include "iropt/support/stack.h"
#include "parser.h"

namespace iropt::text {

const Expr* RelaxParser::Typed(const Expr* expr) {
  if (expr->type || Is<GlobalVar>(expr) || Is<Op>(expr)) return expr;
  InferContext context(state_.module, ws_.arena(), &diag_);
  const Type* type = InferType(expr, context);
  if (!type) return nullptr;
  // The node was made by this reader a moment ago and is not shared yet.
  const_cast<Expr*>(expr)->type = type;
  return expr;
}

const Expr* RelaxParser::FlattenOperand(const Expr* expr) {
  if (IsLeaf(expr)) return expr;
  return WithStack([&]() -> const Expr* {
    const Expr* flat = Flatten(expr);
    flat = flat ? Typed(flat) : nullptr;
    if (!flat || Is<Tuple>(flat)) return flat;
    return EmitTemporary(flat);
  });
}

const Expr* RelaxParser::Flatten(const Expr* expr) {
  // Nearly always there is nothing to do.
  if (HasFlatOperands(expr)) return expr;
  Rebuilder rebuilder(ws_, nullptr, Retype::kNever);
  return MapOperands(expr, rebuilder, [this](const Expr* operand) { return FlattenOperand(operand); });
}

const Var* RelaxParser::EmitTemporary(const Expr* value) {
  Var* var = NewBoundVar(scope_->in_dataflow ? "lv" : "gv", value->type);
  var->set_span(value->span());
  auto* binding = ws_.New<VarBinding>(var, value);
  binding->set_span(value->span());
  EmitBinding(binding);
  return var;
}

}  // namespace iropt::text
