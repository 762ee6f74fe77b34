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
#include "iropt/op/intrinsic_ids.h"
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
    found = found || IsOp(call->op, op::kTirUndef);
    ExprVisitor::VisitCall(call);
  }

 private:
  const LookupSet<const tir::Var*>& undefined_;
};

class UndefStoreRemover : public tir::StmtExprMutator {
 public:
  explicit UndefStoreRemover(Workspace& workspace) : StmtExprMutator(workspace, tir::kDropNoOps) {}
  std::string error;

  // Returns whether an undefined value is in the statement.
  bool Remains(const tir::Stmt* stmt) const {
    bool found = false;
    tir::PostOrderVisit(stmt, [&](const Node* node) {
      const auto* call = As<tir::Call>(node);
      const auto* var = As<tir::Var>(node);
      found = found || (call && IsOp(call->op, op::kTirUndef)) || (var && undefined_.contains(var));
    });
    return found;
  }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    return IsUndefined(store->value) ? tir::NoOp(workspace()) : store;
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (!IsUndefined(let->value)) return StmtExprMutator::VisitLetStmt(let);
    undefined_.insert(let->var);
    return VisitStmt(let->body);
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

}  // namespace

Pass CreateRemoveStoreUndef(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(),
                            [](const PrimFunc* function, FunctionPassContext& context) -> Result<const PrimFunc*> {
                              UndefStoreRemover remover(context.workspace());
                              const tir::Stmt* body = remover.VisitStmt(function->body);
                              if (!remover.error.empty()) return Error{ErrorCode::PassFailed, remover.error};
                              function = WithBody(function, body, context.workspace());
                              function = RemoveNoOps(function, context.context(), context.workspace());
                              if (remover.Remains(function->body))
                                return Error{ErrorCode::PassFailed, "an undefined value is used, not only stored"};
                              return function;
                            });
}

}  // namespace iropt
