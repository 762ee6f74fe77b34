#include "iropt/ir/relax/rebuild.h"

#include <algorithm>

#include "iropt/ir/substitute.h"

namespace iropt {

namespace {

bool HaveSameTypes(List<const Expr*> a, List<const Expr*> b) {
  return std::ranges::equal(a, b, [](const Expr* x, const Expr* y) { return x == y || TypeEqual(x->type, y->type); });
}

}  // namespace

bool Rebuilder::SetType(Expr* made, const Expr& old, const Type* type, Change change) {
  made->type = type;
  if (retype_ == Retype::kNever) return false;
  if (retype_ == Retype::kLeaveOpen) {
    if (change != Change::kNothing) made->type = nullptr;
    return false;
  }
  const bool is_open = change == Change::kTypes || type != old.type;
  if (!is_open && !(retype_ == Retype::kCalls && made->kind == NodeKind::kCall)) return false;
  const Type* inferred = inferrer_->Infer(made);
  made->type = inferred ? inferred : old.type;
  return true;
}

const Expr* Rebuilder::Copy(const Call& old, const Expr* op, List<const Expr*> args, const Attr* attrs,
                            const TupleType* type_args, const Type* type) {
  const bool same_args = IsSameList(args, old.args);
  const bool same_parts = op == old.op && same_args && attrs == old.attrs && type_args == old.type_args;
  Call* call = NewLike<Call>(workspace_, old, op, args, attrs, type_args, nullptr);
  const bool same_types = op == old.op && attrs == old.attrs && type_args == old.type_args &&
                          (same_args || retype_ != Retype::kIfNeeded || HaveSameTypes(args, old.args));
  const Change change = same_parts ? Change::kNothing : same_types ? Change::kSameTypes : Change::kTypes;
  if (!SetType(call, old, type, change)) return call;
  const PrimExpr* scalar = inferrer_->ScalarForm(*call);
  return scalar ? NewLike<PrimValue>(workspace_, old, scalar, call->type) : static_cast<const Expr*>(call);
}

const Expr* Rebuilder::Copy(const Tuple& old, List<const Expr*> fields, const Type* type) {
  const bool same = IsSameList(fields, old.fields);
  Tuple* tuple = NewLike<Tuple>(workspace_, old, fields, nullptr);
  const bool same_types = !InfersTypes() || HaveSameTypes(fields, old.fields);
  SetType(tuple, old, type, same ? Change::kNothing : same_types ? Change::kSameTypes : Change::kTypes);
  return tuple;
}

const Expr* Rebuilder::Copy(const TupleGetItem& old, const Expr* tuple, const Type* type) {
  const bool same = tuple == old.tuple;
  TupleGetItem* item = NewLike<TupleGetItem>(workspace_, old, tuple, old.index, nullptr);
  const bool same_types = TypeEqual(tuple->type, old.tuple->type);
  SetType(item, old, type, same ? Change::kNothing : same_types ? Change::kSameTypes : Change::kTypes);
  return item;
}

const Expr* Rebuilder::Rebuild(const ShapeExpr& old, List<const PrimExpr*> values) {
  if (IsSameList(values, old.values)) return &old;
  return NewLike<ShapeExpr>(workspace_, old, values, ShapeType::Get(values));
}

const Expr* Rebuilder::Rebuild(const PrimValue& old, const PrimExpr* value) {
  return value == old.value ? &old : NewLike<PrimValue>(workspace_, old, value, PrimType::Get(value));
}

const Expr* Rebuilder::Rebuild(const If& old, const Expr* cond, const Expr* true_branch, const Expr* false_branch,
                               const Type* type) {
  const bool same = cond == old.cond && true_branch == old.true_branch && false_branch == old.false_branch;
  if (same && type == old.type) return &old;
  If* branch = NewLike<If>(workspace_, old, cond, true_branch, false_branch, nullptr);
  const bool same_types =
      TypeEqual(true_branch->type, old.true_branch->type) && TypeEqual(false_branch->type, old.false_branch->type);
  SetType(branch, old, type, same ? Change::kNothing : same_types ? Change::kSameTypes : Change::kTypes);
  return branch;
}

const SeqExpr* Rebuilder::Rebuild(const SeqExpr& old, List<const BindingBlock*> blocks, const Expr* body) {
  if (IsSameList(blocks, old.blocks) && body == old.body) return &old;
  SeqExpr* seq = NewLike<SeqExpr>(workspace_, old, JoinBlocks(blocks, workspace_), body, nullptr);
  seq->flags = old.flags;
  SetType(seq, old, old.type, TypeEqual(body->type, old.body->type) ? Change::kSameTypes : Change::kTypes);
  return seq;
}

const BindingBlock* Rebuilder::Rebuild(const BindingBlock& old, List<const Binding*> bindings) {
  if (IsSameList(bindings, old.bindings)) return &old;
  if (old.is_dataflow()) return NewLike<DataflowBlock>(workspace_, old, bindings);
  return NewLike<BindingBlock>(workspace_, old, bindings);
}

const Binding* Rebuilder::Copy(const Binding& old, const Var* var, const Expr* value) {
  if (const auto* cast = As<MatchCast>(&old)) return NewLike<MatchCast>(workspace_, old, var, value, cast->match_type);
  return NewLike<VarBinding>(workspace_, old, var, value);
}

const Binding* Rebuilder::Rebuild(const Binding& old, const Var* var, const Expr* value, const Type* match_type) {
  const auto* cast = As<MatchCast>(&old);
  if (!cast || match_type == cast->match_type) return Rebuild(old, var, value);
  return NewLike<MatchCast>(workspace_, old, var, value, match_type);
}

const Function* Rebuilder::Rebuild(const Function& old, const Expr* body) {
  if (body == old.body) return &old;
  const Type* returned = inferrer_->NewReturnType(old.params, body->type, old.ret_type);
  if (TypeEqual(returned, old.ret_type)) return RebuildBody(old, body);
  auto* function = NewLike<Function>(workspace_, old, old.params, body, returned, old.is_pure, old.attrs, old.type);
  const Type* type = inferrer_->Infer(function);
  function->type = type ? type : old.type;
  return function;
}

const Function* Rebuilder::RebuildBody(const Function& old, const Expr* body) {
  if (body == old.body) return &old;
  return NewLike<Function>(workspace_, old, old.params, body, old.ret_type, old.is_pure, old.attrs, old.type);
}

const Function* Rebuilder::RebuildSignature(const Function& old, List<const Var*> params, const Expr* body,
                                            const Type* ret_type, const DictAttr* attrs) {
  auto* function = NewLike<Function>(workspace_, old, params, body, ret_type, old.is_pure, attrs, nullptr);
  function->type = inferrer_->Infer(function);
  return function;
}

const Var* Rebuilder::CloneVarWith(const Var* var, bool is_dataflow, const Type* type) {
  if (is_dataflow) return NewLike<DataflowVar>(workspace_, *var, var->name(), var->id, type);
  return NewLike<Var>(workspace_, *var, var->name(), var->id, VisibleType(type, workspace_.arena()));
}

const Var* Rebuilder::RetypeVar(const Var* var, const Type* type) {
  if (!var->is_dataflow()) type = VisibleType(type, workspace_.arena());
  return TypeEqual(var->type, type) ? var : CloneVarWith(var, var->is_dataflow(), type);
}

const Type* VisibleType(const Type* type, Arena& arena) {
  if (!type || !type->has_shape_var()) return type;
  return MapShapeVars(type, arena, [](const Expr* var) { return Is<DataflowVar>(var) ? nullptr : var; });
}

const Var* NewVarLike(Workspace& workspace, const Var& old, bool is_dataflow, const Type* type) {
  Var* var = is_dataflow ? workspace.NewDataflowVar(old.name(), type)
                         : workspace.NewVar(old.name(), VisibleType(type, workspace.arena()));
  var->set_span(old.span());
  return var;
}

List<const BindingBlock*> JoinBlocks(List<const BindingBlock*> blocks, Workspace& workspace) {
  std::vector<const BindingBlock*> joined;
  joined.reserve(blocks.size());
  bool changed = false;
  for (uint32_t i = 0; i < blocks.size();) {
    // A sequence of blocks of one kind, including empty blocks between them.
    const BindingBlock* first = blocks[i];
    size_t count = 0;
    size_t filled = 0;
    uint32_t end = i;
    for (; end < blocks.size() && (blocks[end]->kind == first->kind || blocks[end]->bindings.empty()); ++end) {
      if (blocks[end]->bindings.empty()) continue;
      count += blocks[end]->bindings.size();
      ++filled;
      if (first->bindings.empty()) first = blocks[end];
    }
    changed |= end - i != 1 || filled != 1;
    if (filled == 1) joined.push_back(first);
    if (filled > 1) {
      std::vector<const Binding*> all;
      all.reserve(count);
      for (; i < end; ++i) all.insert(all.end(), blocks[i]->bindings.begin(), blocks[i]->bindings.end());
      joined.push_back(Rebuilder(workspace, nullptr, Retype::kNever).Rebuild(*first, workspace.Copy(all)));
    }
    i = end;
  }
  return changed ? workspace.Copy(joined) : blocks;
}

}  // namespace iropt
