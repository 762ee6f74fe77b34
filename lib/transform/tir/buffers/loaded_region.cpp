#include "transform/tir/buffers/loaded_region.h"

#include <optional>
#include <utility>

#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

using arith::IntervalSet;

class LoadCollector : public tir::StmtExprVisitor {
 public:
  LoadCollector(const tir::Buffer* buffer, arith::Analyzer& analyzer, Workspace& workspace)
      : buffer_(buffer), analyzer_(analyzer), values_(workspace) {}

  std::vector<IntervalSet> region;

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    if (load->buffer == buffer_) {
      for (uint32_t i = 0; i < load->indices.size(); ++i) {
        const PrimExpr* index = load->indices[i];
        // As in TVM, the lanes of a vector do not depend on loops.
        const IntervalSet set = arith::EvalSet(index, Is<tir::Ramp>(index) ? no_domains_ : domains_, analyzer_);
        if (i < region.size()) {
          region[i] = arith::Union(region[i], set, analyzer_);
        } else {
          region.push_back(set);
        }
      }
    }
    StmtExprVisitor::VisitBufferLoad(load);
  }

  // ---- Ranges of variables

  void VisitFor(const tir::For* loop) override {
    Bind(loop->loop_var, loop->min, loop->extent);
    StmtExprVisitor::VisitFor(loop);
  }
  void VisitBlock(const tir::Block* block) override {
    for (const tir::IterVar* axis : block->iter_vars) Bind(*axis);
    StmtExprVisitor::VisitBlock(block);
  }
  void VisitReduce(const tir::Reduce* reduce) override {
    for (const tir::IterVar* axis : reduce->axis) Bind(*axis);
    StmtExprVisitor::VisitReduce(reduce);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* axis = tir::ThreadAxisOf(*stmt))
      Bind(axis->var, make().Const(0, stmt->value->dtype), stmt->value);
    StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    BindValue(let->var, let->value);
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitLet(const tir::Let* let) override {
    BindValue(let->var, let->value);
    StmtExprVisitor::VisitLet(let);
  }

  // ---- Conditions

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    VisitExpr(stmt->condition);
    const tir::Call* likely = CallOf(stmt->condition, op::kTirLikely);
    const PrimExpr* condition = likely ? likely->args[0] : stmt->condition;
    Where(condition, [&] { VisitStmt(stmt->then_case); });
    if (stmt->else_case) Where(analyzer_.RewriteSimplify(make().Not(condition)), [&] { VisitStmt(stmt->else_case); });
  }
  void VisitCall(const tir::Call* call) override {
    if (!IsOp(call->op, op::kTirIfThenElse) || call->args.size() != 3) return StmtExprVisitor::VisitCall(call);
    VisitExpr(call->args[0]);
    Where(call->args[0], [&] { VisitExpr(call->args[1]); });
    Where(analyzer_.RewriteSimplify(make().Not(call->args[0])), [&] { VisitExpr(call->args[2]); });
  }
  void VisitAssertStmt(const tir::AssertStmt* stmt) override {
    VisitExpr(stmt->condition);
    Where(stmt->condition, [&] { VisitStmt(stmt->body); });
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  void Bind(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent) {
    analyzer_.Bind(var, min, extent);
    domains_.insert_or_assign(var, IntervalSet::FromRange(min, extent, make()));
  }
  void Bind(const tir::IterVar& axis) {
    if (axis.dom) Bind(axis.var, axis.dom->min, axis.dom->extent);
  }
  void BindValue(const tir::Var* var, const PrimExpr* value) {
    if (!arith::IsIndexType(value->dtype)) return;
    // The sets of values have about as many parts as these.
    if (!values_.Bind(var, value)) {
      domains_.insert_or_assign(var, IntervalSet::Everything());
      return;
    }
    if (arith::IsPure(value)) analyzer_.Bind(var, value);
    domains_.insert_or_assign(var, arith::EvalSet(value, domains_, analyzer_));
  }

  // visit() where the condition holds.
  template <class F>
  void Where(const PrimExpr* condition, F&& visit) {
    const arith::Analyzer::Constraint constraint(analyzer_, condition);
    std::vector<std::pair<const tir::Var*, std::optional<IntervalSet>>> outer;
    Restrict(condition, outer);
    visit();
    for (auto it = outer.rbegin(); it != outer.rend(); ++it) {
      if (it->second) {
        domains_.insert_or_assign(it->first, *it->second);
      } else {
        domains_.erase(it->first);
      }
    }
  }

  // Restricts the sets of variables by the comparisons in a conjunction; `outer` gets the sets before.
  void Restrict(const PrimExpr* condition, std::vector<std::pair<const tir::Var*, std::optional<IntervalSet>>>& outer) {
    if (const auto* both = As<tir::And>(condition)) {
      WithStack([&] {
        Restrict(both->a, outer);
        Restrict(both->b, outer);
      });
      return;
    }
    const bool is_order = condition->kind >= NodeKind::kLT && condition->kind <= NodeKind::kGE;
    if (!is_order && condition->kind != NodeKind::kEQ) return;
    const auto* comparison = To<tir::BinaryExpr>(condition);
    if (!arith::IsIndexType(comparison->a->dtype)) return;
    if (const auto* var = As<tir::Var>(comparison->a)) Restrict(var, condition->kind, comparison->b, outer);
    if (const auto* var = As<tir::Var>(comparison->b)) Restrict(var, Mirrored(condition->kind), comparison->a, outer);
  }
  void Restrict(const tir::Var* var, NodeKind kind, const PrimExpr* limit,
                std::vector<std::pair<const tir::Var*, std::optional<IntervalSet>>>& outer) {
    const IntervalSet bound = BoundOf(kind, limit);
    auto* known = domains_.Find(var);
    if (!known) {
      outer.emplace_back(var, std::nullopt);
      domains_.try_emplace(var, bound);
    } else {
      outer.emplace_back(var, *known);
      *known = arith::Intersect(bound, *known, analyzer_);
    }
  }

  // a < b as b > a
  static NodeKind Mirrored(NodeKind kind) {
    switch (kind) {
      case NodeKind::kLT: return NodeKind::kGT;
      case NodeKind::kLE: return NodeKind::kGE;
      case NodeKind::kGT: return NodeKind::kLT;
      case NodeKind::kGE: return NodeKind::kLE;
      default: return kind;
    }
  }
  // The values that compare so with the limit.
  IntervalSet BoundOf(NodeKind kind, const PrimExpr* limit) const {
    const PrimExpr* one = make().Const(1, limit->dtype);
    switch (kind) {
      case NodeKind::kLT: return IntervalSet::Interval(nullptr, make().Sub(limit, one));
      case NodeKind::kLE: return IntervalSet::Interval(nullptr, limit);
      case NodeKind::kGT: return IntervalSet::Interval(make().Add(limit, one), nullptr);
      case NodeKind::kGE: return IntervalSet::Interval(limit, nullptr);
      default: return IntervalSet::Point(limit);
    }
  }

  const tir::Buffer* buffer_;
  arith::Analyzer& analyzer_;
  tir::WrittenValues values_;
  arith::VarDomains domains_;
  const arith::VarDomains no_domains_;
};

}  // namespace

std::vector<arith::IntervalSet> LoadedRegion(const tir::Stmt* stmt, const tir::Buffer* buffer,
                                             arith::Analyzer& analyzer, Workspace& workspace) {
  LoadCollector collector(buffer, analyzer, workspace);
  collector.VisitStmt(stmt);
  return std::move(collector.region);
}

}  // namespace iropt
