// Rewriting Relax code without virtual calls: the walk, copy-on-write and types of every rewriting. ExprMutator
// (mutator.h) is this with virtual functions and a BlockBuilder; it suits passes that emit new bindings.
//
//   // Replaces one variable by another one.
//   class VarReplacer : private ExprRewriter<VarReplacer> {
//    public:
//     VarReplacer(const Var* from, const Var* to, Workspace& workspace, TypeInferrer& inferrer)
//         : ExprRewriter(workspace, &inferrer), from_(from), to_(to) {}
//     const Function* Run(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }
//
//    private:
//     friend class ExprRewriter<VarReplacer>;
//     const Expr* VisitVar(const Var* var) { return var == from_ ? to_ : var; }
//     const Var* from_;
//     const Var* to_;
//   };
//
// A walk that changes nothing allocates nothing and costs about two nanoseconds per operand.
#pragma once

#include <optional>

#include "iropt/ir/prefetched_range.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/stack.h"

namespace iropt {

// Every function returns its argument if nothing below changed. Derived hides the functions for the nodes to rewrite
// and calls ExprRewriter::Visit... to visit the operands. The code is in A-normal form, and what is returned must be,
// too: a leaf for an operand. Nesting may be of any depth.
template <class Derived>
class ExprRewriter {
 protected:
  // The inferrer may be null with Retype::kNever and kLeaveOpen.
  ExprRewriter(Workspace& workspace, TypeInferrer* inferrer, Retype retype = Retype::kIfNeeded)
      : rebuilder_(workspace, inferrer, retype) {}

  Workspace& workspace() { return rebuilder_.workspace(); }
  TypeInferrer* inferrer() { return rebuilder_.inferrer(); }
  Rebuilder& rebuilder() { return rebuilder_; }
  // A node like the old one with other parts, see Rebuilder.
  template <class... Parts>
  auto Rebuild(Parts&&... parts) {
    return rebuilder_.Rebuild(std::forward<Parts>(parts)...);
  }

  const Expr* VisitExpr(const Expr* expr) {
    switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Enter<Class>(expr, [this](const Class* e) -> const Expr* { return derived().Visit##Kind(e); });
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
      default: IROPT_UNREACHABLE("{} as an expression", NodeKindName(expr->kind));
    }
  }

  // Most operands are variables and operators: VisitExpr without its table of kinds.
  const Expr* VisitOperand(const Expr* expr) {
    switch (expr->kind) {
      case NodeKind::kVar: return derived().VisitVar(static_cast<const Var*>(expr));
      case NodeKind::kDataflowVar: return derived().VisitDataflowVar(static_cast<const DataflowVar*>(expr));
      case NodeKind::kOp: return derived().VisitOp(static_cast<const Op*>(expr));
      default: return derived().VisitExpr(expr);
    }
  }

  List<const Expr*> VisitList(List<const Expr*> list) {
    return MapList(list, workspace(), [this](const Expr* e) { return derived().VisitOperand(e); });
  }

  // ---- Leaves
  const Expr* VisitVar(const Var* expr) { return expr; }
  const Expr* VisitDataflowVar(const DataflowVar* expr) { return derived().VisitVar(expr); }
  const Expr* VisitConstant(const Constant* expr) { return expr; }
  const Expr* VisitGlobalVar(const GlobalVar* expr) { return expr; }
  const Expr* VisitExternFunc(const ExternFunc* expr) { return expr; }
  const Expr* VisitOp(const Op* expr) { return expr; }
  const Expr* VisitStringImm(const StringImm* expr) { return expr; }
  const Expr* VisitDataTypeImm(const DataTypeImm* expr) { return expr; }
  const Expr* VisitShapeExpr(const ShapeExpr* expr) {
    return Rebuild(*expr, MapList(expr->values, workspace(), [this](const PrimExpr* value) -> const PrimExpr* {
      return derived().VisitPrimExpr(value);
    }));
  }
  const Expr* VisitPrimValue(const PrimValue* expr) { return Rebuild(*expr, derived().VisitPrimExpr(expr->value)); }
  // PrimFuncs are for tir::StmtExprMutator.
  const Expr* VisitPrimFunc(const PrimFunc* expr) { return expr; }

  // ---- Expressions with operands
  const Expr* VisitCall(const Call* expr) {
    const Expr* op = derived().VisitOperand(expr->op);
    const List<const Expr*> args = VisitList(expr->args);
    const Attr* attrs = expr->attrs ? derived().VisitAttr(expr->attrs) : nullptr;
    const TupleType* type_args = VisitTypeOrNull(expr->type_args);
    return Rebuild(*expr, op, args, attrs, type_args, VisitTypeOrNull(expr->type));
  }
  const Expr* VisitTuple(const Tuple* expr) {
    const List<const Expr*> fields = VisitList(expr->fields);
    return Rebuild(*expr, fields, VisitTypeOrNull(expr->type));
  }
  const Expr* VisitTupleGetItem(const TupleGetItem* expr) {
    const Expr* tuple = derived().VisitOperand(expr->tuple);
    return Rebuild(*expr, tuple, VisitTypeOrNull(expr->type));
  }
  const Expr* VisitIf(const If* expr) {
    const Expr* cond = derived().VisitExpr(expr->cond);
    const Expr* true_branch = derived().VisitBranch(expr->true_branch);
    return Rebuild(*expr, cond, true_branch, derived().VisitBranch(expr->false_branch));
  }
  // A local function keeps its signature.
  const Expr* VisitFunction(const Function* expr) {
    return rebuilder_.RebuildBody(*expr, derived().VisitBody(expr->body));
  }
  const Expr* VisitBody(const Expr* body) { return derived().VisitExpr(body); }
  const Expr* VisitBranch(const Expr* branch) { return derived().VisitExpr(branch); }

  // ---- Blocks and bindings
  const Expr* VisitSeqExpr(const SeqExpr* expr) {
    const List<const BindingBlock*> blocks =
        MapList(expr->blocks, workspace(), [this](const BindingBlock* block) { return derived().VisitBlock(block); });
    return Rebuild(*expr, blocks, derived().VisitExpr(expr->body));
  }
  const BindingBlock* VisitBlock(const BindingBlock* block) {
    return Rebuild(*block, derived().VisitBindings(block->bindings));
  }
  // The binding that replaces each; null to drop it.
  List<const Binding*> VisitBindings(List<const Binding*> old) {
    auto next = PrefetchedRange(old).begin();
    return MapList(old, workspace(), [&](const Binding*) -> std::optional<const Binding*> {
      const Binding* visited = derived().VisitBinding(*next);
      ++next;
      return visited ? std::optional(visited) : std::nullopt;
    });
  }
  const Binding* VisitBinding(const Binding* binding) {
    return Rebuild(*binding, binding->var, derived().VisitExpr(ValueOf(binding)));
  }

  // ---- Parts of nodes that are not expressions; never null
  const PrimExpr* VisitPrimExpr(const PrimExpr* expr) { return expr; }
  const Type* VisitType(const Type* type) { return type; }
  const Attr* VisitAttr(const Attr* attr) { return attr; }

  template <class T>
  const T* VisitTypeOrNull(const T* type) {
    return type ? static_cast<const T*>(derived().VisitType(type)) : nullptr;
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  // Nodes that can be nested to any depth in A-normal form are visited with enough stack.
  template <class T, class F>
  const Expr* Enter(const Expr* expr, F&& visit) {
    constexpr bool kNests = T::kKind == NodeKind::kTuple || T::kKind == NodeKind::kIf ||
                            T::kKind == NodeKind::kSeqExpr || T::kKind == NodeKind::kFunction;
    const auto* exact = static_cast<const T*>(expr);
    if constexpr (kNests) {
      return WithStack([&] { return visit(exact); });
    } else {
      return visit(exact);
    }
  }

  Rebuilder rebuilder_;
};

}  // namespace iropt
