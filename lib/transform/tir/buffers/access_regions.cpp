#include "transform/tir/buffers/access_regions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/iter_map.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using arith::IntervalSet;

// The views of each memory.
class ViewCollector : public tir::StmtExprVisitor {
 public:
  bool HasSeveral(const tir::Var* pointer) const {
    const auto* found = views_.Find(pointer);
    return found && !*found;
  }
  // The only view; null if there are several, or none.
  const tir::Buffer* Only(const tir::Var* pointer) const { return views_.Lookup(pointer); }

 protected:
  void VisitBufferUse(const tir::Buffer* buffer) override { Add(buffer); }
  void VisitBufferDef(const tir::Buffer* buffer) override { Add(buffer); }

 private:
  void Add(const tir::Buffer* buffer) {
    const auto [view, is_new] = views_.try_emplace(buffer->data, buffer);
    if (!is_new && view != buffer) view = nullptr;
  }

  LookupMap<const tir::Var*, const tir::Buffer*> views_;  // null: several
};

// coeff * var + rest; nothing if the expression is not of this form with one variable.
struct Linear {
  const tir::Var* var = nullptr;
  int64_t coeff = 0;
  int64_t rest = 0;
};

bool AddTerms(const PrimExpr* e, int64_t scale, Linear& sum) {
  if (const int64_t* value = arith::AsInt(e)) {
    sum.rest += scale * *value;
    return true;
  }
  if (const auto* var = As<tir::Var>(e)) {
    if (sum.var && sum.var != var) return false;
    sum.var = var;
    sum.coeff += scale;
    return true;
  }
  const auto* binary = As<tir::BinaryExpr>(e);
  if (!binary) return false;
  if (e->kind == NodeKind::kAdd) return AddTerms(binary->a, scale, sum) && AddTerms(binary->b, scale, sum);
  if (e->kind == NodeKind::kSub) return AddTerms(binary->a, scale, sum) && AddTerms(binary->b, -scale, sum);
  const int64_t* factor = e->kind == NodeKind::kMul ? arith::AsInt(binary->b) : nullptr;
  return factor && AddTerms(binary->a, scale * *factor, sum);
}

class RegionCollector : public tir::StmtExprVisitor {
 public:
  RegionCollector(const PrimFunc& func, bool in_bound, Workspace& workspace)
      : in_bound_(in_bound),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        sizes_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny),
        bound_(workspace) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (!buffer) continue;
      for (const PrimExpr* dim : buffer->shape) sizes_.MarkNonNegative(dim);
    }
    views_.VisitStmt(func.body);
    VisitStmt(func.body);
  }

  std::vector<AccessedRegion> regions;

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitBufferStore(const tir::BufferStore* store) override {
    Access(store->buffer, Points(store->indices));
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer, Points(load->indices));
    StmtExprVisitor::VisitBufferLoad(load);
  }

  // A pointer that is passed on: the regions that the block states, or else the whole buffer.
  void VisitVar(const tir::Var* var) override {
    if (!var->dtype.is_handle()) return;
    const tir::Buffer* buffer = views_.Only(var);
    if (!buffer) return;
    const auto* stated = stated_.Find(buffer);
    if (!stated) return Access(buffer, Whole(*buffer));
    for (const tir::BufferRegion* region : *stated) Access(buffer, Ranges(*region));
  }

  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    const std::string_view tag = loop->thread_binding ? loop->thread_binding->thread_tag : std::string_view();
    VisitIterator(loop->loop_var, tir::Range(loop->min, loop->extent), tag, loop->body);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::ThreadAxisOf(*stmt);
    VisitExpr(stmt->value);
    if (!axis) return VisitStmt(stmt->body);
    const tir::Range range = axis->dom ? *axis->dom : tir::Range(make().Const(0, stmt->value->dtype), stmt->value);
    VisitIterator(axis->var, range, axis->thread_tag, stmt->body);
  }

  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    WhereBound(let->var, let->value, [&] { VisitStmt(let->body); });
  }
  void VisitLet(const tir::Let* let) override {
    VisitExpr(let->value);
    WhereBound(let->var, let->value, [&] { VisitExpr(let->body); });
  }

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    VisitExpr(stmt->condition);
    Where(stmt->condition, [&] { VisitStmt(stmt->then_case); });
    if (stmt->else_case) Where(make().Not(stmt->condition), [&] { VisitStmt(stmt->else_case); });
  }
  void VisitCall(const tir::Call* call) override {
    if (!IsOp(call->op, op::kTirIfThenElse)) return StmtExprVisitor::VisitCall(call);
    VisitExpr(call->args[0]);
    Where(call->args[0], [&] { VisitExpr(call->args[1]); });
    Where(make().Not(call->args[0]), [&] { VisitExpr(call->args[2]); });
  }
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    Where(realize->predicate, [&] { StmtExprVisitor::VisitBlockRealize(realize); });
  }

  void VisitBlock(const tir::Block* block) override {
    std::unordered_map<const tir::Buffer*, std::vector<const tir::BufferRegion*>> stated;
    for (const tir::BufferRegion* region : block->reads) stated[region->buffer].push_back(region);
    for (const tir::BufferRegion* region : block->writes) stated[region->buffer].push_back(region);
    // Now those of this block; they go back into stated_ at its end.
    for (auto& [buffer, own] : stated) stated_[buffer].swap(own);
    for (const tir::Buffer* buffer : block->alloc_buffers) {
      if (!views_.HasSeveral(buffer->data)) depths_[buffer->data] = iterators_.size();
    }
    for (const tir::MatchBufferRegion* match : block->match_buffers)
      Access(match->source->buffer, MatchedRanges(*match));
    VisitStmt(block->body);
    for (auto& [buffer, outer] : stated) {
      if (outer.empty()) {
        stated_.erase(buffer);
      } else {
        stated_[buffer].swap(outer);
      }
    }
    for (const tir::Buffer* buffer : block->alloc_buffers) Finish(*buffer);
  }

  void VisitAllocate(const tir::Allocate* allocate) override {
    const tir::Buffer* view = views_.Only(allocate->buffer_var);
    const bool has_view = view && view->dtype == allocate->dtype;
    if (has_view) depths_[allocate->buffer_var] = iterators_.size();
    VisitStmt(allocate->body);
    if (has_view) Finish(*view);
  }

 private:
  // A loop or thread around the current statement.
  struct Iterator {
    const tir::Var* var;
    std::string_view tag;  // of a thread
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  std::vector<tir::Range> Points(List<const PrimExpr*> indices) const {
    std::vector<tir::Range> ranges;
    for (const PrimExpr* index : indices) ranges.emplace_back(index, make().Const(1, index->dtype.with_lanes(1)));
    return ranges;
  }
  std::vector<tir::Range> Whole(const tir::Buffer& buffer) const {
    std::vector<tir::Range> ranges;
    for (const PrimExpr* dim : buffer.shape) ranges.emplace_back(make().Const(0, dim->dtype), dim);
    return ranges;
  }
  static std::vector<tir::Range> Ranges(const tir::BufferRegion& region) {
    std::vector<tir::Range> ranges;
    for (const tir::Range* range : region.region) ranges.push_back(*range);
    return ranges;
  }

  // The region that is matched, and all of the dimensions on which strides and an offset depend that the matched buffer
  // states as values: variables take those of the smaller buffer.
  std::vector<tir::Range> MatchedRanges(const tir::MatchBufferRegion& match) const {
    std::vector<tir::Range> ranges = Ranges(*match.source);
    const auto is_value = [](const PrimExpr* e) { return e && !Is<tir::Var>(e); };
    const tir::Buffer& buffer = *match.buffer;
    size_t first = ranges.size();
    if (is_value(buffer.elem_offset) && !arith::IsInt(buffer.elem_offset, 0)) {
      first = 0;
    } else if (const auto it = std::ranges::find_if(buffer.strides, is_value); it != buffer.strides.end()) {
      first = ranges.size() - static_cast<size_t>(buffer.strides.end() - it) + 1;
    }
    for (size_t i = first; i < ranges.size(); ++i) {
      const PrimExpr* dim = match.source->buffer->shape[static_cast<uint32_t>(i)];
      ranges[i] = tir::Range(make().Const(0, dim->dtype), dim);
    }
    return ranges;
  }

  void VisitIterator(const tir::Var* var, const tir::Range& range, std::string_view tag, const tir::Stmt* body) {
    iterators_.push_back({var, tag});
    analyzer_.Bind(var, range.min, range.extent);
    domains_.insert_or_assign(var, IntervalSet::FromRange(range, make()));
    VisitStmt(body);
    domains_.erase(var);
    iterators_.pop_back();
  }

  template <class F>
  void WhereBound(const tir::Var* var, const PrimExpr* value, F&& visit) {
    const bool is_index = arith::IsIndexType(value->dtype);
    // A value may use variables that are bound around it.
    const bool is_known = bound_.Bind(var, value);
    if (!is_known) {
      domains_.insert_or_assign(var, IntervalSet::Everything());
    } else if (is_index) {
      value = bound_.Of(var);
      if (arith::IsPure(value)) analyzer_.Bind(var, value);
      domains_.insert_or_assign(var, IntervalSet::Point(value));
    }
    was_bound_.insert(var);
    visit();
    bound_.Unbind(var);
    if (is_index || !is_known) domains_.erase(var);
  }

  // visit() with what the condition says about the iterators: bounds of single ones, otherwise as it is.
  template <class F>
  void Where(const PrimExpr* condition, F&& visit) {
    std::vector<std::pair<const tir::Var*, IntervalSet>> bounds;
    if (!Solve(analyzer_.Simplify(condition), bounds) || bounds.empty()) {
      conditions_.push_back(condition);
      visit();
      conditions_.pop_back();
      return;
    }
    std::vector<std::pair<const tir::Var*, IntervalSet>> outer;
    for (const auto& [var, set] : bounds) {
      IntervalSet* domain = domains_.Find(var);
      if (!domain) continue;
      outer.emplace_back(var, *domain);
      *domain = arith::Intersect(*domain, set, analyzer_);
    }
    visit();
    for (auto it = outer.rbegin(); it != outer.rend(); ++it) domains_.insert_or_assign(it->first, it->second);
  }

  // The bounds in a conjunction; false if a comparison is between several variables. Other conditions do not count.
  bool Solve(const PrimExpr* condition, std::vector<std::pair<const tir::Var*, IntervalSet>>& bounds) {
    if (const auto* both = As<tir::And>(condition)) return Solve(both->a, bounds) && Solve(both->b, bounds);
    const auto* call = As<tir::Call>(condition);
    if (call && IsOp(call->op, op::kTirLikely)) return Solve(call->args[0], bounds);
    const bool is_comparison = condition->kind >= NodeKind::kEQ && condition->kind <= NodeKind::kGE;
    const auto* order = is_comparison ? As<tir::BinaryExpr>(condition) : nullptr;
    if (!order || !arith::IsIndexType(order->a->dtype) || !IsArithmetic(condition)) return true;
    Linear sum;
    if (order->kind == NodeKind::kNE || !AddTerms(order->a, 1, sum) || !AddTerms(order->b, -1, sum)) return false;
    if (!sum.var || sum.coeff == 0) return true;
    bounds.emplace_back(sum.var, BoundOf(sum, order->kind));
    return true;
  }

  // Only variables, constants, sums, products and quotients.
  static bool IsArithmetic(const PrimExpr* comparison) {
    bool result = true;
    tir::PostOrderVisit(comparison, [&](const Node* node) {
      result &= node == comparison || Is<tir::Var>(node) || node->kind == NodeKind::kIntImm ||
                (node->kind >= NodeKind::kAdd && node->kind <= NodeKind::kMul) || node->kind == NodeKind::kFloorDiv ||
                node->kind == NodeKind::kFloorMod;
    });
    return result;
  }

  // The values of the variable for which `sum` compares so with 0.
  IntervalSet BoundOf(const Linear& sum, NodeKind kind) const {
    const DataType dtype = sum.var->dtype;
    const bool flip = sum.coeff < 0;
    const int64_t coeff = flip ? -sum.coeff : sum.coeff;
    // coeff * var <kind> limit
    int64_t limit = flip ? sum.rest : -sum.rest;
    if (kind == NodeKind::kEQ) {
      const PrimExpr* value = make().Const(arith::FloorDivInt(limit, coeff), dtype);
      return limit % coeff == 0 ? IntervalSet::Point(value) : IntervalSet::Everything();
    }
    const bool is_upper = (kind == NodeKind::kLT || kind == NodeKind::kLE) != flip;
    const bool is_strict = kind == NodeKind::kLT || kind == NodeKind::kGT;
    if (is_strict) limit += is_upper ? -1 : 1;
    if (is_upper) return IntervalSet::Interval(nullptr, make().Const(arith::FloorDivInt(limit, coeff), dtype));
    return IntervalSet::Interval(make().Const(-arith::FloorDivInt(-limit, coeff), dtype), nullptr);
  }

  void Access(const tir::Buffer* buffer, const std::vector<tir::Range>& ranges) {
    const auto* depth = depths_.Find(buffer->data);
    if (!depth) return;
    // Nothing is accessed if conditions contradict each other.
    if (!domains_.AllOf([](const tir::Var*, const IntervalSet& set) { return !set.is_nothing(); })) return;
    // Loops around the allocation do not count, but threads that share the memory do.
    std::vector<std::pair<const tir::Var*, IntervalSet>> outer;
    const StorageScope scope = StorageScope::Of(buffer->scope());
    for (size_t i = 0; i < *depth; ++i) {
      const Iterator& iterator = iterators_[i];
      const auto* domain = domains_.Find(iterator.var);
      if (!domain) continue;
      if (!iterator.tag.empty() && IsSharedBy(scope, ThreadTag::Of(iterator.tag))) continue;
      outer.emplace_back(iterator.var, *domain);
      domains_.erase(iterator.var);
    }
    std::vector<IntervalSet> sets = Relax(ranges);
    for (const auto& [var, set] : outer) domains_.insert_or_assign(var, set);

    const auto [known, is_first] = accessed_.try_emplace(buffer, sets);
    if (is_first) return;
    for (size_t i = 0; i < sets.size() && i < known.size(); ++i) known[i] = arith::Union(known[i], sets[i], analyzer_);
  }

  std::vector<IntervalSet> Relax(const std::vector<tir::Range>& ranges) {
    const PrimExpr* condition = nullptr;
    for (const PrimExpr* c : conditions_) {
      if (c->dtype != DataType::Bool()) c = make().Binary(NodeKind::kNE, c, make().Const(0, c->dtype));
      condition = condition ? make().Binary(NodeKind::kAnd, condition, c) : c;
    }
    if (condition) condition = analyzer_.Simplify(condition);
    if (condition && arith::IsInt(condition, 1)) condition = nullptr;
    std::optional<arith::IterRanges> iters;
    std::vector<IntervalSet> sets;
    for (const tir::Range& range : ranges) {
      std::optional<IntervalSet> set;
      const bool may_be_map = arith::AsInt(range.extent) && range.min->dtype.is_scalar();
      if (may_be_map && (condition || !IsSimpleIndex(range))) {
        if (!iters) iters = IndependentIters();
        if (iters) set = arith::EstimateIterMap(range, *iters, condition, analyzer_);
      }
      sets.push_back(set ? *set : arith::EvalSet(range, domains_, analyzer_));
    }
    return sets;
  }

  // Returns whether the index is a constant or an iterator of a constant range, as most are. It is its own iterator
  // map.
  bool IsSimpleIndex(const tir::Range& range) const {
    if (!arith::AsInt(range.extent)) return false;
    if (arith::AsInt(range.min)) return true;
    const auto* var = As<tir::Var>(range.min);
    const auto* domain = var ? domains_.Find(var) : nullptr;
    return domain && domain->is_bounded() && arith::AsInt(domain->min()) && arith::AsInt(domain->max());
  }

  // The ranges of the iterators; none if some depend on others.
  std::optional<arith::IterRanges> IndependentIters() {
    arith::IterRanges iters;
    domains_.ForEachInAnyOrder([&](const tir::Var* var, const IntervalSet& set) {
      if (set.is_bounded()) iters.try_emplace(var, arith::CoverRange(set, tir::Range(set.min(), set.min()), analyzer_));
    });
    return arith::AreIndependentRanges(iters) ? std::optional(std::move(iters)) : std::nullopt;
  }

  // The accesses to the buffer are complete.
  void Finish(const tir::Buffer& buffer) {
    const auto* found = accessed_.Find(&buffer);
    if (!found || found->size() != buffer.shape.size()) return;
    AccessedRegion result{&buffer, {}};
    for (size_t i = 0; i < buffer.shape.size(); ++i) result.region.push_back(Cover((*found)[i], buffer.shape[i]));
    regions.push_back(std::move(result));
  }

  // Returns whether the extent is at most the dimension, whose symbolic factors are at least 1, as in TVM: where a
  // dimension is 0, nothing is accessed.
  bool IsWithin(const PrimExpr* extent, const PrimExpr* dim) {
    if (analyzer_.CanProve(make().Binary(NodeKind::kLE, extent, dim))) return true;
    int64_t factor = 1;
    const PrimExpr* rest = dim;
    for (const auto* product = As<tir::Mul>(dim); product; product = As<tir::Mul>(rest)) {
      const int64_t* constant = arith::AsInt(product->b);
      const auto scaled = constant && *constant > 0 ? arith::CheckedMul(factor, *constant) : std::nullopt;
      if (!scaled) break;
      factor = *scaled;
      rest = product->a;
    }
    return rest != dim && analyzer_.CanProve(make().Binary(NodeKind::kLE, extent, make().Const(factor, dim->dtype)));
  }

  // Where nothing is accessed, the end of the region may be before its beginning: the memory has no elements then.
  const PrimExpr* NotNegative(const PrimExpr* extent, const PrimExpr* dim) {
    const PrimExpr* zero = make().Const(0, extent->dtype);
    const PrimExpr* is_size = make().Binary(NodeKind::kGE, extent, zero);
    if (analyzer_.CanProve(is_size) || sizes_.CanProve(is_size) || analyzer_.CanProveEqual(extent, dim)) return extent;
    return analyzer_.Simplify(make().Max(extent, zero));
  }

  // Returns whether the expression uses a variable whose binding has ended.
  bool IsBoundInside(const PrimExpr* e) const {
    return tir::UsesVar(e, [this](const tir::Var* var) { return was_bound_.contains(var) && !bound_.IsKnown(var); });
  }

  tir::Range Cover(const IntervalSet& set, const PrimExpr* dim) {
    const tir::Range whole(make().Const(0, dim->dtype), dim);
    const tir::Range range = arith::CoverRange(set, whole, analyzer_);
    const PrimExpr* min = range.min;
    const PrimExpr* extent = range.extent;
    if (in_bound_) {
      min = make().Max(make().Const(0, min->dtype), min);
      if (!IsWithin(extent, dim)) extent = make().Min(dim, extent);
    }
    min = analyzer_.Simplify(min);
    extent = analyzer_.Simplify(extent);
    // They are computed also where the loops around the accesses have no iterations, as for a size of 0.
    const auto may_fail = [&](const PrimExpr* e) { return arith::MayFail(e, analyzer_.bounds()); };
    if (!arith::IsPure(extent) || may_fail(min) || may_fail(extent)) return whole;
    if (IsBoundInside(min) || IsBoundInside(extent)) return whole;
    bool depends_on_loop = false;
    tir::ForEachVar(extent, [&](const tir::Var* var) {
      depends_on_loop |= std::ranges::find(iterators_, var, &Iterator::var) != iterators_.end();
    });
    if (!depends_on_loop) return {min, NotNegative(extent, dim)};
    // An allocation cannot depend on a loop: the greatest extent, unless that is only bounded by the dtype.
    const int64_t most = analyzer_.Bound(extent).max;
    const bool is_bounded = most < int64_t{1} << (extent->dtype.bits - 2);
    return is_bounded ? tir::Range(min, make().Const(std::max<int64_t>(most, 0), extent->dtype)) : whole;
  }

  const bool in_bound_;
  arith::Analyzer analyzer_;
  arith::Analyzer sizes_;     // knows that those of parameters are not negative
  tir::WrittenValues bound_;  // of the variables in scope
  LookupSet<const tir::Var*> was_bound_;
  ViewCollector views_;
  std::vector<Iterator> iterators_;
  arith::VarDomains domains_;
  std::vector<const PrimExpr*> conditions_;    // that are not bounds of single iterators
  LookupMap<const tir::Var*, size_t> depths_;  // of allocations, in iterators_
  LookupMap<const tir::Buffer*, std::vector<IntervalSet>> accessed_;
  LookupMap<const tir::Buffer*, std::vector<const tir::BufferRegion*>> stated_;
};

}  // namespace

std::vector<AccessedRegion> CollectAccessedRegions(const PrimFunc& func, bool in_bound, Workspace& workspace) {
  return std::move(RegionCollector(func, in_bound, workspace).regions);
}

}  // namespace iropt
