#include "iropt/ir/relax/mutator.h"

#include <algorithm>

#include "iropt/ir/relax/origin_scope.h"

namespace iropt {

ExprMutator::ExprMutator(Workspace& workspace, TypeInferrer* inferrer)
    : ExprRewriter(workspace, inferrer, inferrer ? Retype::kLeaveOpen : Retype::kNever),
      builder_(workspace, inferrer) {}

const Expr* ExprMutator::VisitExpr(const Expr* expr) {
  const Expr* visited = WithStack([&] { return ExprRewriter::VisitExpr(expr); });
  return visited == expr ? expr : builder_.Normalize(visited);
}

const Expr* ExprMutator::VisitVar(const Var* expr) {
  const Expr* remapped = RemapOf(expr);
  return remapped ? remapped : expr;
}
const Expr* ExprMutator::VisitDataflowVar(const DataflowVar* expr) { return VisitVar(expr); }
const Expr* ExprMutator::VisitConstant(const Constant* expr) { return expr; }
const Expr* ExprMutator::VisitGlobalVar(const GlobalVar* expr) { return expr; }
const Expr* ExprMutator::VisitExternFunc(const ExternFunc* expr) { return expr; }
const Expr* ExprMutator::VisitOp(const Op* expr) { return expr; }
const Expr* ExprMutator::VisitStringImm(const StringImm* expr) { return expr; }
const Expr* ExprMutator::VisitDataTypeImm(const DataTypeImm* expr) { return expr; }
const Expr* ExprMutator::VisitPrimFunc(const PrimFunc* expr) { return expr; }
const Expr* ExprMutator::VisitShapeExpr(const ShapeExpr* expr) { return ExprRewriter::VisitShapeExpr(expr); }
const Expr* ExprMutator::VisitPrimValue(const PrimValue* expr) { return ExprRewriter::VisitPrimValue(expr); }
const Expr* ExprMutator::VisitTuple(const Tuple* expr) { return ExprRewriter::VisitTuple(expr); }
const Expr* ExprMutator::VisitTupleGetItem(const TupleGetItem* expr) { return ExprRewriter::VisitTupleGetItem(expr); }
const Expr* ExprMutator::VisitCall(const Call* expr) { return ExprRewriter::VisitCall(expr); }

const Expr* ExprMutator::VisitIf(const If* expr) {
  const Expr* cond = VisitExpr(expr->cond);
  if (cond != expr->cond) cond = builder_.NormalizeArgument(cond);
  const Expr* true_branch = VisitBranch(expr->true_branch);
  const Expr* false_branch = VisitBranch(expr->false_branch);
  if (cond == expr->cond && true_branch == expr->true_branch && false_branch == expr->false_branch) return expr;
  const Type* type = VisitTypeOrNull(expr->type);
  if (!builder_.inferrer()) return Rebuild(*expr, cond, true_branch, false_branch, type);
  // The type so far tells which symbolic variables are defined before the conditional, and not by its branches.
  auto* branch = NewLike<If>(workspace(), *expr, cond, true_branch, false_branch, type);
  branch->type = builder_.inferrer()->Infer(branch);
  return branch;
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

const Expr* ExprMutator::VisitBranch(const Expr* branch) {
  builder_.BeginBindingBlock();
  const Expr* body = VisitExpr(branch);
  if (builder_.current_bindings().empty() && (body == branch || Is<SeqExpr>(body))) {
    builder_.DropBlock();
    return body;
  }
  if (!Is<SeqExpr>(body)) {
    body = builder_.NormalizeArgument(body);
    return builder_.Seq({builder_.EndBlock()}, body);
  }
  // Bindings were emitted before an expression that still is a SeqExpr.
  const auto* seq = To<SeqExpr>(body);
  std::vector<const BindingBlock*> blocks{builder_.EndBlock()};
  blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
  return builder_.Seq(blocks, seq->body, seq->span());
}

const Expr* ExprMutator::VisitFunction(const Function* expr) {
  const List<const Var*> params =
      MapList(expr->params, workspace(), [this](const Var* param) { return VisitVarDef(param); });
  const auto* attrs = static_cast<const DictAttr*>(VisitAttr(expr->attrs));
  const Expr* body = VisitBranch(expr->body);
  const Type* ret_type = NewReturnType(expr, body);
  const bool keeps_type = IsSameList(params, expr->params) && ret_type == expr->ret_type;
  if (keeps_type && attrs == expr->attrs && body == expr->body) return expr;
  const Type* type = expr->type;
  if (!keeps_type) type = builder_.inferrer() ? nullptr : VisitTypeOrNull(type);
  return NewLike<Function>(workspace(), *expr, params, body, ret_type, expr->is_pure, attrs, type);
}

const Type* ExprMutator::NewReturnType(const Function* func, const Expr* body) {
  if (func->ret_type == nullptr) return nullptr;
  const Type* declared = VisitType(func->ret_type);
  if (body == func->body || builder_.inferrer() == nullptr || body->type == declared) return declared;
  return builder_.inferrer()->NewReturnType(func->params, body->type, declared);
}

const BindingBlock* ExprMutator::VisitBlock(const BindingBlock* block) {
  if (block->is_dataflow()) {
    builder_.BeginDataflowBlock();
  } else {
    builder_.BeginBindingBlock();
  }
  for (const Binding* binding : block->bindings) {
    // What takes the place of a binding, or is made for it, comes from where it does.
    const OriginScope origin(binding->span());
    VisitBinding(binding);
  }
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
  builder_.EmitNormalized(Rebuild(*binding, var, value, match_type));
}

void ExprMutator::ReEmitBinding(const VarBinding* binding, const Expr* value) {
  const Var* var = VisitVarDef(binding->var);
  if (value != binding->value && builder_.inferrer() != nullptr && value->type != nullptr && value->type != var->type)
    var = RemapToType(binding->var, value->type);
  builder_.EmitNormalized(Rebuild(*binding, var, value));
}

void ExprMutator::ReEmitMatchCast(const MatchCast* binding, const Expr* value, const Type* type) {
  const Var* var = binding->var;
  if (!TypeEqual(type, binding->match_type)) var = RemapToType(var, type);
  builder_.EmitNormalized(Rebuild(*binding, var, value, type));
}

const Var* ExprMutator::VisitVarDef(const Var* var) {
  if (const Expr* remapped = RemapOf(var)) {
    if (const auto* other = As<Var>(remapped)) return other;
  }
  if (var->type == nullptr) return var;
  const Type* type = VisitType(var->type);
  return type == var->type ? var : RemapToType(var, type);
}

const Var* ExprMutator::RemapToType(const Var* from, const Type* type) {
  const Var* typed = NewVarLike(workspace(), *from, type);
  Remap(from, typed);
  return typed;
}

void ExprMutator::Remap(const Var* from, const Expr* to) { remap_.Set(from, to); }

}  // namespace iropt
