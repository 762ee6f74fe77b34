// Copy-on-write for Relax code: nodes like an old one with other parts. Unchanged nodes stay the same pointers, so that
// `new == old` shows that a pass changed nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "iropt/ir/map_list.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/relax/type_inferrer.h"

namespace iropt {

// Says which changed expressions get their types inferred again.
enum class Retype : uint8_t {
  kNever,      // the rewriting preserves types
  kIfNeeded,   // those whose operands have other types than before
  kCalls,      // these, and all calls: the type of a call may depend on what its operands are, such as shapes
  kLeaveOpen,  // none: they have no type until BlockBuilder::Normalize infers it
};

// Makes nodes like an old one, with its span, in the workspace of a function. Rebuild returns the old node if all parts
// are the same. If the inferrer finds no type, an expression keeps its old one.
class Rebuilder {
 public:
  // The inferrer may be null with Retype::kNever and kLeaveOpen.
  Rebuilder(Workspace& workspace, TypeInferrer* inferrer, Retype retype)
      : workspace_(workspace), inferrer_(inferrer), retype_(retype) {}

  Workspace& workspace() { return workspace_; }
  TypeInferrer* inferrer() { return inferrer_; }

  // A call with other parts. `type` is the old type, or the rewritten one: if it differs, the type is inferred again,
  // unless the rewriting preserves types. The result may be a PrimValue, see TypeInferrer::ScalarForm.
  const Expr* Rebuild(const Call& old, const Expr* op, List<const Expr*> args, const Attr* attrs,
                      const TupleType* type_args, const Type* type) {
    const bool same = op == old.op && IsSameList(args, old.args) && attrs == old.attrs && type_args == old.type_args;
    return same && type == old.type ? &old : Copy(old, op, args, attrs, type_args, type);
  }
  const Expr* Rebuild(const Call& old, const Expr* op, List<const Expr*> args) {
    return Rebuild(old, op, args, old.attrs, old.type_args, old.type);
  }
  const Expr* Rebuild(const Tuple& old, List<const Expr*> fields, const Type* type) {
    return IsSameList(fields, old.fields) && type == old.type ? &old : Copy(old, fields, type);
  }
  const Expr* Rebuild(const Tuple& old, List<const Expr*> fields) { return Rebuild(old, fields, old.type); }
  const Expr* Rebuild(const TupleGetItem& old, const Expr* tuple, const Type* type) {
    return tuple == old.tuple && type == old.type ? &old : Copy(old, tuple, type);
  }
  const Expr* Rebuild(const TupleGetItem& old, const Expr* tuple) { return Rebuild(old, tuple, old.type); }
  const Expr* Rebuild(const ShapeExpr& old, List<const PrimExpr*> values);
  const Expr* Rebuild(const PrimValue& old, const PrimExpr* value);
  const Expr* Rebuild(const If& old, const Expr* cond, const Expr* true_branch, const Expr* false_branch,
                      const Type* type);
  const Expr* Rebuild(const If& old, const Expr* cond, const Expr* true_branch, const Expr* false_branch) {
    return Rebuild(old, cond, true_branch, false_branch, old.type);
  }
  // Empty blocks are left out, neighbours of one kind are joined.
  const SeqExpr* Rebuild(const SeqExpr& old, List<const BindingBlock*> blocks, const Expr* body);
  const BindingBlock* Rebuild(const BindingBlock& old, List<const Binding*> bindings);
  const Binding* Rebuild(const Binding& old, const Var* var, const Expr* value) {
    return var == old.var && value == ValueOf(&old) ? &old : Copy(old, var, value);
  }
  // A binding with other parts. `match_type` is the type that a match_cast checks; null for other bindings.
  const Binding* Rebuild(const Binding& old, const Var* var, const Expr* value, const Type* match_type);
  // The result type follows that of the body unless the declared one is more precise. Needs an inferrer.
  const Function* Rebuild(const Function& old, const Expr* body);
  // Replaces the body but keeps the result type: for functions that others refer to by their type.
  const Function* RebuildBody(const Function& old, const Expr* body);
  // Another signature. The type of the function is inferred; needs an inferrer.
  const Function* RebuildSignature(const Function& old, List<const Var*> params, const Expr* body, const Type* ret_type,
                                   const DictAttr* attrs);
  const Function* RebuildSignature(const Function& old, std::span<const Var* const> params, const Expr* body,
                                   const Type* ret_type) {
    return RebuildSignature(old, workspace_.Copy(params), body, ret_type, old.attrs);
  }

  // A variable that replaces another one, with its number and name. Only a DataflowVar keeps a type that is not visible
  // outside of its block; another one gets the VisibleType.
  const Var* CloneVarWith(const Var* var, bool is_dataflow, const Type* type);
  // The variable with this type; the same one if it has the type already.
  const Var* RetypeVar(const Var* var, const Type* type);

 private:
  bool InfersTypes() const { return retype_ == Retype::kIfNeeded || retype_ == Retype::kCalls; }
  // The difference between the old and new operands, from which the type of an expression follows.
  enum class Change : uint8_t { kNothing, kSameTypes, kTypes };
  // The part of Rebuild for nodes that changed; out of line, because most do not.
  const Expr* Copy(const Call& old, const Expr* op, List<const Expr*> args, const Attr* attrs,
                   const TupleType* type_args, const Type* type);
  const Expr* Copy(const Tuple& old, List<const Expr*> fields, const Type* type);
  const Expr* Copy(const TupleGetItem& old, const Expr* tuple, const Type* type);
  const Binding* Copy(const Binding& old, const Var* var, const Expr* value);
  // Gives the expression its type; `type` is the old one or the rewritten one. Returns whether it was inferred.
  bool SetType(Expr* made, const Expr& old, const Type* type, Change change);

  Workspace& workspace_;
  TypeInferrer* inferrer_;
  Retype retype_;
};

// A node of type T with the span of `old`.
template <class T, class... Args>
T* NewLike(Workspace& workspace, const Node& old, Args&&... args) {
  T* node = workspace.New<T>(std::forward<Args>(args)...);
  node->set_span(old.span());
  return node;
}

// The type for a variable that can be used outside of its dataflow block, which must not name what is local to a block:
// the type without shapes that are DataflowVars. O(1) for types without shape variables.
const Type* VisibleType(const Type* type, Arena& arena);

// A variable with the name and the span of `old` and a number of its own. As in CloneVarWith and RetypeVar, a variable
// that is not a DataflowVar gets the VisibleType.
const Var* NewVarLike(Workspace& workspace, const Var& old, bool is_dataflow, const Type* type);
inline const Var* NewVarLike(Workspace& workspace, const Var& old, const Type* type) {
  return NewVarLike(workspace, old, old.is_dataflow(), type);
}

// The blocks without the empty ones, neighbours of one kind joined; the same list if there is nothing to do. O(blocks +
// bindings of joined blocks).
List<const BindingBlock*> JoinBlocks(List<const BindingBlock*> blocks, Workspace& workspace);

}  // namespace iropt
