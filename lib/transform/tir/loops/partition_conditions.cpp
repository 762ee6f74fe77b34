#include "transform/tir/loops/partition_conditions.h"

#include <algorithm>
#include <utility>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/deduce_bound.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

bool IsConstantRange(const PrimExpr* min, const PrimExpr* extent) { return arith::AsInt(min) && arith::AsInt(extent); }

// The variable that a hint is about: that of the loop below, where there is one, because the variable that the hint
// names cannot be that of a loop that does not exist yet.
const tir::Var* HintedVar(const tir::AttrStmt& hint) {
  if (const auto* axis = As<tir::IterVar>(hint.node)) return axis->var;
  const auto* var = As<tir::Var>(hint.node);
  if (!var) return nullptr;
  const tir::Stmt* below = hint.body;
  while (const auto* attr = As<tir::AttrStmt>(below)) below = attr->body;
  const auto* loop = As<tir::For>(below);
  return loop ? loop->loop_var : var;
}

NodeKind Negate(NodeKind comparison) {
  switch (comparison) {
    case NodeKind::kLT: return NodeKind::kGE;
    case NodeKind::kGE: return NodeKind::kLT;
    case NodeKind::kGT: return NodeKind::kLE;
    case NodeKind::kLE: return NodeKind::kGT;
    case NodeKind::kEQ: return NodeKind::kNE;
    default: return NodeKind::kEQ;
  }
}

bool IsComparison(const PrimExpr& expr) { return expr.kind >= NodeKind::kEQ && expr.kind <= NodeKind::kGE; }

// Checks whether an expression can be evaluated in front of a loop: without loads, which the loop may change, without
// variables of the loop, and without divisions that a condition in the loop may have to guard.
class HoistCheck : private tir::ExprVisitor {
 public:
  static bool CanHoist(const PrimExpr* expr, const LookupSet<const tir::Var*>& defined, arith::Analyzer& analyzer) {
    HoistCheck check(defined, analyzer);
    check.VisitExpr(expr);
    return check.can_hoist_;
  }

 private:
  HoistCheck(const LookupSet<const tir::Var*>& defined, arith::Analyzer& analyzer)
      : defined_(defined), analyzer_(analyzer) {}

  void VisitBufferLoad(const tir::BufferLoad*) override { can_hoist_ = false; }
  void VisitProducerLoad(const tir::ProducerLoad*) override { can_hoist_ = false; }
  void VisitCall(const tir::Call*) override { can_hoist_ = false; }
  void VisitVar(const tir::Var* var) override { can_hoist_ &= !defined_.contains(var); }
  void VisitBinary(const tir::BinaryExpr* expr) override {
    if (expr->kind >= NodeKind::kDiv && expr->kind <= NodeKind::kFloorMod)
      can_hoist_ &= analyzer_.CanProveNotEqual(expr->b, analyzer_.make().Const(0, expr->b->dtype));
    ExprVisitor::VisitBinary(expr);
  }

  const LookupSet<const tir::Var*>& defined_;
  arith::Analyzer& analyzer_;
  bool can_hoist_ = true;
};

class ConditionFinder : private tir::StmtExprVisitor {
 public:
  ConditionFinder(const tir::Var* var, bool all_comparisons, arith::VarDomains hints, arith::VarDomains relax,
                  arith::Analyzer& analyzer)
      : var_(var),
        all_comparisons_(all_comparisons),
        hints_(std::move(hints)),
        relax_(std::move(relax)),
        analyzer_(analyzer) {
    for (const arith::VarDomains* domains : {&hints_, &relax_})
      domains->ForEachInAnyOrder([&](const tir::Var* outer, const arith::IntervalSet&) { outer_.insert(outer); });
  }

  std::vector<DecidedCondition> Find(const tir::Stmt* body) {
    VisitStmt(body);
    std::erase_if(found_, [this](const DecidedCondition& found) {
      const auto is_stuck = [this](const PrimExpr* end) {
        return end && !HoistCheck::CanHoist(end, defined_, analyzer_);
      };
      return is_stuck(found.interval.min()) || is_stuck(found.interval.max());
    });
    return std::move(found_);
  }

 private:
  using StmtExprVisitor::VisitExpr;

  void VisitVarDef(const tir::Var* var) override { defined_.insert(var); }

  void VisitFor(const tir::For* loop) override {
    const auto is_outer = [this](const PrimExpr* expr) { return tir::UsesAnyOf(outer_, expr); };
    // The range would not be that of all iterations.
    if (is_outer(loop->min) || is_outer(loop->extent)) return;
    WithRange(loop->loop_var, loop->min, loop->extent, [&] { StmtExprVisitor::VisitFor(loop); });
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::LaunchAxisOf(*stmt);
    if (!axis) return StmtExprVisitor::VisitAttrStmt(stmt);
    const PrimExpr* zero = analyzer_.make().Const(0, stmt->value->dtype);
    WithRange(axis->var, zero, stmt->value, [&] { StmtExprVisitor::VisitAttrStmt(stmt); });
  }

  template <class F>
  void WithRange(const tir::Var* var, const PrimExpr* min, const PrimExpr* extent, F&& visit) {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* max = make.Sub(make.Add(min, extent), make.Const(1, min->dtype));
    const auto set = arith::IntervalSet::Interval(min, max);
    const bool is_new_hint = hints_.try_emplace(var, set).second;
    const bool is_new_relax = relax_.try_emplace(var, set).second;
    visit();
    if (is_new_hint) hints_.erase(var);
    if (is_new_relax) relax_.erase(var);
  }

  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirIgnoreLoopPartition)) return;
    if (IsOp(call->op, op::kTirLikely) && call->args.size() == 1)
      Deduce(call->args[0]);
    else
      StmtExprVisitor::VisitCall(call);
  }

  void VisitBinary(const tir::BinaryExpr* expr) override {
    if (all_comparisons_ && IsComparison(*expr))
      Deduce(expr);
    else
      StmtExprVisitor::VisitBinary(expr);
  }

  void Deduce(const PrimExpr* condition) {
    const bool is_added = Add(condition, true, condition);
    const auto* comparison = As<tir::BinaryExpr>(condition);
    if (!comparison || !IsComparison(*comparison)) return;
    if (!is_added && comparison->kind == NodeKind::kEQ && analyzer_.make().version() >= TextVersion::kV0_20 &&
        AddEqual(*comparison))
      return;
    Add(condition, false, analyzer_.make().Node(Negate(comparison->kind), comparison->a, comparison->b));
  }

  // Adds the interval of the variable in which `deduced` holds, which decides the condition. Returns whether there is
  // one.
  bool Add(const PrimExpr* condition, bool holds, const PrimExpr* deduced) {
    return Add(condition, holds, arith::DeduceBound(var_, deduced, hints_, relax_, analyzer_));
  }
  bool Add(const PrimExpr* condition, bool holds, arith::IntervalSet interval) {
    if (!interval.is_nothing()) found_.push_back({.condition = condition, .holds = holds, .interval = interval});
    return !interval.is_nothing();
  }
  // Values for which neither side is less than the other.
  bool AddEqual(const tir::BinaryExpr& equal) {
    const arith::PrimBuilder& make = analyzer_.make();
    const auto deduce = [&](NodeKind kind) {
      return arith::DeduceBound(var_, make.Node(kind, equal.a, equal.b), hints_, relax_, analyzer_);
    };
    return Add(&equal, true, arith::Intersect(deduce(NodeKind::kGE), deduce(NodeKind::kLE), analyzer_));
  }

  const tir::Var* var_;
  const bool all_comparisons_;
  arith::VarDomains hints_;
  arith::VarDomains relax_;
  arith::Analyzer& analyzer_;
  std::vector<DecidedCondition> found_;
  LookupSet<const tir::Var*> outer_;
  LookupSet<const tir::Var*> defined_;
};

}  // namespace

template <class F>
void PartitionCandidates::SelectIf(const tir::Stmt* stmt, const tir::Var* var, F&& visit) {
  if (HasHint(var)) {
    selected_.insert(stmt);
    visit();
    return;
  }
  open_.insert(var);
  visit();
  open_.erase(var);
  if (in_condition_.erase(var) != 0 && !has_allreduce_) selected_.insert(stmt);
}

// Since TVM 0.20 a hint also concerns loops with constant bounds.
bool PartitionCandidates::IsChosen(const tir::Var* var) const {
  return HasHint(var) && version_ >= TextVersion::kV0_20;
}

void PartitionCandidates::VisitFor(const tir::For* loop) {
  const bool is_splittable = !loop->step && loop->for_kind != tir::ForKind::kThreadBinding &&
                             (constant_loops_ || !IsConstantRange(loop->min, loop->extent) || IsChosen(loop->loop_var));
  if (!is_splittable) return StmtExprVisitor::VisitFor(loop);
  SelectIf(loop, loop->loop_var, [&] { StmtExprVisitor::VisitFor(loop); });
}

void PartitionCandidates::VisitAttrStmt(const tir::AttrStmt* stmt) {
  if (stmt->attr_key == attr::kLoopPartitionHint) {
    const int64_t* value = arith::AsInt(stmt->value);
    const tir::Var* var = value && *value != 0 ? HintedVar(*stmt) : nullptr;
    if (var) AddHint(var);
  }
  const tir::IterVar* axis = tir::LaunchAxisOf(*stmt);
  const bool is_splittable = axis && ThreadTag::Of(axis->thread_tag).rank == ThreadRank::kBlock &&
                             (constant_loops_ || !arith::AsInt(stmt->value) || IsChosen(axis->var));
  if (!is_splittable) return StmtExprVisitor::VisitAttrStmt(stmt);
  SelectIf(stmt, axis->var, [&] { StmtExprVisitor::VisitAttrStmt(stmt); });
}

void PartitionCandidates::VisitSeqStmt(const tir::SeqStmt* seq) {
  const bool before = has_allreduce_;
  bool after = before;
  for (const tir::Stmt* stmt : seq->seq) {
    has_allreduce_ = before;
    VisitStmt(stmt);
    after |= has_allreduce_;
  }
  has_allreduce_ = after;
}

void PartitionCandidates::VisitCall(const tir::Call* call) {
  if (IsOp(call->op, op::kTirTvmThreadAllreduce)) {
    has_allreduce_ = true;
    return;
  }
  const bool was_in_likely = std::exchange(in_likely_, in_likely_ || IsOp(call->op, op::kTirLikely));
  StmtExprVisitor::VisitCall(call);
  in_likely_ = was_in_likely;
}

void PartitionCandidates::VisitVar(const tir::Var* var) {
  if (in_likely_ && open_.contains(var)) in_condition_.insert(var);
}

std::vector<DecidedCondition> FindDecidedConditions(const tir::Stmt* body, const tir::Var* var, bool all_comparisons,
                                                    arith::VarDomains hints, arith::VarDomains relax,
                                                    arith::Analyzer& analyzer) {
  return ConditionFinder(var, all_comparisons, std::move(hints), std::move(relax), analyzer).Find(body);
}

}  // namespace iropt
