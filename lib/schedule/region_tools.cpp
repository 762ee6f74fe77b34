#include "region_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

const PrimExpr* Condition(const PrimExpr* condition) { return condition && IsTrue(condition) ? nullptr : condition; }

// An interval that the intervals cover together: one after the other, as far as there is no gap between them.
arith::IntervalSet UnionLowerBound(const std::vector<arith::IntervalSet>& sets, arith::Analyzer& analyzer) {
  if (sets.size() == 1) return sets[0];
  const arith::PrimBuilder& make = analyzer.make();
  const auto touches = [&](const PrimExpr* low, const PrimExpr* high) {
    if (!low || !high) return true;
    return analyzer.CanProve(make.Binary(NodeKind::kLE, low, make.Add(high, make.Const(1, high->dtype))));
  };
  const PrimExpr* min = nullptr;
  const PrimExpr* max = nullptr;
  bool is_first = true;
  for (const arith::IntervalSet& set : sets) {
    if (set.is_nothing()) continue;
    if (is_first) {
      min = set.min();
      max = set.max();
      is_first = false;
    } else if (touches(set.min(), max) && touches(min, set.max())) {
      min = min && set.min() ? make.Min(min, set.min()) : nullptr;
      max = max && set.max() ? make.Max(max, set.max()) : nullptr;
    }
  }
  return is_first ? arith::IntervalSet::Nothing() : arith::IntervalSet::Interval(min, max);
}

// A sum of constants and of constant multiples of variables, none of which occurs twice.
bool IsSumOfDifferentVars(const PrimExpr* expr, LookupSet<const tir::Var*>& seen) {
  if (arith::AsInt(expr)) return true;
  if (const auto* var = As<tir::Var>(expr)) return seen.insert(var);
  const auto* binary = As<tir::BinaryExpr>(expr);
  if (!binary) return false;
  if (expr->kind == NodeKind::kMul)
    return (arith::AsInt(binary->a) || arith::AsInt(binary->b)) && IsSumOfDifferentVars(binary->a, seen) &&
           IsSumOfDifferentVars(binary->b, seen);
  return (expr->kind == NodeKind::kAdd || expr->kind == NodeKind::kSub) && IsSumOfDifferentVars(binary->a, seen) &&
         IsSumOfDifferentVars(binary->b, seen);
}

void AddStoredIndices(const tir::Stmt& stmt, const tir::Buffer* buffer, std::vector<List<const PrimExpr*>>& found) {
  if (const auto* store = As<tir::BufferStore>(&stmt)) {
    if (store->buffer == buffer && !store->predicate) found.push_back(store->indices);
  } else if (const auto* seq = As<tir::SeqStmt>(&stmt)) {
    for (const tir::Stmt* part : seq->seq) AddStoredIndices(*part, buffer, found);
  } else if (const auto* branch = As<tir::IfThenElse>(&stmt)) {
    const auto stored = IndicesStoredByAll(*branch, buffer);
    found.insert(found.end(), stored.begin(), stored.end());
  }
}

// Looks for accesses to a buffer that no condition leads to, and for others.
class AccessConditionFinder : public tir::StmtExprVisitor {
 public:
  explicit AccessConditionFinder(const tir::Buffer* buffer) : buffer_(buffer) {}
  bool accesses_always = false;
  bool stores_always = false;
  bool stores_sometimes = false;

 protected:
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    accesses_always = accesses_always || (load->buffer == buffer_ && num_conditions_ == 0);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    if (store->buffer != buffer_) return;
    (num_conditions_ == 0 ? stores_always : stores_sometimes) = true;
    accesses_always = accesses_always || num_conditions_ == 0;
  }
  void VisitAnd(const tir::And* both) override { VisitShortCircuit(*both); }
  void VisitOr(const tir::Or* either) override { VisitShortCircuit(*either); }
  void VisitCall(const tir::Call* call) override {
    if (!IsCallTo(call, op::kTirIfThenElse)) return StmtExprVisitor::VisitCall(call);
    VisitExpr(call->args[0]);
    ++num_conditions_;
    for (uint32_t i = 1; i < call->args.size(); ++i) VisitExpr(call->args[i]);
    --num_conditions_;
  }
  void VisitIfThenElse(const tir::IfThenElse* branch) override {
    VisitExpr(branch->condition);
    ++num_conditions_;
    VisitStmt(branch->then_case);
    if (branch->else_case) VisitStmt(branch->else_case);
    --num_conditions_;
    stores_always = stores_always || (num_conditions_ == 0 && !IndicesStoredByAll(*branch, buffer_).empty());
  }
  void VisitWhile(const tir::While* loop) override {
    VisitExpr(loop->condition);
    ++num_conditions_;
    VisitStmt(loop->body);
    --num_conditions_;
  }

 private:
  void VisitShortCircuit(const tir::BinaryExpr& expr) {
    VisitExpr(expr.a);
    ++num_conditions_;
    VisitExpr(expr.b);
    --num_conditions_;
  }

  const tir::Buffer* buffer_;
  int num_conditions_ = 0;
};

}  // namespace

Box LowerBound(const tir::BufferRegion& region, const PrimExpr* condition, const arith::IterRanges& loops,
               arith::Analyzer& analyzer) {
  if (auto box = arith::EstimateRegionStrictBound(region.region, loops, Condition(condition), analyzer))
    return *std::move(box);
  return Box(region.region.size(), arith::IntervalSet::Nothing());
}

Box UpperBound(const tir::BufferRegion& region, const PrimExpr* condition, const arith::IterRanges& loops,
               arith::Analyzer& analyzer) {
  return arith::EstimateRegionUpperBound(region.region, loops, Condition(condition), analyzer);
}

Box UnionLowerBound(const std::vector<Box>& boxes, arith::Analyzer& analyzer) {
  if (boxes.size() == 1) return boxes[0];
  Box result;
  for (size_t i = 0; i < boxes[0].size(); ++i) {
    std::vector<arith::IntervalSet> sets;
    for (const Box& box : boxes) sets.push_back(box[i]);
    result.push_back(UnionLowerBound(sets, analyzer));
  }
  return result;
}

Box UnionBox(const std::vector<Box>& boxes, arith::Analyzer& analyzer) {
  Box result = boxes[0];
  for (size_t k = 1; k < boxes.size(); ++k) {
    for (size_t i = 0; i < result.size(); ++i) result[i] = arith::Union(result[i], boxes[k][i], analyzer);
  }
  return result;
}

Box BoxOf(List<const tir::Range*> region, const arith::PrimBuilder& make) {
  Box box;
  for (const tir::Range* range : region) box.push_back(arith::IntervalSet::FromRange(*range, make));
  return box;
}

arith::IntervalSet WholeDim(const tir::Buffer& buffer, size_t dim, const arith::PrimBuilder& make) {
  const PrimExpr* size = buffer.shape[static_cast<uint32_t>(dim)];
  return arith::IntervalSet::FromRange(tir::Range(make.Const(0, size->dtype), size), make);
}

Box EvalBox(List<const tir::Range*> region, const arith::IterRanges& loops, arith::Analyzer& analyzer) {
  return arith::EvalSet(std::span<const tir::Range* const>(region), DomainsOf(loops, analyzer.make()), analyzer);
}

arith::VarDomains DomainsOf(const arith::IterRanges& ranges, const arith::PrimBuilder& make) {
  arith::VarDomains domains;
  ranges.ForEachInAnyOrder([&](const tir::Var* var, const tir::Range& range) {
    domains.insert_or_assign(var, arith::IntervalSet::FromRange(range, make));
  });
  return domains;
}

const tir::Range* RangeOf(const arith::IntervalSet& set, const tir::Range& whole, arith::Analyzer& analyzer,
                          Workspace& workspace) {
  return workspace.New<tir::Range>(arith::CoverRange(set, whole, analyzer));
}

bool CanProveByExtremes(const PrimExpr* order, const arith::VarDomains& domains, arith::Analyzer& analyzer) {
  const auto* comparison = As<tir::BinaryExpr>(order);
  if (!comparison) return false;
  const bool is_less = order->kind == NodeKind::kLT || order->kind == NodeKind::kLE;
  const bool is_strict = order->kind == NodeKind::kLT || order->kind == NodeKind::kGT;
  if (!is_less && order->kind != NodeKind::kGT && order->kind != NodeKind::kGE) return false;
  const PrimExpr* less = is_less ? comparison->a : comparison->b;
  const PrimExpr* greater = is_less ? comparison->b : comparison->a;
  const PrimExpr* difference = analyzer.Simplify(analyzer.make().Sub(greater, less));
  const PrimExpr* least = arith::EvalSet(difference, domains, analyzer).min();
  return least && analyzer.CanProveGreaterEqual(analyzer.Simplify(least), is_strict ? 1 : 0);
}

Status CheckInside(State& state, const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                   const arith::VarDomains& domains, const tir::Stmt* part) {
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  for (size_t i = 0; i < indices.size(); ++i) {
    LookupSet<const tir::Var*> seen;
    if (!IsSumOfDifferentVars(indices[i], seen)) continue;
    const arith::PrimBuilder& make = analyzer.make();
    const arith::IntervalSet set = arith::EvalSet(indices[i], domains, analyzer);
    const auto is_certain = [&](NodeKind order, const PrimExpr* end, const PrimExpr* bound) {
      return end && analyzer.CanProve(make.Binary(order, end, bound));
    };
    if (!is_certain(NodeKind::kLT, set.min(), make.Const(0, indices[i]->dtype)) &&
        !is_certain(NodeKind::kGE, set.max(), buffer.shape[i]))
      continue;
    return state.Refuse(
        fmt::format("the indices of the buffer {} in {{0}} are outside of it for some iterations, where "
                    "only a condition keeps them from being accessed",
                    buffer.name),
        {part});
  }
  return {};
}

Status CheckInsideForAxes(State& state, const tir::Buffer& buffer, std::span<const PrimExpr* const> indices,
                          const tir::Block& block, const PrimExpr* condition) {
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  arith::IterRanges axes;
  for (const tir::IterVar* axis : block.iter_vars) {
    axes.insert_or_assign(axis->var, *axis->dom);
    analyzer.Bind(axis->var, axis->dom->min, axis->dom->extent);
  }
  const arith::VarDomains domains = DomainsOf(axes, make);
  IROPT_RETURN_IF_ERROR(CheckInside(state, buffer, indices, domains, &block));
  AccessConditionFinder finder(&buffer);
  finder.VisitStmt(block.body);
  if (finder.accesses_always) return {};
  BindShapes(*state.func(), analyzer);
  const arith::Analyzer::Constraint constraint(analyzer, condition ? condition : make.Bool(true));
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto holds = [&](NodeKind order, const PrimExpr* bound) {
      const PrimExpr* comparison = make.Binary(order, indices[i], bound);
      return analyzer.CanProve(comparison) || CanProveByExtremes(comparison, domains, analyzer);
    };
    if (holds(NodeKind::kGE, make.Const(0, indices[i]->dtype)) && holds(NodeKind::kLT, buffer.shape[i])) continue;
    return state.Refuse(fmt::format("the indices of the buffer {} in {{0}} may be outside of it where a condition in "
                                    "the block keeps them from being accessed",
                                    buffer.name),
                        {&block});
  }
  return {};
}

Status CheckStoresAlways(State& state, const tir::Buffer& buffer, const tir::Block& block) {
  AccessConditionFinder finder(&buffer);
  finder.VisitStmt(block.body);
  if (finder.stores_always || !finder.stores_sometimes) return {};
  return state.Refuse(fmt::format("the block {{0}} stores to {} under a condition in its body only", buffer.name),
                      {&block});
}

std::vector<List<const PrimExpr*>> IndicesStoredByAll(const tir::IfThenElse& branch, const tir::Buffer* buffer) {
  std::vector<List<const PrimExpr*>> in_then, in_else;
  if (!branch.else_case) return {};
  AddStoredIndices(*branch.then_case, buffer, in_then);
  AddStoredIndices(*branch.else_case, buffer, in_else);
  std::erase_if(in_then, [&](List<const PrimExpr*> indices) {
    return std::ranges::none_of(in_else, [&](List<const PrimExpr*> other) { return DeepEqual(indices, other); });
  });
  return in_then;
}

bool MayDivideByZero(const PrimExpr* expr, const Ref* loop, arith::Analyzer& analyzer) {
  const auto is_factor_of_extent = [&](const PrimExpr* divisor) {
    for (const Ref* ref = loop; ref->is_loop(); ref = ref->parent) {
      const PrimExpr* rest = analyzer.make().FloorMod(ref->loop().extent, divisor);
      if (arith::IsInt(analyzer.Simplify(rest), 0)) return true;
    }
    return false;
  };
  bool found = false;
  const auto look = [&](const Node* node) {
    if (node->kind < NodeKind::kDiv || node->kind > NodeKind::kFloorMod || found) return;
    const auto* division = static_cast<const tir::BinaryExpr*>(node);
    const arith::IntBound divisor = analyzer.bounds().Bound(division->b);
    found = divisor.min <= 0 && divisor.max >= 0 && !is_factor_of_extent(division->b);
  };
  if (expr) tir::PostOrderVisit(expr, look);
  return found;
}

void BindLoopsAround(const Ref* ref, arith::Analyzer& analyzer) {
  std::vector<const tir::For*> loops;
  for (; ref; ref = ref->parent) {
    if (ref->is_loop()) loops.push_back(&ref->loop());
  }
  for (size_t i = loops.size(); i > 0; --i)
    analyzer.Bind(loops[i - 1]->loop_var, loops[i - 1]->min, loops[i - 1]->extent);
}

void BindAxesAround(const Ref* ref, arith::Analyzer& analyzer) {
  for (; ref; ref = ref->parent) {
    if (!ref->is_block()) continue;
    for (const tir::IterVar* axis : ref->block().iter_vars) analyzer.Bind(axis->var, axis->dom->min, axis->dom->extent);
  }
}

void BindShapes(const PrimFunc& func, arith::Analyzer& analyzer) {
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    for (const PrimExpr* dim : buffer->shape) {
      if (!arith::AsInt(dim)) analyzer.MarkNonNegative(dim);
    }
  }
}

std::vector<const PrimExpr*> SizesOf(State& state, const Ref* ref, std::span<const PrimExpr* const> extents) {
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  BindShapes(*state.func(), analyzer);
  BindAxesAround(ref, analyzer);
  std::vector<const PrimExpr*> sizes;
  for (const PrimExpr* extent : extents) {
    const PrimExpr* zero = analyzer.make().Const(0, extent->dtype);
    sizes.push_back(analyzer.CanProveGreaterEqual(extent, 0) ? extent
                                                             : analyzer.Simplify(analyzer.make().Max(extent, zero)));
  }
  return sizes;
}

Ref* LowestCommonAncestor(Ref* a, Ref* b) {
  LookupSet<const Ref*> above;
  for (Ref* ref = a; ref; ref = ref->parent) above.insert(ref);
  while (!above.contains(b)) b = b->parent;
  return b;
}

Ref* LowestCommonAncestor(std::span<Ref* const> refs) {
  Ref* result = refs[0];
  for (Ref* ref : refs.subspan(1)) result = LowestCommonAncestor(result, ref);
  return result;
}

}  // namespace iropt::schedule
