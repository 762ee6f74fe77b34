#include "transform/tir/vectorize/predicate_accesses.h"

#include <array>

#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

class AccessPredicator : public tir::StmtExprMutator {
 public:
  AccessPredicator(const PrimExpr* base, const PrimExpr* limit, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), base_(base), limit_(limit) {}

  bool all_predicated() const { return accesses_ > 0 && accesses_ == predicated_; }

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    return Predicate(To<tir::BufferLoad>(StmtExprMutator::VisitBufferLoad(load)));
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    return Predicate(To<tir::BufferStore>(StmtExprMutator::VisitBufferStore(store)));
  }

 private:
  template <class T>
  const T* Predicate(const T* access) {
    ++accesses_;
    const auto* ramp = access->indices.empty() ? nullptr : As<tir::Ramp>(access->indices[0]);
    if (!ramp || !DeepEqual(ramp->base, base_)) return access;
    ++predicated_;
    const std::array<const PrimExpr*, 2> args = {base_, limit_};
    T copy = *access;
    copy.flags = 0;
    copy.predicate = workspace().template New<tir::Call>(DataType::Bool().with_lanes(ramp->dtype.lanes),
                                                         GetOp(op::kTirGetActiveLaneMask),
                                                         workspace().Copy(std::span<const PrimExpr* const>(args)));
    return workspace().template New<T>(copy);
  }

  const PrimExpr* base_;
  const PrimExpr* limit_;
  size_t accesses_ = 0;
  size_t predicated_ = 0;
};

}  // namespace

const tir::Stmt* PredicateAccesses(const tir::Stmt* stmt, const PrimExpr* condition, Workspace& workspace) {
  const auto* less = As<tir::LT>(condition);
  const auto* ramp = less ? As<tir::Ramp>(less->a) : nullptr;
  const auto* limit = less ? As<tir::Broadcast>(less->b) : nullptr;
  if (!ramp || !limit) return nullptr;
  AccessPredicator predicator(ramp->base, limit->value, workspace);
  const tir::Stmt* predicated = predicator.VisitStmt(stmt);
  return predicator.all_predicated() ? predicated : nullptr;
}

}  // namespace iropt
