// tir.CombineContextCall: makes the context of a thread once, where it is used several times.
//
//   for i in range(n):                                         ctx: T.handle = T.call_extern("handle", "context")
//       T.call_extern("int32", "step",                 -->     for i in range(n):
//           T.tvm_thread_context(                                  T.call_extern("int32", "step", ctx)
//               T.call_extern("handle", "context")))
//
// It is made at the start of the function, of the parallel loop, or of the code of the thread (thread_extent,
// coproc_uop_scope) around its uses, or at the use if it depends on a variable that is defined in between. Only
// functions on the host change. O(nodes * contexts).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/util/expr_map.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class ContextCombiner : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

  const tir::Stmt* Combine(const tir::Stmt* body) {
    return InScope([&] { return VisitStmt(body); });
  }

 protected:
  const PrimExpr* VisitCall(const tir::Call* call) override {
    if (!IsOp(call->op, op::kTirTvmThreadContext) || call->args.size() != 1) return StmtExprMutator::VisitCall(call);
    const PrimExpr* context = call->args[0];
    if (DependsOnScope(context)) return context;
    const auto [var, is_new] = scope_.vars.try_emplace(context, nullptr);
    if (is_new) {
      var = workspace().NewPrimVar("ctx_cache_", context->dtype);
      scope_.contexts.push_back(context);
    }
    return var;
  }
  const tir::Var* VisitVarDef(const tir::Var* var) override {
    scope_.defined.insert(var);
    return StmtExprMutator::VisitVarDef(var);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto visit = [&] { return StmtExprMutator::VisitAttrStmt(stmt); };
    const bool is_scope = stmt->attr_key == attr::kThreadExtent || stmt->attr_key == attr::kCoprocUopScope;
    return is_scope ? InScope(visit) : visit();
  }
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const auto visit = [&] { return StmtExprMutator::VisitFor(loop); };
    return loop->for_kind == tir::ForKind::kParallel ? InScope(visit) : visit();
  }

 private:
  struct Scope {
    std::vector<const PrimExpr*> contexts;
    ExprMap<const tir::Var*> vars;  // by context
    LookupSet<const tir::Var*> defined;
  };

  bool DependsOnScope(const PrimExpr* context) const { return tir::UsesAnyOf(scope_.defined, context); }
  template <class F>
  const tir::Stmt* InScope(F&& visit) {
    Scope outer = std::exchange(scope_, {});
    const tir::Stmt* stmt = visit();
    for (size_t i = scope_.contexts.size(); i > 0; --i) {
      const PrimExpr* context = scope_.contexts[i - 1];
      stmt = workspace().New<tir::LetStmt>(scope_.vars.at(context), context, stmt);
    }
    scope_ = std::move(outer);
    return stmt;
  }

  Scope scope_;
};

}  // namespace

Pass CreateCombineContextCall(const PassOptions& options) {
  return CreateBodyPass(options.info(), {}, [](const PrimFunc& func, FunctionPassContext& context) {
    return IsHostFunc(func) ? ContextCombiner(context.workspace()).Combine(func.body) : func.body;
  });
}

}  // namespace iropt
