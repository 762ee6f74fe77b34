// What the passes over graph-level functions share: lists that are copied on the first change, and nodes like an old
// one with other parts. Whatever does not change stays the same pointer.
#pragma once

#include <span>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/support/stack.h"

namespace iropt {

inline const Expr* ValueOf(const Binding* binding) {
  if (binding->kind == NodeKind::kVarBinding) return static_cast<const VarBinding*>(binding)->value;
  return static_cast<const MatchCast*>(binding)->value;
}

// A function that fusion made of operators, and that others must not rewrite.
inline bool IsPrimitive(const Function& function) {
  const auto* primitive = As<IntAttr>(function.attrs->Find(attr::kPrimitive));
  return primitive && primitive->value != 0;
}

// The result of an operator that looks at a tensor (R.inspect...) where the type of the tensor says it, or null. Such a
// call is written as the value.
const PrimExpr* KnownInspection(const Call& call);

// The tensor type with another dtype and on another device.
inline const TensorType* LikeTensor(const TensorType& type, DataType dtype, const VDeviceAttr* vdevice, Arena& arena) {
  if (type.shape_var) return TensorType::WithShapeVar(arena, type.shape_var, dtype, vdevice);
  return type.known ? TensorType::Get(type.dims, dtype, vdevice) : TensorType::Get(type.ndim, dtype, vdevice);
}

// Goes through a list from front to back and makes a new one from the first change on. Editors of nested lists share a
// pool, which they use as a stack.
template <class T>
class ListEditor {
 public:
  ListEditor(List<T> old, std::vector<T>& pool) : old_(old), pool_(pool), base_(pool.size()) {}
  ListEditor(const ListEditor&) = delete;
  ListEditor& operator=(const ListEditor&) = delete;
  ~ListEditor() { pool_.resize(base_); }

  // What becomes of the next element.
  void Replace(T item) {
    if (!changed_ && item != old_[next_]) CopyPrefix();
    if (changed_) pool_.push_back(item);
    ++next_;
  }
  void Drop() {
    if (!changed_) CopyPrefix();
    ++next_;
  }

  bool changed() const { return changed_; }
  // Of the new list, once it was changed.
  std::span<T> items() { return {pool_.data() + base_, pool_.size() - base_}; }
  List<T> Finish(Workspace& workspace) { return changed_ ? workspace.Copy(std::span<const T>(items())) : old_; }

 private:
  void CopyPrefix() {
    pool_.insert(pool_.end(), old_.begin(), old_.begin() + next_);
    changed_ = true;
  }

  List<T> old_;
  std::vector<T>& pool_;
  size_t base_;
  uint32_t next_ = 0;
  bool changed_ = false;
};

// f of each item. The old list where nothing changes.
template <class T, class F>
List<T> MapList(List<T> old, Workspace& workspace, F&& f) {
  for (uint32_t i = 0; i < old.size(); ++i) {
    const T item = f(old[i]);
    if (item == old[i]) continue;
    const std::span<T> copy = workspace.arena().Copy(old.span());
    copy[i] = item;
    for (++i; i < old.size(); ++i) copy[i] = f(old[i]);
    return copy;
  }
  return old;
}

// Calls f for every variable that is the shape of a tensor in the type.
template <class F>
void ForEachShapeVar(const Type* type, F&& f) {
  if (!type || !type->has_shape_var()) return;
  const auto nested = [&](const Type* t) { WithStack([&] { ForEachShapeVar(t, f); }); };
  if (const auto* tensor = As<TensorType>(type)) {
    if (const auto* var = As<Var>(tensor->shape_var)) f(var);
  } else if (const auto* distributed = As<DTensorType>(type)) {
    nested(distributed->tensor);
  } else if (const auto* tuple = As<TupleType>(type)) {
    for (const Type* field : tuple->fields) nested(field);
  } else if (const auto* function = As<FuncType>(type)) {
    for (const Type* param : function->params) nested(param);
    nested(function->ret);
  }
}

// Makes the nodes of one function while it is rewritten.
class NodeMaker {
 public:
  NodeMaker(const Module* module, Workspace& workspace)
      : module_(module), workspace_(workspace), infer_(module, workspace.arena(), nullptr) {}

  const Module* module() const { return module_; }
  Workspace& workspace() { return workspace_; }

  // The type that follows from the operands, or `fallback` where they leave it open.
  const Type* Infer(const Expr* expr, const Type* fallback);

  // The old node with other parts, or the old node where they are the same. The types of calls are inferred again where
  // the operands have other types than before, or `always`.
  const Expr* With(const Call& old, const Expr* op, List<const Expr*> args, const TupleType* type_args, bool always);
  const Expr* With(const Tuple& old, List<const Expr*> fields);
  const Expr* With(const TupleGetItem& old, const Expr* tuple);
  const Expr* With(const If& old, const Expr* cond, const Expr* true_branch, const Expr* false_branch);
  // Empty blocks are left out, neighbours of one kind are joined.
  const SeqExpr* With(const SeqExpr& old, List<const BindingBlock*> blocks, const Expr* body);
  const BindingBlock* With(const BindingBlock& old, List<const Binding*> bindings);
  const Binding* With(const Binding& old, const Var* var, const Expr* value);
  // The same with the type that a match_cast checks.
  const Binding* With(const Binding& old, const Var* var, const Expr* value, const Type* match_type);
  // The result type follows that of the body unless the declared one says more.
  const Function* With(const Function& old, const Expr* body);
  // The same with the result type as it is: for functions that others refer to by their type.
  const Function* WithBody(const Function& old, const Expr* body);

  const Var* WithType(const Var* var, const Type* type);
  // A variable that takes the place of another one, with its number.
  const Var* LikeVar(const Var* var, bool is_dataflow, const Type* type);

 private:
  List<const BindingBlock*> Join(List<const BindingBlock*> blocks);

  template <class T, class... Args>
  T* Like(const Node& old, Args&&... args) {
    T* node = workspace_.New<T>(std::forward<Args>(args)...);
    node->set_span(old.span());
    return node;
  }

  const Module* module_;
  Workspace& workspace_;
  InferContext infer_;
};

// The walk of a pass that replaces variables: Visit rebuilds what the replacements change. Derived says what stands for
// a variable (ReplacementOf) and rewrites calls and blocks (VisitCall, VisitBlock); it may do more at the bodies of
// local functions and at branches (VisitBody, VisitBranch).
template <class Derived>
class ExprRewriter {
 protected:
  ExprRewriter(const Module* module, Workspace& workspace) : make_(module, workspace) {}

  const Expr* Visit(const Expr* e) {
    switch (e->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return derived().ReplacementOf(static_cast<const Var*>(e));
      case NodeKind::kCall: return derived().VisitCall(*static_cast<const Call*>(e));
      case NodeKind::kTupleGetItem: {
        const auto& item = *static_cast<const TupleGetItem*>(e);
        return make_.With(item, Visit(item.tuple));
      }
      case NodeKind::kTuple:
      case NodeKind::kIf:
      case NodeKind::kFunction:
      case NodeKind::kSeqExpr: return WithStack([&] { return VisitNested(e); });
      default: return e;
    }
  }

  List<const Expr*> VisitList(List<const Expr*> list) {
    return MapList(list, make_.workspace(), [this](const Expr* e) { return Visit(e); });
  }

  const Expr* VisitBody(const Expr* body) { return Visit(body); }
  const Expr* VisitBranch(const Expr* branch) { return Visit(branch); }

  NodeMaker make_;
  std::vector<const Binding*> bindings_;  // pools of the editors
  std::vector<const BindingBlock*> blocks_;

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  const Expr* VisitNested(const Expr* e) {
    if (const auto* tuple = As<Tuple>(e)) return make_.With(*tuple, VisitList(tuple->fields));
    if (const auto* seq = As<SeqExpr>(e)) return VisitSeq(*seq);
    if (const auto* function = As<Function>(e)) return make_.WithBody(*function, derived().VisitBody(function->body));
    const auto& branch = *To<If>(e);
    const Expr* cond = Visit(branch.cond);
    const Expr* true_branch = derived().VisitBranch(branch.true_branch);
    const Expr* false_branch = derived().VisitBranch(branch.false_branch);
    return make_.With(branch, cond, true_branch, false_branch);
  }

  const Expr* VisitSeq(const SeqExpr& seq) {
    ListEditor blocks(seq.blocks, blocks_);
    for (const BindingBlock* block : seq.blocks) blocks.Replace(derived().VisitBlock(*block));
    const Expr* body = Visit(seq.body);
    return make_.With(seq, blocks.Finish(make_.workspace()), body);
  }
};

}  // namespace iropt
