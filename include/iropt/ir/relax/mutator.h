// Rewriting Relax code. See tir/mutator.h for TIR.
#pragma once

#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/rewriter.h"

namespace iropt {

// Returns a rewritten expression, which is the same pointer if nothing below changed. Override the functions for the
// nodes to rewrite, and call the function of the base class to visit the operands:
//
//   const Expr* VisitCall(const Call* old) override {
//     const auto* call = To<Call>(ExprMutator::VisitCall(old));
//     return call->op == old_ ? Rebuild(*call, new_, call->args) : call;
//   }
//
// A returned expression that is not the argument is normalized: it may have nested operands, and no type.
// builder().Emit puts bindings of new variables before it. To drop or replace a binding, override VisitVarBinding; a
// binding exists in the result if it was emitted. Remap replaces the uses of a variable.
//
// With an inferrer, changed expressions get the type that it infers, and variables that of their new value. Without one
// they keep their types, so the rewriting must preserve them.
//
// The walk is that of ExprRewriter (rewriter.h), which passes use directly if they emit no bindings and every
// nanosecond counts.
class ExprMutator : private ExprRewriter<ExprMutator> {
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
  // These emit the bindings that replace `binding`.
  virtual void VisitBinding(const Binding* binding);
  virtual void VisitVarBinding(const VarBinding* binding);
  virtual void VisitMatchCast(const MatchCast* binding);
  // The variable that replaces one that is bound or a parameter: the one that the variable was mapped to before it was
  // met, or a new one if its type changes.
  virtual const Var* VisitVarDef(const Var* var);
  // A dimension of a ShapeExpr, the value of a PrimValue.
  virtual const PrimExpr* VisitPrimExpr(const PrimExpr* expr) { return expr; }
  // Types of variables, explicit types, and result types of expressions that change without an inferrer; never null.
  virtual const Type* VisitType(const Type* type) { return type; }
  // Attributes of calls and functions; never null.
  virtual const Attr* VisitAttr(const Attr* attr) { return attr; }

  // Emits the binding with another value, which is normalized.
  void ReEmitBinding(const VarBinding* binding, const Expr* value);
  // Emits the match_cast with another value, which is normalized, and another type, which the variable gets, too.
  void ReEmitMatchCast(const MatchCast* binding, const Expr* value, const Type* type);
  // From now on uses of the variable become the expression, a leaf.
  void Remap(const Var* from, const Expr* to);
  // A new variable of another type, which replaces this one from now on.
  const Var* RemapToType(const Var* from, const Type* type);
  // The expression that replaces the variable, or null if it stays.
  const Expr* RemapOf(const Var* var) const { return remap_.Find(var); }

  // A node like an old one with other parts; with an inferrer, one without a type, to be normalized.
  using ExprRewriter::Rebuild;
  using ExprRewriter::rebuilder;
  using ExprRewriter::VisitList;
  using ExprRewriter::workspace;
  BlockBuilder& builder() { return builder_; }

 private:
  friend class ExprRewriter<ExprMutator>;
  const Expr* VisitOperand(const Expr* operand) { return VisitExpr(operand); }
  // A branch or a function body.
  const Expr* VisitBranch(const Expr* branch);
  const Type* NewReturnType(const Function* func, const Expr* body);

  BlockBuilder builder_;
  VarMap<Expr> remap_;  // the replacements of variables
};

}  // namespace iropt
