// Walking Relax expressions. See tir/visitor.h for TIR, mutator.h for rewriting.
//
// The functions of a class are generated from node_kinds.def: a kind that no class handles fails the build. Nesting may
// be of any depth (every step down goes through WithStack), straight-line code of any length is a loop.
#pragma once

#include "iropt/ir/dispatch.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/stack.h"

// The rows of node_kinds.def of one group: define IROPT_HANDLE(Kind, Class) and include the .def with
// `#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)`.
#define IROPT_IF_EXPR_Type(Kind, Class)
#define IROPT_IF_EXPR_Attr(Kind, Class)
#define IROPT_IF_EXPR_Expr(Kind, Class) IROPT_HANDLE(Kind, Class)
#define IROPT_IF_EXPR_Binding(Kind, Class)
#define IROPT_IF_EXPR_Block(Kind, Class)
#define IROPT_IF_EXPR_Prim(Kind, Class)
#define IROPT_IF_EXPR_Stmt(Kind, Class)
#define IROPT_IF_EXPR_Part(Kind, Class)

namespace iropt {

// Calls f for every node directly below: expressions, bindings, blocks, scalar expressions, statements and their parts,
// uses and definitions alike, with the static type of the field that holds it. Types, attributes and null pointers are
// left out. No recursion, no virtual call: for hot loops of analyses.
template <class F>
void ForEachChild(const Node* node, F&& f);

// A function over the kinds of expressions: override Visit<Kind>(const Kind*, Args...) for the kinds of interest and
// VisitDefault for the others.
template <class Signature>
class ExprFunctor;

template <class R, class... Args>
class ExprFunctor<R(const Expr*, Args...)> {
 public:
  virtual ~ExprFunctor() = default;
  virtual R VisitExpr(const Expr* expr, Args... args) {
    return WithStack([&]() -> R { return DispatchExpr(expr, args...); });
  }

 protected:
  virtual R VisitDefault(const Expr* expr, Args... args) = 0;
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  virtual R Visit##Kind(const Class* expr, Args... args) { return VisitDefault(expr, args...); }
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE

 private:
  R DispatchExpr(const Expr* expr, Args... args) {
    switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Kind(static_cast<const Class*>(expr), args...);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
      default: IROPT_UNREACHABLE("{} as an expression", NodeKindName(expr->kind));
    }
  }
};

// Visits everything below a Relax expression. Override the functions of interest, and call the function of the base
// class to visit the operands:
//
//   void VisitCall(const Call* call) override {
//     ++calls_;
//     ExprVisitor::VisitCall(call);
//   }
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  virtual void VisitExpr(const Expr* expr);
  virtual void VisitBlock(const BindingBlock* block);
  virtual void VisitBinding(const Binding* binding);

 protected:
#define IROPT_HANDLE(Kind, Class) virtual void Visit##Kind(const Class* expr);
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
  virtual void VisitBindingBlock(const BindingBlock* block);
  virtual void VisitDataflowBlock(const DataflowBlock* block);
  // The value, then the variable.
  virtual void VisitVarBinding(const VarBinding* binding);
  virtual void VisitMatchCast(const MatchCast* binding);
  // The definition of a variable, as a parameter or by a binding; its uses are VisitVar and VisitDataflowVar (which
  // calls VisitVar).
  virtual void VisitVarDef(const Var* var);
  // A dimension of a ShapeExpr, the value of a PrimValue.
  virtual void VisitPrimExpr(const PrimExpr*) {}
  // Types of all expressions and variable definitions, result types of functions, type arguments; never null.
  virtual void VisitType(const Type*) {}

 private:
  template <class X>
  void VisitFields(const X* node);
  template <class T>
  void VisitField(FieldRole role, const T& value);
};

// Calls f for every expression under `expr` at each of its occurrences, operands first, `expr` last. Definitions of
// variables are not expressions.
void PostOrderVisit(const Expr* expr, FunctionRef<void(const Expr*)> f);

// ---- Implementation

namespace visit_detail {

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<List<T>> : std::true_type {};

// True if a field of this type refers to child nodes: all except types and attributes.
template <class T>
constexpr bool kIsChild = std::is_convertible_v<T, const Node*> && !std::is_convertible_v<T, const Type*> &&
                          !std::is_convertible_v<T, const Attr*>;

}  // namespace visit_detail

template <class F>
void ForEachChild(const Node* node, F&& f) {
  Dispatch(node, [&](const auto* exact) {
    ForEachField(exact, [&](auto, const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (visit_detail::IsList<T>::value) {
        if constexpr (visit_detail::kIsChild<std::remove_cvref_t<decltype(value[0])>>) {
          for (const auto& item : value) {
            if (item != nullptr) f(item);
          }
        }
      } else if constexpr (visit_detail::kIsChild<T>) {
        if (value != nullptr) f(value);
      }
    });
  });
}

}  // namespace iropt
