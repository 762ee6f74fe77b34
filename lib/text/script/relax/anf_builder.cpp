#include "anf_builder.h"

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/normalizer.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "void_type.h"

namespace iropt::text {

const Expr* AnfBuilder::Typed(const Expr* expr) {
  if (expr->type || Is<GlobalVar>(expr) || Is<Op>(expr)) return expr;
  InferContext context(module_, ws_.arena(), &diag_);
  const Type* type = InferType(expr, context);
  if (!type) return nullptr;
  // The node was made by this reader a moment ago and is not shared yet.
  const_cast<Expr*>(expr)->type = type;
  return expr;
}

const Expr* AnfBuilder::FlattenOperand(const Expr* expr) {
  if (IsLeaf(expr)) return expr;
  return WithStack([&]() -> const Expr* {
    const Expr* flat = FlattenTyped(expr);
    if (!flat || Is<Tuple>(flat)) return flat;
    const Var* var = EmitTemporary(flat);
    if (!IsVoid(var->type)) return var;
    return Nothing(var->type, var->span());
  });
}

const Expr* AnfBuilder::Flatten(const Expr* expr) {
  // Nearly always there is nothing to do.
  if (HasFlatOperands(expr)) return expr;
  Rebuilder rebuilder(ws_, nullptr, Retype::kNever);
  return MapOperands(expr, rebuilder, [this](const Expr* operand) { return FlattenOperand(operand); });
}

Var* AnfBuilder::NewVar(std::string_view name, const Type* type, Span span) {
  Var* var = sequence_->in_dataflow ? ws_.NewDataflowVar(name, type) : ws_.NewVar(name, type);
  var->set_span(span);
  if (sequence_->in_dataflow) sequence_->dataflow_vars.push_back(var);
  return var;
}

const Tuple* AnfBuilder::Nothing(const Type* type, Span span) {
  auto* nothing = ws_.New<Tuple>(List<const Expr*>(), To<TupleType>(type));
  nothing->set_span(span);
  return nothing;
}

void AnfBuilder::Bind(const Var* var, const Expr* value, Span span) {
  auto* binding = ws_.New<VarBinding>(var, value);
  binding->set_span(span);
  Emit(binding);
}

const Var* AnfBuilder::EmitTemporary(const Expr* value) {
  const Var* var = NewVar(sequence_->in_dataflow ? "lv" : "gv", value->type, value->span());
  Bind(var, value, value->span());
  return var;
}

const Var* AnfBuilder::FindLocal(std::string_view name) const {
  for (const BindingBlock* block : sequence_->blocks) {
    for (const Binding* binding : block->bindings) {
      if (binding->var->is_dataflow() && binding->var->name() == name) return binding->var;
    }
  }
  return nullptr;
}

void AnfBuilder::EndBlock() {
  if (sequence_->bindings.empty() && !sequence_->in_dataflow) return;
  const auto bindings = ws_.Copy(sequence_->bindings);
  sequence_->blocks.push_back(sequence_->in_dataflow ? ws_.New<DataflowBlock>(bindings)
                                                     : ws_.New<BindingBlock>(bindings));
  sequence_->bindings.clear();
}

}  // namespace iropt::text
