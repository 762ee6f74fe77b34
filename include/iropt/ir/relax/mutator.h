// Rewriting graph-level code. See tir/mutator.h for the loop level.
#pragma once

#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/visitor.h"

namespace iropt {

// Returns a rewritten expression, which is the same pointer where nothing below changed. Override what is to become
// something else, and call the function of the base class to go on below:
//
//   const Expr* VisitCall(const Call* call) override {
//     call = To<Call>(ExprMutator::VisitCall(call));
//     return call->op == old_ ? builder().MakeCall(new_, call->args) : call;
//   }
//
// What a function returns instead of its argument is normalized: it may have nested operands. Bindings of new variables
// can be put in front by builder().Emit. To drop or replace a binding, override VisitVarBinding; a binding exists in
// the result if it was emitted. Uses of a variable become what Remap says.
//
// With an inferrer, changed expressions get the type that it infers, and variables that of their new value. Without one
// they keep their types, so the rewriting must preserve them.
class ExprMutator {
 public:
  explicit ExprMutator(Workspace& workspace, TypeInferrer* inferrer = nullptr);
  virtual ~ExprMutator() = default;
  ExprMutator(const ExprMutator&) = delete;
  ExprMutator& operator=(const ExprMutator&) = delete;

  virtual const Expr* VisitExpr(const Expr* expr);
  bool failed() const { return builder_.failed(); }

 protected:
#define IROPT_HANDLE(Kind, Class) virtual const Expr* Visit##Kind(const Class* expr);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  virtual const BindingBlock* VisitBlock(const BindingBlock* block);
  // These emit the bindings that take the place of `binding`.
  virtual void VisitBinding(const Binding* binding);
  virtual void VisitVarBinding(const VarBinding* binding);
  virtual void VisitMatchCast(const MatchCast* binding);
  // The variable that takes the place of one that is bound or a parameter. A new one is made where its type changes.
  virtual const Var* VisitVarDef(const Var* var);
  // A dimension of a ShapeExpr, the value of a PrimValue.
  virtual const PrimExpr* VisitPrimExpr(const PrimExpr* expr) { return expr; }
  // Types of variables, explicit types and, of expressions that change without an inferrer, results; never null.
  virtual const Type* VisitType(const Type* type) { return type; }
  // Attributes of calls and functions; never null.
  virtual const Attr* VisitAttr(const Attr* attr) { return attr; }

  // Emits the binding with another value, which is normalized.
  void ReEmitBinding(const VarBinding* binding, const Expr* value);
  // From now on uses of the variable become the expression, a leaf.
  void Remap(const Var* from, const Expr* to);
  // What the variable became, or null where it stays.
  const Expr* Remapped(const Var* var) const { return var->id < remap_.size() ? remap_[var->id] : nullptr; }

  BlockBuilder& builder() { return builder_; }
  Workspace& workspace() { return workspace_; }

 private:
  template <class X>
  const Expr* VisitFields(const X* node);
  template <class T>
  bool VisitField(T& value);
  const Expr* VisitScope(const Expr* expr);
  const Type* NewReturnType(const Function* func, const Expr* body);

  Workspace& workspace_;
  BlockBuilder builder_;
  std::vector<const Expr*> remap_;  // Var::id -> what uses become, null where unchanged
};

}  // namespace iropt
