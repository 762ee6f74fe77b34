#include "stored_region.h"

#include <algorithm>
#include <utility>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/written_values.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

class StoreFinder : public tir::StmtExprVisitor {
 public:
  StoreFinder(State& state, const Ref* block, const Ref* high, const tir::Buffer* buffer,
              std::function<bool(const PrimExpr*)> is_known)
      : workspace_(state.workspace()),
        buffer_(buffer),
        is_known_(std::move(is_known)),
        analyzer_(state.make(), Analyzer::SymVars::kAny),
        facts_(state.make(), Analyzer::SymVars::kAny),
        iters_(LoopDomain(block->parent, high, buffer->scope())),
        values_(state.workspace()) {
    BindShapes(*state.func(), facts_);
    BindLoopsAround(block->parent, facts_);
    for (const Ref* ref = block->parent; ref && ref != high && ref->is_loop(); ref = ref->parent) {
      const tir::For& loop = ref->loop();
      num_unsure_ += loop.step ? 1 : 0;
      // A condition on a variable with one value is one on the loops further out.
      if (arith::IsInt(loop.extent, 1) && arith::AsInt(loop.min) && iters_.erase(loop.loop_var))
        values_.Bind(loop.loop_var, loop.min);
    }
  }
  std::vector<Box> boxes;
  bool is_opaque = false;

  void Find(const tir::BlockRealize& realize) { VisitBlockRealize(&realize); }

 protected:
  void VisitVar(const tir::Var* var) override { is_opaque = is_opaque || var == buffer_->data; }

  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    for (size_t i = 0; i < realize->iter_values.size(); ++i)
      values_.Bind(realize->block->iter_vars[i]->var, realize->iter_values[i]);
    const size_t known = conditions_.size();
    AddConditions(values_.Of(realize->predicate));
    VisitBlock(realize->block);
    conditions_.resize(known);
  }
  // The initialization stores to nothing else than the body.
  void VisitBlock(const tir::Block* block) override {
    const auto is_matched = [&](const tir::MatchBufferRegion* match) { return match->source->buffer == buffer_; };
    is_opaque = is_opaque || std::ranges::any_of(block->match_buffers, is_matched);
    VisitStmt(block->body);
  }

  void VisitFor(const tir::For* loop) override {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* min = values_.Of(loop->min);
    const PrimExpr* extent = values_.Of(loop->extent);
    const size_t known = conditions_.size();
    const bool is_unsure = loop->step || tir::UsesAnyOf(iters_, min) || tir::UsesAnyOf(iters_, extent) ||
                           values_.UsesUnknown(min) || values_.UsesUnknown(extent);
    num_unsure_ += is_unsure ? 1 : 0;
    AddConditions(make.Binary(NodeKind::kLT, make.Const(0, extent->dtype), extent));
    iters_.insert_or_assign(loop->loop_var, tir::Range(min, extent));
    facts_.Bind(loop->loop_var, min, extent);
    VisitStmt(loop->body);
    iters_.erase(loop->loop_var);
    conditions_.resize(known);
    num_unsure_ -= is_unsure ? 1 : 0;
  }

  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    const PrimExpr* condition = values_.Of(branch->condition);
    const size_t known = conditions_.size();
    AddConditions(condition);
    VisitStmt(branch->then_case);
    conditions_.resize(known);
    if (!branch->else_case) return;
    for (const List<const PrimExpr*> indices : IndicesStoredByAll(*branch, buffer_)) AddStore(indices);
    AddConditions(analyzer_.Simplify(analyzer_.make().Not(condition)));
    VisitStmt(branch->else_case);
    conditions_.resize(known);
  }
  void VisitWhile(const tir::While* loop) override {
    ++num_unsure_;
    StmtExprVisitor::VisitWhile(loop);
    --num_unsure_;
  }
  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    values_.Bind(let->var, let->value);
    VisitStmt(let->body);
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    if (store->buffer == buffer_ && !store->predicate) AddStore(store->indices);
  }

 private:
  void AddStore(List<const PrimExpr*> indices) {
    if (num_unsure_ == 0) AddBox(indices);
  }

  void AddConditions(const PrimExpr* condition) {
    if (const auto* both = As<tir::And>(condition)) {
      AddConditions(both->a);
      AddConditions(both->b);
      return;
    }
    if (!facts_.CanProve(condition)) conditions_.push_back(analyzer_.Simplify(condition));
  }

  void AddBox(List<const PrimExpr*> indices) {
    std::vector<const tir::Range*> ranges, simplified;
    const arith::PrimBuilder& make = analyzer_.make();
    bool has_ramp = false;
    for (const PrimExpr* index : indices) {
      const PrimExpr* extent = nullptr;
      if (const auto* ramp = As<tir::Ramp>(index)) {
        // Several ramps are a diagonal.
        if (std::exchange(has_ramp, true) || !arith::IsInt(ramp->stride, 1) || !arith::AsInt(ramp->lanes)) return;
        index = ramp->base;
        extent = make.Const(*arith::AsInt(ramp->lanes), index->dtype);
      }
      if (index->dtype.lanes != 1) return;
      if (!extent) extent = make.Const(1, index->dtype);
      const PrimExpr* value = values_.Of(index);
      if (values_.UsesUnknown(value)) return;
      ranges.push_back(workspace_.New<tir::Range>(value, extent));
      simplified.push_back(workspace_.New<tir::Range>(facts_.Simplify(value), extent));
    }
    const PrimExpr* condition = nullptr;
    for (const PrimExpr* part : conditions_) {
      if (values_.UsesUnknown(part)) return;
      part = WithFirstValues(part, ranges);
      if (facts_.CanProve(part) || (is_known_ && is_known_(part))) continue;
      if (!tir::UsesAnyOf(iters_, part)) return;
      condition = condition ? make.Binary(NodeKind::kAnd, condition, part) : part;
    }
    // The conditions of the loops further out on their variables can tell these from the iterators.
    auto box = arith::EstimateRegionStrictBound(ranges, iters_, condition, analyzer_);
    if (!box) box = arith::EstimateRegionStrictBound(simplified, iters_, condition, analyzer_);
    if (box) boxes.push_back(*std::move(box));
  }

  // The condition for the first values of the iterators that the indices do not use: one of their values is enough.
  const PrimExpr* WithFirstValues(const PrimExpr* condition, const std::vector<const tir::Range*>& ranges) {
    tir::VarValues first;
    for (const tir::Var* var : VarsOf(condition)) {
      const tir::Range* range = iters_.Find(var);
      const auto uses = [&](const tir::Range* index) { return tir::UsesVar(index->min, var); };
      if (range && std::ranges::none_of(ranges, uses)) first[var] = range->min;
    }
    return first.empty() ? condition : analyzer_.Simplify(tir::Substitute(condition, first, workspace_));
  }

  Workspace& workspace_;
  const tir::Buffer* buffer_;
  std::function<bool(const PrimExpr*)> is_known_;
  Analyzer analyzer_;
  Analyzer facts_;  // with the ranges of all loops
  arith::IterRanges iters_;
  tir::WrittenValues values_;                // of axes and of variables of let statements
  std::vector<const PrimExpr*> conditions_;  // around the statement, in the iterators and the loops further out
  int num_unsure_ = 0;                       // statements around that may not run their bodies for all of their values
};

// A minimum or a maximum that is a term of a sum.
struct ExtremeTerm {
  const tir::BinaryExpr* term;
  bool is_added;
};

std::optional<ExtremeTerm> FindExtremeTerm(const PrimExpr* sum, bool is_added = true) {
  const auto* binary = As<tir::BinaryExpr>(sum);
  if (!binary) return std::nullopt;
  if (sum->kind == NodeKind::kMin || sum->kind == NodeKind::kMax) return ExtremeTerm{binary, is_added};
  if (sum->kind != NodeKind::kAdd && sum->kind != NodeKind::kSub) return std::nullopt;
  if (auto found = FindExtremeTerm(binary->a, is_added)) return found;
  return FindExtremeTerm(binary->b, is_added == (sum->kind == NodeKind::kAdd));
}

// The sum with another term in place of the first one that is `old_term`.
const PrimExpr* ReplaceTerm(const PrimExpr* sum, const PrimExpr* old_term, const PrimExpr* new_term,
                            const arith::PrimBuilder& make) {
  if (sum == old_term) return new_term;
  if (sum->kind != NodeKind::kAdd && sum->kind != NodeKind::kSub) return sum;
  const auto* binary = To<tir::BinaryExpr>(sum);
  const PrimExpr* left = ReplaceTerm(binary->a, old_term, new_term, make);
  if (left != binary->a) return make.Binary(sum->kind, left, binary->b);
  const PrimExpr* right = ReplaceTerm(binary->b, old_term, new_term, make);
  return right == binary->b ? sum : make.Binary(sum->kind, left, right);
}

// Orders by what is known of the loops around a place.
class BoundProver {
 public:
  BoundProver(State& state, const Ref* high) : analyzer_(state.make(), Analyzer::SymVars::kAny) {
    BindShapes(*state.func(), analyzer_);
    BindLoopsAround(high, analyzer_);
    domains_ = DomainsOf(LoopDomain(high), analyzer_.make());
  }
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  // a - more <= b.
  bool IsAtMost(const PrimExpr* a, const PrimExpr* b, int64_t more = 0) {
    const PrimExpr* least = make().Sub(a, make().Const(more, a->dtype));
    return IsOrdered(make().Binary(NodeKind::kLE, least, b)) || IsNotNegative(make().Sub(b, least));
  }
  bool IsWithin(const arith::IntervalSet& inner, const arith::IntervalSet& outer) {
    return outer.is_bounded() && inner.is_bounded() && IsAtMost(outer.min(), inner.min()) &&
           IsAtMost(inner.max(), outer.max());
  }
  // Two intervals without a gap between them as one.
  std::optional<arith::IntervalSet> Join(const arith::IntervalSet& a, const arith::IntervalSet& b) {
    if (!a.is_bounded() || !b.is_bounded() || !IsAtMost(a.min(), b.max(), 1) || !IsAtMost(b.min(), a.max(), 1))
      return std::nullopt;
    return arith::Union(a, b, analyzer_);
  }

 private:
  bool IsOrdered(const PrimExpr* order) {
    return analyzer_.CanProve(order) || CanProveByExtremes(order, domains_, analyzer_);
  }
  // By the operands of minima and maxima in the sum: both of them where the smaller sum is meant, else one of them.
  bool IsNotNegative(const PrimExpr* sum, int most_extremes = 4) {
    sum = analyzer_.Simplify(sum);
    if (IsOrdered(make().Binary(NodeKind::kGE, sum, make().Const(0, sum->dtype)))) return true;
    const auto extreme = FindExtremeTerm(sum);
    if (!extreme || most_extremes == 0) return false;
    const tir::BinaryExpr* term = extreme->term;
    const auto holds_with = [&](const PrimExpr* operand) {
      return IsNotNegative(ReplaceTerm(sum, term, operand, make()), most_extremes - 1);
    };
    if ((term->kind == NodeKind::kMin) == extreme->is_added) return holds_with(term->a) && holds_with(term->b);
    return holds_with(term->a) || holds_with(term->b);
  }

  Analyzer analyzer_;
  arith::VarDomains domains_;
};

// The larger one of two boxes, or two that differ in one dimension, without a gap in it, as one.
std::optional<Box> Join(const Box& a, const Box& b, BoundProver& prover) {
  bool is_a_in_b = true, is_b_in_a = true;
  std::vector<size_t> different;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool a_within = prover.IsWithin(a[i], b[i]), b_within = prover.IsWithin(b[i], a[i]);
    is_a_in_b = is_a_in_b && a_within;
    is_b_in_a = is_b_in_a && b_within;
    if (!a_within || !b_within) different.push_back(i);
  }
  if (is_a_in_b) return b;
  if (is_b_in_a) return a;
  if (different.size() != 1) return std::nullopt;
  const auto both = prover.Join(a[different[0]], b[different[0]]);
  if (!both) return std::nullopt;
  Box joined = a;
  joined[different[0]] = *both;
  return joined;
}

}  // namespace

std::optional<std::vector<Box>> StoredBoxes(State& state, const Ref* block, const Ref* high, const tir::Buffer* buffer,
                                            std::function<bool(const PrimExpr*)> is_known) {
  StoreFinder finder(state, block, high, buffer, std::move(is_known));
  finder.Find(*state.RealizeOf(block));
  if (finder.is_opaque) return std::nullopt;
  return std::move(finder.boxes);
}

bool ContainRegion(State& state, std::vector<Box> boxes, List<const tir::Range*> region, const Ref* high) {
  BoundProver prover(state, high);
  const Box whole = BoxOf(region, prover.make());
  const auto contains = [&](const Box& box) {
    for (size_t i = 0; i < whole.size(); ++i) {
      if (!prover.IsWithin(whole[i], box[i])) return false;
    }
    return true;
  };
  while (!boxes.empty()) {
    if (std::ranges::any_of(boxes, contains)) return true;
    // The last one, joined with others or left out.
    const Box last = std::move(boxes.back());
    boxes.pop_back();
    for (Box& box : boxes) {
      if (auto joined = Join(box, last, prover)) box = *std::move(joined);
    }
  }
  return false;
}

bool IsInsideBuffer(State& state, const tir::BufferRegion& region, const Ref* high) {
  BoundProver prover(state, high);
  const Box box = BoxOf(region.region, prover.make());
  for (size_t i = 0; i < box.size(); ++i) {
    const PrimExpr* dim = region.buffer->shape[i];
    const PrimExpr* zero = prover.make().Const(0, dim->dtype);
    if (!box[i].is_bounded() || !prover.IsAtMost(zero, box[i].min()) || !prover.IsAtMost(box[i].max(), dim, -1))
      return false;
  }
  return true;
}

}  // namespace iropt::schedule
