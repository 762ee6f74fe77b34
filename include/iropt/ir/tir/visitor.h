// Walking TIR statements and scalar expressions. See relax/visitor.h for the parts that the two levels share.
#pragma once

#include "iropt/ir/dispatch.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/stack.h"

#define IROPT_IF_PRIM_Type(Kind, Class)
#define IROPT_IF_PRIM_Attr(Kind, Class)
#define IROPT_IF_PRIM_Expr(Kind, Class)
#define IROPT_IF_PRIM_Binding(Kind, Class)
#define IROPT_IF_PRIM_Block(Kind, Class)
#define IROPT_IF_PRIM_Prim(Kind, Class) IROPT_HANDLE(Kind, Class)
#define IROPT_IF_PRIM_Stmt(Kind, Class)
#define IROPT_IF_PRIM_Part(Kind, Class)

#define IROPT_IF_STMT_Type(Kind, Class)
#define IROPT_IF_STMT_Attr(Kind, Class)
#define IROPT_IF_STMT_Expr(Kind, Class)
#define IROPT_IF_STMT_Binding(Kind, Class)
#define IROPT_IF_STMT_Block(Kind, Class)
#define IROPT_IF_STMT_Prim(Kind, Class)
#define IROPT_IF_STMT_Stmt(Kind, Class) IROPT_HANDLE(Kind, Class)
#define IROPT_IF_STMT_Part(Kind, Class)

namespace iropt::tir {

template <class Signature>
class ExprFunctor;
template <class Signature>
class StmtFunctor;

// A function over the kinds of scalar expressions: override Visit<Class>(const Class*, Args...) for the kinds of
// interest and VisitDefault for the others.
template <class R, class... Args>
class ExprFunctor<R(const PrimExpr*, Args...)> {
 public:
  virtual ~ExprFunctor() = default;
  virtual R VisitExpr(const PrimExpr* expr, Args... args) {
    return WithStack([&]() -> R { return DispatchExpr(expr, args...); });
  }

 protected:
  virtual R VisitDefault(const PrimExpr* expr, Args... args) = 0;
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  virtual R Visit##Class(const Class* expr, Args... args) { return VisitDefault(expr, args...); }
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE

 private:
  R DispatchExpr(const PrimExpr* expr, Args... args) {
    switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Class(static_cast<const Class*>(expr), args...);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
      default: IROPT_UNREACHABLE("{} as a scalar expression", NodeKindName(expr->kind));
    }
  }
};

// Dispatches a statement to the visit of its kind.
template <class R, class... Args>
class StmtFunctor<R(const Stmt*, Args...)> {
 public:
  virtual ~StmtFunctor() = default;
  virtual R VisitStmt(const Stmt* stmt, Args... args) {
    return WithStack([&]() -> R { return DispatchStmt(stmt, args...); });
  }

 protected:
  virtual R VisitStmtDefault(const Stmt* stmt, Args... args) = 0;
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  virtual R Visit##Class(const Class* stmt, Args... args) { return VisitStmtDefault(stmt, args...); }
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_STMT_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE

 private:
  R DispatchStmt(const Stmt* stmt, Args... args) {
    switch (stmt->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Class(static_cast<const Class*>(stmt), args...);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_STMT_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
      default: IROPT_UNREACHABLE("{} as a statement", NodeKindName(stmt->kind));
    }
  }
};

// Visits everything below a scalar expression. Override the functions of interest, and call the function of the base
// class to visit the operands.
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  virtual void VisitExpr(const PrimExpr* expr);

 protected:
#define IROPT_HANDLE(Kind, Class) virtual void Visit##Class(const Class* expr);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_PRIM_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  // Called for all binary operations unless their own function is overridden.
  virtual void VisitBinary(const BinaryExpr* expr);
  // The definition of a variable; its uses are VisitVar and VisitSizeVar (which calls VisitVar).
  virtual void VisitVarDef(const Var*) {}
  // A buffer that is read, written or named; for its definition see StmtExprVisitor::VisitBufferDef. Neither visits the
  // data variable.
  virtual void VisitBufferUse(const Buffer*) {}
  // The domain, then the variable.
  virtual void VisitIterVar(const IterVar* iter_var);
  virtual void VisitRange(const Range* range);
  virtual void VisitCommReducer(const CommReducer* reducer);
  virtual void VisitDataProducer(const DataProducer*) {}

 private:
  template <class X>
  void VisitFields(const X* node);
  template <class T>
  void VisitField(FieldRole role, const T& value);
};

// Visits everything below a statement.
class StmtExprVisitor : public ExprVisitor {
 public:
  virtual void VisitStmt(const Stmt* stmt);
  // Parameters, their buffers, the body.
  virtual void VisitPrimFunc(const PrimFunc* func);

 protected:
  using ExprVisitor::VisitExpr;
#define IROPT_HANDLE(Kind, Class) virtual void Visit##Class(const Class* stmt);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_STMT_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  // Visits the expressions of shape, strides and offset.
  virtual void VisitBufferDef(const Buffer* buffer);
  virtual void VisitBufferRegion(const BufferRegion* region);
  virtual void VisitMatchBufferRegion(const MatchBufferRegion* match);
  // Annotations. The expressions in those that refer to variables of the function are visited.
  virtual void VisitAttr(const Attr* attr);

 private:
  // The node that an AttrStmt is attached to.
  void VisitAttrNode(const Node* node);
  template <class X>
  void VisitStmtFields(const X* node);
  template <class T>
  void VisitStmtField(FieldRole role, const T& value);
};

// Calls f for every use of a variable under an expression, in order of occurrence. The data variables of the buffers
// that it reads do not count. An expression that shares operands is small as a graph and may be huge as a tree: after
// 512 nodes, no node is visited twice, so that uses in shared operands are found once.
void ForEachVar(const PrimExpr* expr, FunctionRef<void(const Var*)> f);

// Returns whether `holds` returns true for a variable that ForEachVar finds; or whether this variable is used. Ends at
// the first one.
bool UsesVar(const PrimExpr* expr, FunctionRef<bool(const Var*)> holds);
bool UsesVar(const PrimExpr* expr, const Var* var);

// Calls f for every statement, scalar expression, IterVar and BufferRegion under `node` (a statement or scalar
// expression) at each of its occurrences in post-order, `node` last. Definitions of variables are not expressions.
void PostOrderVisit(const Node* node, FunctionRef<void(const Node*)> f);

// The first statement in pre-order, `stmt` first, for which `holds` returns true; null if it holds for none.
// O(statements): expressions are not visited.
const Stmt* FindStmt(const Stmt* stmt, FunctionRef<bool(const Stmt*)> holds);

}  // namespace iropt::tir
