#include "rewrite.h"

#include <algorithm>

namespace iropt {

namespace {

bool SameTypes(List<const Expr*> a, List<const Expr*> b) {
  return std::ranges::equal(a, b, [](const Expr* x, const Expr* y) { return x == y || TypeEqual(x->type, y->type); });
}

}  // namespace

const PrimExpr* KnownInspection(const Call& call) {
  const auto* type = As<PrimType>(call.type);
  if (!type || !type->value) return nullptr;
  const auto* op = As<Op>(call.op);
  return op && op->name.starts_with("relax.inspect.") ? type->value : nullptr;
}

const Type* NodeMaker::Infer(const Expr* expr, const Type* fallback) {
  const Type* type = InferType(expr, infer_);
  return type ? type : fallback;
}

const Expr* NodeMaker::With(const Call& old, const Expr* op, List<const Expr*> args, const TupleType* type_args,
                            bool always) {
  if (op == old.op && args.begin() == old.args.begin() && type_args == old.type_args && !always) return &old;
  Call* call = Like<Call>(old, op, args, old.attrs, type_args, old.type);
  if (!always && op == old.op && type_args == old.type_args && SameTypes(args, old.args)) return call;
  call->type = Infer(call, old.type);
  if (const PrimExpr* value = KnownInspection(*call)) return Like<PrimValue>(old, value, call->type);
  return call;
}

const Expr* NodeMaker::With(const Tuple& old, List<const Expr*> fields) {
  if (fields.begin() == old.fields.begin()) return &old;
  Tuple* tuple = Like<Tuple>(old, fields, old.type);
  if (!SameTypes(fields, old.fields)) tuple->type = Infer(tuple, old.type);
  return tuple;
}

const Expr* NodeMaker::With(const TupleGetItem& old, const Expr* tuple) {
  if (tuple == old.tuple) return &old;
  TupleGetItem* item = Like<TupleGetItem>(old, tuple, old.index, old.type);
  if (!TypeEqual(tuple->type, old.tuple->type)) item->type = Infer(item, old.type);
  return item;
}

const Expr* NodeMaker::With(const If& old, const Expr* cond, const Expr* true_branch, const Expr* false_branch) {
  if (cond == old.cond && true_branch == old.true_branch && false_branch == old.false_branch) return &old;
  If* branch = Like<If>(old, cond, true_branch, false_branch, old.type);
  const bool same =
      TypeEqual(true_branch->type, old.true_branch->type) && TypeEqual(false_branch->type, old.false_branch->type);
  if (!same) branch->type = Infer(branch, old.type);
  return branch;
}

const SeqExpr* NodeMaker::With(const SeqExpr& old, List<const BindingBlock*> blocks, const Expr* body) {
  if (blocks.begin() == old.blocks.begin() && blocks.size() == old.blocks.size() && body == old.body) return &old;
  SeqExpr* seq = Like<SeqExpr>(old, Join(blocks), body, old.type);
  seq->flags = old.flags;
  if (!TypeEqual(body->type, old.body->type)) seq->type = Infer(seq, old.type);
  return seq;
}

List<const BindingBlock*> NodeMaker::Join(List<const BindingBlock*> blocks) {
  std::vector<const BindingBlock*> joined;
  joined.reserve(blocks.size());
  bool changed = false;
  for (uint32_t i = 0; i < blocks.size();) {
    // A run of blocks of one kind, with what is between them if that is empty.
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
      joined.push_back(With(*first, workspace_.Copy(all)));
    }
    i = end;
  }
  return changed ? workspace_.Copy(joined) : blocks;
}

const BindingBlock* NodeMaker::With(const BindingBlock& old, List<const Binding*> bindings) {
  if (bindings.begin() == old.bindings.begin() && bindings.size() == old.bindings.size()) return &old;
  if (old.is_dataflow()) return Like<DataflowBlock>(old, bindings);
  return Like<BindingBlock>(old, bindings);
}

const Binding* NodeMaker::With(const Binding& old, const Var* var, const Expr* value) {
  if (var == old.var && value == ValueOf(&old)) return &old;
  if (const auto* cast = As<MatchCast>(&old)) return Like<MatchCast>(old, var, value, cast->match_type);
  return Like<VarBinding>(old, var, value);
}

const Binding* NodeMaker::With(const Binding& old, const Var* var, const Expr* value, const Type* match_type) {
  const auto* cast = As<MatchCast>(&old);
  if (!cast || match_type == cast->match_type) return With(old, var, value);
  return Like<MatchCast>(old, var, value, match_type);
}

const Function* NodeMaker::With(const Function& old, const Expr* body) {
  if (body == old.body) return &old;
  const Type* returned = FunctionReturnType(old.params, body->type, nullptr, workspace_.arena());
  if (TypeEqual(returned, old.ret_type) || IsBaseOf(returned, old.ret_type)) return WithBody(old, body);
  auto* function = Like<Function>(old, old.params, body, returned, old.is_pure, old.attrs, old.type);
  function->type = Infer(function, old.type);
  return function;
}

const Function* NodeMaker::WithBody(const Function& old, const Expr* body) {
  if (body == old.body) return &old;
  return Like<Function>(old, old.params, body, old.ret_type, old.is_pure, old.attrs, old.type);
}

const Var* NodeMaker::WithType(const Var* var, const Type* type) {
  return TypeEqual(var->type, type) ? var : LikeVar(var, var->is_dataflow(), type);
}

const Var* NodeMaker::LikeVar(const Var* var, bool is_dataflow, const Type* type) {
  if (is_dataflow) return Like<DataflowVar>(*var, var->name(), var->id, type);
  return Like<Var>(*var, var->name(), var->id, type);
}

}  // namespace iropt
