// tir.RemoveStoreUndef: removes stores of undefined values.
//
//   A[i] = T.undef(dtype="int32")          -->     A[i + 1] = 2
//   A[i + 1] = 2
//
// A value is undefined if T.undef(), or a variable that is bound to such a value, occurs in it outside of the indices
// of loads. tir.RemoveNoOp then removes what is empty. An undefined value that remains, and one that is stored or bound
// together with an effect, is an error. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <string>

#include "function_passes.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class UndefFinder : public tir::ExprVisitor {
 public:
  explicit UndefFinder(const LookupSet<const tir::Var*>& undefined) : undefined_(undefined) {}
  bool found = false;

 protected:
  void VisitBufferLoad(const tir::BufferLoad*) override {}
  void VisitVar(const tir::Var* var) override { found = found || undefined_.contains(var); }
  void VisitCall(const tir::Call* call) override {
    found = found || IsOp(call->op, OpId::kTirUndef);
    ExprVisitor::VisitCall(call);
  }

 private:
  const LookupSet<const tir::Var*>& undefined_;
};

class UndefStoreRemover : public tir::StmtExprMutator {
 public:
  explicit UndefStoreRemover(Workspace& workspace) : StmtExprMutator(workspace, tir::kDropNoOps) {}
  std::string error;

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    return IsUndefined(store->value) ? tir::NoOp(workspace()) : store;
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (IsUndefined(let->value)) undefined_.insert(let->var);
    return StmtExprMutator::VisitLetStmt(let);
  }

 private:
  bool IsUndefined(const PrimExpr* value) {
    UndefFinder finder(undefined_);
    finder.VisitExpr(value);
    if (finder.found && arith::SideEffect(value) > CallEffect::kReadState)
      error = "an undefined value is stored or bound together with an effect";
    return finder.found;
  }

  LookupSet<const tir::Var*> undefined_;
};

bool HasUndef(const PrimFunc& func) {
  bool found = false;
  tir::PostOrderVisit(func.body, [&](const Node* node) {
    const auto* call = As<tir::Call>(node);
    found = found || (call && IsOp(call->op, OpId::kTirUndef));
  });
  return found;
}

}  // namespace

Pass CreateRemoveStoreUndef(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              UndefStoreRemover remover(context.workspace());
                              const tir::Stmt* body = remover.VisitStmt(function->body);
                              if (!remover.error.empty()) return Error{ErrorCode::PassFailed, remover.error};
                              function = WithBody(function, body, context.workspace());
                              function = RemoveNoOps(function, context.context(), context.workspace());
                              if (HasUndef(*function))
                                return Error{ErrorCode::PassFailed, "an undefined value is used, not only stored"};
                              return function;
                            });
}

}  // namespace iropt
