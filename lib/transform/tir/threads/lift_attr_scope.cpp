// tir.LiftAttrScope: merges equal attributes of statements next to each other into one around all of them.
//
//   with T.attr(x, "coproc_scope", 1):                   with T.attr(x, "coproc_scope", 1):
//       f()                                                  f()
//   with T.attr(x, "coproc_scope", 1):          -->          g()
//       g()
//
// with attr_key="coproc_scope": the pass moves attributes of this key out of loops, conditionals and bindings, until
// one next to it differs or an allocation is around it. This changes when an attribute holds, so it is for attributes
// that say where code runs. Equal: of the same node, and the value is the same expression or integer. Refuses `while`.
// O(statements).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/LiftAttrScope.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

class AttrScopeLifter : public tir::StmtExprMutator {
 public:
  AttrScopeLifter(std::string_view key, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace), key_(key), diagnostics_(diagnostics) {}

  const tir::Stmt* Lift(const tir::Stmt* body) { return Attach(VisitStmt(body)); }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const auto* visited = To<tir::Allocate>(StmtExprMutator::VisitAllocate(allocate));
    if (!lifted_) return visited;
    auto* copy = workspace().New<tir::Allocate>(*visited);
    copy->body = Attach(visited->body);
    return copy;
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != key_) return StmtExprMutator::VisitAttrStmt(stmt);
    lifted_ = {stmt->node, stmt->value};
    return stmt->body;
  }

  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> stmts;
    std::vector<Scope> scopes;
    for (const tir::Stmt* stmt : seq->seq) {
      stmts.push_back(VisitStmt(stmt));
      scopes.push_back(std::exchange(lifted_, {}));
    }
    std::vector<const tir::Stmt*> merged;
    for (size_t begin = 0; begin < stmts.size();) {
      size_t end = begin + 1;
      while (end < stmts.size() && scopes[end] == scopes[begin]) ++end;
      const std::span<const tir::Stmt* const> part(stmts.data() + begin, end - begin);
      lifted_ = scopes[begin];
      if (part.size() == stmts.size()) return MakeSeq(workspace(), part);
      merged.push_back(Attach(MakeSeq(workspace(), part)));
      begin = end;
    }
    return MakeSeq(workspace(), merged);
  }

  const tir::Stmt* VisitIfThenElse(const tir::IfThenElse* stmt) override {
    if (!stmt->else_case) return StmtExprMutator::VisitIfThenElse(stmt);
    const tir::Stmt* then_case = VisitStmt(stmt->then_case);
    const Scope then_scope = std::exchange(lifted_, {});
    const tir::Stmt* else_case = VisitStmt(stmt->else_case);
    if (!(lifted_ == then_scope)) {
      else_case = Attach(else_case);
      lifted_ = then_scope;
      then_case = Attach(then_case);
    }
    if (then_case == stmt->then_case && else_case == stmt->else_case) return stmt;
    return workspace().New<tir::IfThenElse>(stmt->condition, then_case, else_case);
  }

  const tir::Stmt* VisitWhile(const tir::While* loop) override {
    diagnostics_.Error(Location(*loop), "pass-failed", "tir.LiftAttrScope does not know loops by conditions");
    return loop;
  }

 private:
  // The attribute that was taken away from a statement.
  struct Scope {
    const Node* node = nullptr;
    const PrimExpr* value = nullptr;
    explicit operator bool() const { return node != nullptr; }
    friend bool operator==(const Scope& a, const Scope& b) {
      return a.node == b.node && (a.value == b.value || (a.node && SameInt(*a.value, *b.value)));
    }
    static bool SameInt(const PrimExpr& a, const PrimExpr& b) {
      const auto* x = As<tir::IntImm>(&a);
      const auto* y = As<tir::IntImm>(&b);
      return x && y && x->dtype == y->dtype && x->value == y->value;
    }
  };

  // The statement in the attribute that was taken away, if there is one.
  const tir::Stmt* Attach(const tir::Stmt* stmt) {
    const Scope scope = std::exchange(lifted_, {});
    if (!scope) return stmt;
    return workspace().New<tir::AttrStmt>(scope.node, workspace().arena().CopyString(key_), scope.value, stmt);
  }

  const std::string_view key_;
  DiagnosticEngine& diagnostics_;
  Scope lifted_;
};

}  // namespace

Pass CreateLiftAttrScope(const PassOptions& options) {
  return CreateBodyPass(
      options.info(), {},
      [key = *pass_options::LiftAttrScope(options).attr_key](const PrimFunc& func, FunctionPassContext& context) {
        return AttrScopeLifter(key, context.workspace(), context.diagnostics()).Lift(func.body);
      });
}

}  // namespace iropt
