// One lane of a vector.
#pragma once

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::races {

// Writes vector expressions as scalar ones that have the number of the lane as a variable. All vectors of an access
// have the same lanes.
class Lanes : public tir::ExprFunctor<const PrimExpr*(const PrimExpr*)> {
 public:
  explicit Lanes(Workspace& workspace) : workspace_(workspace), make_(workspace) {}

  // Null if the expression has another form than that of an index or a condition. Scalars are their own lanes.
  const PrimExpr* Of(const PrimExpr* expr) { return VisitExpr(expr); }

  // The number of the lane; null if no expression depends on it.
  const tir::Var* var() const { return var_; }
  const PrimExpr* count() const { return count_; }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    return expr->dtype.is_scalar() ? expr : ExprFunctor::VisitExpr(expr);
  }
  const PrimExpr* VisitDefault(const PrimExpr* expr) override;
  const PrimExpr* VisitBroadcast(const tir::Broadcast* broadcast) override { return broadcast->value; }
  const PrimExpr* VisitRamp(const tir::Ramp* ramp) override;
  const PrimExpr* VisitCast(const tir::Cast* cast) override;
  const PrimExpr* VisitNot(const tir::Not* expr) override;
  const PrimExpr* VisitSelect(const tir::Select* expr) override;
  const PrimExpr* VisitCall(const tir::Call* call) override;
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override;

 private:
  const tir::Var* Number(const PrimExpr& vector);

  Workspace& workspace_;
  const arith::PrimBuilder make_;
  const tir::Var* var_ = nullptr;
  const PrimExpr* count_ = nullptr;
};

}  // namespace iropt::races
