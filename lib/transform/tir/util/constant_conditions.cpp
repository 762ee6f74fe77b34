#include "transform/tir/util/constant_conditions.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

bool HasConstantCondition(const tir::Stmt* stmt) {
  const auto* branch = As<tir::IfThenElse>(stmt);
  if (!branch) return false;
  const auto* likely = As<tir::Call>(branch->condition);
  return arith::AsInt(likely && IsOp(likely->op, op::kTirLikely) ? likely->args[0] : branch->condition);
}

bool HasConstantSelection(const tir::Stmt* stmt) {
  class Search : public tir::StmtExprVisitor {
   public:
    bool found = false;

   protected:
    void VisitCall(const tir::Call* call) override {
      found |= IsOp(call->op, op::kTirIfThenElse) && call->args.size() == 3 && arith::AsInt(call->args[0]);
      StmtExprVisitor::VisitCall(call);
    }
    void VisitSelect(const tir::Select* select) override {
      found |= arith::AsInt(select->condition) != nullptr;
      StmtExprVisitor::VisitSelect(select);
    }
  };
  Search search;
  search.VisitStmt(stmt);
  return search.found;
}

}  // namespace iropt
