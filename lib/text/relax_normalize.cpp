// A-normal form while reading, as TVM's block builder makes it: operands of calls, tuples and projections are leaves;
// what is nested is bound to a new variable first. A tuple of leaves counts as a leaf.
#include "iropt/infer/infer.h"
#include "iropt/support/stack.h"
#include "relax_parser.h"

namespace iropt::text {

bool RelaxParser::IsLeaf(const Expr* e) {
  switch (e->kind) {
    case NodeKind::kCall:
    case NodeKind::kTupleGetItem:
    case NodeKind::kIf:
    case NodeKind::kSeqExpr:
    case NodeKind::kFunction:
    case NodeKind::kTuple: return false;
    default: return true;
  }
}

// True where Flatten has nothing to do, which is nearly always.
bool RelaxParser::IsFlat(const Expr* e) {
  std::span<const Expr* const> operands;
  if (const auto* call = As<Call>(e)) {
    operands = call->args;
  } else if (const auto* tuple = As<Tuple>(e)) {
    operands = tuple->fields;
  } else if (const auto* item = As<TupleGetItem>(e)) {
    return IsLeaf(item->tuple);
  } else {
    return true;
  }
  for (const Expr* operand : operands) {
    if (IsLeaf(operand)) continue;
    if (!Is<Tuple>(operand) || !operand->type) return false;
    const bool flat = WithStack([&] { return IsFlat(operand); });
    if (!flat) return false;
  }
  return true;
}

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
  if (IsFlat(expr)) return expr;
  const auto operands = [&](List<const Expr*> list, std::vector<const Expr*>& out) {
    for (const Expr* e : list) {
      out.push_back(FlattenOperand(e));
      if (!out.back()) return false;
    }
    return true;
  };
  std::vector<const Expr*> flat;
  Expr* result = nullptr;
  if (const auto* call = As<Call>(expr)) {
    if (!operands(call->args, flat)) return nullptr;
    result = ws_.New<Call>(call->op, ws_.Copy(flat), call->attrs, call->type_args, call->type);
  } else if (const auto* tuple = As<Tuple>(expr)) {
    if (!operands(tuple->fields, flat)) return nullptr;
    result = ws_.New<Tuple>(ws_.Copy(flat), nullptr);
  } else {
    const auto* item = To<TupleGetItem>(expr);
    const Expr* operand = FlattenOperand(item->tuple);
    if (!operand) return nullptr;
    result = ws_.New<TupleGetItem>(operand, item->index, nullptr);
  }
  result->set_span(expr->span());
  return result;
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
