#include "iropt/ir/relax/visitor.h"

namespace iropt {

void ExprVisitor::VisitExpr(const Expr* expr) {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { ExprVisitor::VisitExpr(expr); });
  switch (expr->kind) {
#define IROPT_HANDLE(Kind, Class)                                                                                      \
  case NodeKind::k##Kind:                                                                                              \
    return Visit##Kind(static_cast<const Class*>(expr));
#define IROPT_NODE(Kind, Class, Group) IROPT_IF_EXPR_##Group(Kind, Class)
#include "iropt/ir/node_kinds.def"
#undef IROPT_HANDLE
    default: IROPT_UNREACHABLE("{} as an expression", NodeKindName(expr->kind));
  }
}

template <class T>
void ExprVisitor::VisitField(FieldRole role, const T& value) {
  if constexpr (visit_detail::IsList<T>::value) {
    for (const auto& item : value) VisitField(role, item);
  } else if constexpr (std::is_convertible_v<T, const Type*>) {
    if (value != nullptr) VisitType(value);
  } else if constexpr (std::is_convertible_v<T, const Var*>) {
    role == FieldRole::kDef ? VisitVarDef(value) : VisitExpr(value);
  } else if constexpr (std::is_convertible_v<T, const Expr*>) {
    VisitExpr(value);
  } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
    VisitPrimExpr(value);
  } else if constexpr (std::is_convertible_v<T, const Binding*>) {
    VisitBinding(value);
  } else if constexpr (std::is_convertible_v<T, const BindingBlock*>) {
    VisitBlock(value);
  } else {
    static_assert(!visit_detail::kIsChild<T>, "a field that visitors do not know");
  }
}

template <class X>
void ExprVisitor::VisitFields(const X* node) {
  ForEachField(node, [&](auto field, const auto& value) { VisitField(field.role, value); });
}

void ExprVisitor::VisitBlock(const BindingBlock* block) {
  block->is_dataflow() ? VisitDataflowBlock(static_cast<const DataflowBlock*>(block)) : VisitBindingBlock(block);
}

void ExprVisitor::VisitBinding(const Binding* binding) {
  if (const auto* var_binding = As<VarBinding>(binding)) {
    VisitVarBinding(var_binding);
  } else {
    VisitMatchCast(To<MatchCast>(binding));
  }
}

void ExprVisitor::VisitBindingBlock(const BindingBlock* block) { VisitFields(block); }
void ExprVisitor::VisitDataflowBlock(const DataflowBlock* block) { VisitFields(block); }
void ExprVisitor::VisitVarBinding(const VarBinding* binding) {
  VisitExpr(binding->value);
  VisitVarDef(binding->var);
}
void ExprVisitor::VisitMatchCast(const MatchCast* binding) {
  VisitExpr(binding->value);
  VisitType(binding->match_type);
  VisitVarDef(binding->var);
}
void ExprVisitor::VisitVarDef(const Var* var) { VisitFields(var); }

void ExprVisitor::VisitConstant(const Constant* expr) { VisitFields(expr); }
void ExprVisitor::VisitVar(const Var* expr) { VisitFields(expr); }
void ExprVisitor::VisitDataflowVar(const DataflowVar* expr) { VisitVar(expr); }
void ExprVisitor::VisitGlobalVar(const GlobalVar*) {}
void ExprVisitor::VisitExternFunc(const ExternFunc* expr) { VisitFields(expr); }
void ExprVisitor::VisitOp(const Op*) {}
void ExprVisitor::VisitTuple(const Tuple* expr) { VisitFields(expr); }
void ExprVisitor::VisitTupleGetItem(const TupleGetItem* expr) { VisitFields(expr); }
void ExprVisitor::VisitCall(const Call* expr) { VisitFields(expr); }
void ExprVisitor::VisitShapeExpr(const ShapeExpr* expr) { VisitFields(expr); }
void ExprVisitor::VisitPrimValue(const PrimValue* expr) { VisitFields(expr); }
void ExprVisitor::VisitStringImm(const StringImm*) {}
void ExprVisitor::VisitDataTypeImm(const DataTypeImm*) {}
void ExprVisitor::VisitIf(const If* expr) { VisitFields(expr); }
void ExprVisitor::VisitSeqExpr(const SeqExpr* expr) { VisitFields(expr); }
void ExprVisitor::VisitFunction(const Function* expr) { VisitFields(expr); }
// The body of a PrimFunc is for tir::StmtExprVisitor.
void ExprVisitor::VisitPrimFunc(const PrimFunc*) {}

void PostOrderVisit(const Expr* expr, FunctionRef<void(const Expr*)> f) {
  class Visitor final : public ExprVisitor {
   public:
    explicit Visitor(FunctionRef<void(const Expr*)> f) : f_(f) {}
    void VisitExpr(const Expr* e) override {
      ExprVisitor::VisitExpr(e);
      f_(e);
    }

   private:
    FunctionRef<void(const Expr*)> f_;
  };
  Visitor(f).VisitExpr(expr);
}

}  // namespace iropt
