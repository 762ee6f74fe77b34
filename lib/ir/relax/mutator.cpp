#include "iropt/ir/relax/mutator.h"

#include <algorithm>

namespace iropt {

ExprMutator::ExprMutator(Workspace& workspace, TypeInferrer* inferrer)
    : workspace_(workspace), builder_(workspace, inferrer) {}

const Expr* ExprMutator::VisitExpr(const Expr* expr) {
  const Expr* visited = WithStack([&]() -> const Expr* {
    switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Kind(static_cast<const Class*>(expr));
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
      default: IROPT_UNREACHABLE("{} as an expression", NodeKindName(expr->kind));
    }
  });
  return visited == expr ? expr : builder_.Normalize(visited);
}

// Replaces the field by what it becomes; true where that is something else.
template <class T>
bool ExprMutator::VisitField(T& value) {
  if constexpr (visit_detail::IsList<T>::value) {
    using Item = std::remove_cvref_t<decltype(value[0])>;
    for (uint32_t i = 0; i < value.size(); ++i) {
      Item item = value[i];
      if (!VisitField(item)) continue;
      const std::span<Item> items = workspace_.arena().NewArray<Item>(value.size());
      std::copy(value.begin(), value.begin() + i, items.begin());
      items[i] = item;
      for (++i; i < value.size(); ++i) {
        items[i] = value[i];
        VisitField(items[i]);
      }
      value = items;
      return true;
    }
    return false;
  } else {
    T old = value;
    if constexpr (std::is_convertible_v<T, const Expr*>) {
      value = static_cast<T>(VisitExpr(value));
    } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
      value = VisitPrimExpr(value);
    } else if constexpr (std::is_convertible_v<T, const Type*>) {
      if (value != nullptr) value = static_cast<T>(VisitType(value));
    } else if constexpr (std::is_convertible_v<T, const Attr*>) {
      if (value != nullptr) value = static_cast<T>(VisitAttr(value));
    } else {
      static_assert(!std::is_convertible_v<T, const Node*>, "a field that mutators do not know");
    }
    return value != old;
  }
}

template <class X>
const Expr* ExprMutator::VisitFields(const X* node) {
  X copy = *node;
  bool changed = false;
  const auto visit = [&](auto field) {
    // The type of the expression itself follows from the rest.
    if (field.role != FieldRole::kType) changed |= VisitField(copy.*(field.member));
  };
  X::Fields()([&](auto... field) { (visit(field), ...); });
  if (node->type != nullptr) {
    const Type* type = VisitType(node->type);
    if (!changed && type == node->type) return node;
    // An inferrer finds the type of what changed; what has a type by itself must be given it.
    const bool inferred = changed && builder_.inferrer() != nullptr;
    copy.type = inferred ? nullptr : type;
  } else if (!changed) {
    return node;
  }
  copy.flags = 0;
  return workspace_.New<X>(copy);
}

const Expr* ExprMutator::VisitConstant(const Constant* expr) { return expr; }
const Expr* ExprMutator::VisitVar(const Var* expr) {
  const Expr* remapped = Remapped(expr);
  return remapped ? remapped : expr;
}
const Expr* ExprMutator::VisitDataflowVar(const DataflowVar* expr) { return VisitVar(expr); }
const Expr* ExprMutator::VisitGlobalVar(const GlobalVar* expr) { return expr; }
const Expr* ExprMutator::VisitExternFunc(const ExternFunc* expr) { return expr; }
const Expr* ExprMutator::VisitOp(const Op* expr) { return expr; }
const Expr* ExprMutator::VisitTuple(const Tuple* expr) { return VisitFields(expr); }
const Expr* ExprMutator::VisitTupleGetItem(const TupleGetItem* expr) { return VisitFields(expr); }
const Expr* ExprMutator::VisitCall(const Call* expr) { return VisitFields(expr); }
const Expr* ExprMutator::VisitStringImm(const StringImm* expr) { return expr; }
const Expr* ExprMutator::VisitDataTypeImm(const DataTypeImm* expr) { return expr; }
// Loop-level functions are for tir::StmtExprMutator.
const Expr* ExprMutator::VisitPrimFunc(const PrimFunc* expr) { return expr; }

const Expr* ExprMutator::VisitShapeExpr(const ShapeExpr* expr) {
  List<const PrimExpr*> values = expr->values;
  if (!VisitField(values)) return expr;
  ShapeExpr* shape = workspace_.New<ShapeExpr>(values, ShapeType::Get(values));
  shape->set_span(expr->span());
  return shape;
}

const Expr* ExprMutator::VisitPrimValue(const PrimValue* expr) {
  const PrimExpr* value = VisitPrimExpr(expr->value);
  if (value == expr->value) return expr;
  PrimValue* prim = workspace_.New<PrimValue>(value, PrimType::Get(value));
  prim->set_span(expr->span());
  return prim;
}

const Expr* ExprMutator::VisitIf(const If* expr) {
  const Expr* cond = VisitExpr(expr->cond);
  const Expr* true_branch = VisitScope(expr->true_branch);
  const Expr* false_branch = VisitScope(expr->false_branch);
  if (cond == expr->cond && true_branch == expr->true_branch && false_branch == expr->false_branch) return expr;
  const Type* type = builder_.inferrer() || !expr->type ? nullptr : VisitType(expr->type);
  If* changed = workspace_.New<If>(cond, true_branch, false_branch, type);
  changed->set_span(expr->span());
  return changed;
}

const Expr* ExprMutator::VisitSeqExpr(const SeqExpr* expr) {
  std::vector<const BindingBlock*> blocks;
  blocks.reserve(expr->blocks.size() + 1);
  bool changed = false;
  for (const BindingBlock* block : expr->blocks) {
    blocks.push_back(VisitBlock(block));
    changed |= blocks.back() != block;
  }
  builder_.BeginBindingBlock();
  const Expr* body = VisitExpr(expr->body);
  if (body != expr->body) body = builder_.NormalizeArgument(body);
  if (!builder_.current_bindings().empty()) {
    blocks.push_back(builder_.EndBlock());
    changed = true;
  } else {
    builder_.DropBlock();
  }
  if (!changed && body == expr->body) return expr;
  return builder_.Seq(blocks, body, expr->span());
}

// A branch or a function body, which stays as it is where nothing changes.
const Expr* ExprMutator::VisitScope(const Expr* expr) {
  builder_.BeginBindingBlock();
  const Expr* body = VisitExpr(expr);
  if (builder_.current_bindings().empty() && (body == expr || Is<SeqExpr>(body))) {
    builder_.DropBlock();
    return body;
  }
  if (!Is<SeqExpr>(body)) {
    body = builder_.NormalizeArgument(body);
    return builder_.Seq({builder_.EndBlock()}, body);
  }
  // Something was emitted in front of what still is a SeqExpr.
  const auto* seq = To<SeqExpr>(body);
  std::vector<const BindingBlock*> blocks{builder_.EndBlock()};
  blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
  return builder_.Seq(blocks, seq->body, seq->span());
}

const Expr* ExprMutator::VisitFunction(const Function* expr) {
  Function copy = *expr;
  bool changed = false;
  std::vector<const Var*> params;
  params.reserve(expr->params.size());
  for (const Var* param : expr->params) {
    params.push_back(VisitVarDef(param));
    changed |= params.back() != param;
  }
  if (changed) copy.params = workspace_.Copy(params);
  changed |= VisitField(copy.attrs);
  copy.body = VisitScope(expr->body);
  changed |= copy.body != expr->body;
  copy.ret_type = NewReturnType(expr, copy.body);
  changed |= copy.ret_type != expr->ret_type;
  if (!changed) return expr;
  if (copy.type != nullptr) {
    const bool keeps_type = copy.params == expr->params && copy.ret_type == expr->ret_type;
    if (!keeps_type) copy.type = builder_.inferrer() ? nullptr : VisitType(copy.type);
  }
  return workspace_.New<Function>(copy);
}

// The declared type stays where it says at least as much as what the body returns now.
const Type* ExprMutator::NewReturnType(const Function* func, const Expr* body) {
  if (func->ret_type == nullptr) return nullptr;
  const Type* declared = VisitType(func->ret_type);
  if (body == func->body || builder_.inferrer() == nullptr || body->type == declared) return declared;
  if (builder_.inferrer()->IsBaseOf(body->type, declared)) return declared;
  return builder_.inferrer()->ReturnType(func->params, body->type);
}

const BindingBlock* ExprMutator::VisitBlock(const BindingBlock* block) {
  if (block->is_dataflow()) {
    builder_.BeginDataflowBlock();
  } else {
    builder_.BeginBindingBlock();
  }
  for (const Binding* binding : block->bindings) VisitBinding(binding);
  const std::vector<const Binding*>& emitted = builder_.current_bindings();
  if (!std::equal(emitted.begin(), emitted.end(), block->bindings.begin(), block->bindings.end()))
    return builder_.EndBlock();
  builder_.DropBlock();
  return block;
}

void ExprMutator::VisitBinding(const Binding* binding) {
  if (const auto* var_binding = As<VarBinding>(binding)) {
    VisitVarBinding(var_binding);
  } else {
    VisitMatchCast(To<MatchCast>(binding));
  }
}

void ExprMutator::VisitVarBinding(const VarBinding* binding) { ReEmitBinding(binding, VisitExpr(binding->value)); }

void ExprMutator::VisitMatchCast(const MatchCast* binding) {
  const Expr* value = VisitExpr(binding->value);
  const Type* match_type = VisitType(binding->match_type);
  const Var* var = VisitVarDef(binding->var);
  if (value == binding->value && match_type == binding->match_type && var == binding->var) {
    builder_.EmitNormalized(binding);
    return;
  }
  MatchCast* changed = workspace_.New<MatchCast>(var, value, match_type);
  changed->set_span(binding->span());
  builder_.EmitNormalized(changed);
}

void ExprMutator::ReEmitBinding(const VarBinding* binding, const Expr* value) {
  const Var* var = VisitVarDef(binding->var);
  if (value == binding->value && var == binding->var) {
    builder_.EmitNormalized(binding);
    return;
  }
  if (value != binding->value && builder_.inferrer() != nullptr && value->type != nullptr && value->type != var->type) {
    var = var->is_dataflow() ? workspace_.NewDataflowVar(var->name(), value->type)
                             : workspace_.NewVar(var->name(), value->type);
    Remap(binding->var, var);
  }
  VarBinding* changed = workspace_.New<VarBinding>(var, value);
  changed->set_span(binding->span());
  builder_.EmitNormalized(changed);
}

const Var* ExprMutator::VisitVarDef(const Var* var) {
  if (var->type == nullptr) return var;
  const Type* type = VisitType(var->type);
  if (type == var->type) return var;
  Var* changed =
      var->is_dataflow() ? workspace_.NewDataflowVar(var->name(), type) : workspace_.NewVar(var->name(), type);
  changed->set_span(var->span());
  Remap(var, changed);
  return changed;
}

void ExprMutator::Remap(const Var* from, const Expr* to) {
  if (from->id >= remap_.size()) remap_.resize(std::max<size_t>(workspace_.num_vars(), from->id + size_t{1}));
  remap_[from->id] = to;
}

}  // namespace iropt
