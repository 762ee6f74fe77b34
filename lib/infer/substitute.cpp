#include "iropt/infer/substitute.h"

#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Replaces the variables everywhere, types included.
class VariableBinder : public ExprMutator {
 public:
  VariableBinder(const SymVarMap& symbolic, Workspace& workspace, TypeInferrer& inferrer)
      : ExprMutator(workspace, &inferrer), symbolic_(symbolic) {}

  const Function* Bind(const Function* function, std::span<const BoundParam> params) {
    for (const auto& [param, value] : params) Remap(param, value);
    return To<Function>(VisitExpr(params.empty() ? function : WithoutBoundParams(*function)));
  }

 protected:
  const Type* VisitType(const Type* type) override {
    // The replacement of the variable may itself change.
    if (type->has_shape_var()) return Substitute(type);
    if (!type->has_sym_var() || symbolic_.empty()) return type;
    const Type*& bound = types_[type];
    if (!bound) bound = Substitute(type);
    return bound;
  }
  const PrimExpr* VisitPrimExpr(const PrimExpr* e) override {
    const PrimExpr* bound = SubstituteSymVars(e, symbolic_);
    return bound == e ? e : arith::Simplify(bound);
  }
  const Attr* VisitAttr(const Attr* attr) override {
    return symbolic_.empty() ? attr : SubstituteSymVars(attr, symbolic_);
  }

  // A function keeps its declared result type unless the type of the body is more precise.
  const Expr* VisitFunction(const Function* old) override {
    const auto* bound = To<Function>(ExprMutator::VisitFunction(old));
    if (bound == old) return old;
    const Type* returned =
        FunctionReturnType(bound->params, bound->body->type, VisitType(old->ret_type), workspace().arena());
    if (TypeEqual(returned, bound->ret_type)) return bound;
    return rebuilder().RebuildSignature(*bound, bound->params, bound->body, returned, bound->attrs);
  }

 private:
  const Function* WithoutBoundParams(const Function& function) {
    std::vector<const Var*> kept;
    for (const Var* param : function.params) {
      if (!RemapOf(param)) kept.push_back(param);
    }
    return rebuilder().RebuildSignature(function, kept, function.body, function.ret_type);
  }

  const Type* Substitute(const Type* type) {
    return EraseToWellDefined(
        type, [this](const tir::Var* var) { return ValueOf(var); },
        [this](const Expr* shape) {
          const Expr* replaced = RemapOf(To<Var>(shape));
          return replaced ? replaced : shape;
        },
        workspace().arena());
  }

  const PrimExpr* ValueOf(const tir::Var* var) const {
    const PrimExpr* value = symbolic_.Find(var);
    return value ? value : var;
  }

  const SymVarMap& symbolic_;
  LookupMap<const Type*, const Type*> types_;  // type -> its replacement
};

}  // namespace

const Function* Substitute(const Function* function, const SymVarMap& symbolic, std::span<const BoundParam> params,
                           const Module* module, Workspace& workspace, DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(module, workspace.arena(), &diagnostics);
  VariableBinder binder(symbolic, workspace, inferrer);
  const Function* bound = binder.Bind(function, params);
  return binder.failed() ? nullptr : bound;
}

}  // namespace iropt
