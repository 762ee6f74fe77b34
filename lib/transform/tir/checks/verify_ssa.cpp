// tir.VerifySSA: refuses functions in which a variable is defined twice.
//
//   for i in range(8):
//       A[i] = T.float32(0)
//   for i in range(8):                # fine, another variable
//       A[i] = T.float32(1)
//
// Parameters, loops, T.LetStmt, T.allocate and T.Let define variables; T.Let may define one again with an equal value.
// tir.ConvertSSA makes them different. Nothing changes. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include "iropt/ir/location.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class SSAVerifier : public tir::StmtExprVisitor {
 public:
  SSAVerifier(const PrimFunc& func, DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {
    for (const tir::Var* param : func.params) Define(param, param, func);
    VisitStmt(func.body);
  }

 protected:
  void VisitLet(const tir::Let* let) override {
    const auto* known = definitions_.Find(let->var);
    if (!known) {
      definitions_.try_emplace(let->var, let->value);
    } else if (!DeepEqual(*known, let->value)) {
      Refuse(*let->var, *let);
    }
    StmtExprVisitor::VisitLet(let);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    Define(let->var, let->value, *let);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitFor(const tir::For* loop) override {
    Define(loop->loop_var, loop->loop_var, *loop);
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    Define(allocate->buffer_var, allocate->buffer_var, *allocate);
    StmtExprVisitor::VisitAllocate(allocate);
  }

 private:
  void Define(const tir::Var* var, const PrimExpr* value, const Node& at) {
    if (!definitions_.try_emplace(var, value).second) Refuse(*var, at);
  }
  void Refuse(const tir::Var& var, const Node& at) {
    diagnostics_.Error(Location(at), "pass-failed",
                       fmt::format("the variable '{}' is defined twice: run tir.ConvertSSA first", var.name));
  }

  DiagnosticEngine& diagnostics_;
  // Values of bindings; other variables stand for themselves.
  LookupMap<const tir::Var*, const PrimExpr*> definitions_;
};

}  // namespace

Pass CreateVerifySSA(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* func = As<PrimFunc>(entry.func)) SSAVerifier(*func, context.diagnostics);
    }
    return module;
  });
}

}  // namespace iropt
