// Making loops one block.
//
//   for i_0, i_1 in T.grid(8, 16):            for i_0 in range(8):
//       with T.block("B"):                        with T.block("B_o"):
//           vi = i_0 * 16 + i_1          -->          vi_o = i_0
//           B[vi] = A[vi]                             for i_1 in range(16):
//                                                         with T.block("B"):
//                                                             vi_i = i_1
//                                                             B[vi_o * 16 + vi_i] = A[vi_o * 16 + vi_i]
//
// Source: TVM's src/tir/schedule/primitive/blockize_tensorize.cc.
#include "blockize.h"

#include <fmt/format.h>

#include <algorithm>

#include "moved_block.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;
using arith::SubspaceDivision;

// Replaces variables, and simplifies what changes.
class SimplifyingReplacer : public tir::StmtExprMutator {
 public:
  SimplifyingReplacer(const tir::VarValues& values, Analyzer& analyzer, Workspace& workspace)
      : StmtExprMutator(workspace), values_(values), analyzer_(analyzer) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const PrimExpr* visited = StmtExprMutator::VisitExpr(expr);
    return visited == expr ? expr : analyzer_.Simplify(visited);
  }

 protected:
  const PrimExpr* VisitVar(const tir::Var* var) override { return values_.Lookup(var, var); }

 private:
  const tir::VarValues& values_;
  Analyzer& analyzer_;
};

bool UsesAnyOf(const PrimExpr* expr, const std::vector<const tir::Var*>& vars) {
  return tir::UsesVar(expr, [&](const tir::Var* var) { return std::ranges::find(vars, var) != vars.end(); });
}

// The axes and bindings of the two blocks that a block becomes.
struct Axes {
  std::vector<const tir::IterVar*> outer, inner;
  std::vector<const PrimExpr*> outer_values, inner_values;
};

class BlockSplitter {
 public:
  BlockSplitter(State& state, Analyzer& analyzer, bool preserve_unit_iters)
      : state_(state),
        workspace_(state.workspace()),
        make_(state.make()),
        analyzer_(analyzer),
        preserve_unit_iters_(preserve_unit_iters) {}

  const PrimExpr* outer_condition() const { return outer_condition_; }
  Axes axes;
  std::vector<const tir::For*> loops;  // of the inner block, innermost first

  // The inner block with its realization, and what it accesses in all iterations of its loops. `high` is the outermost
  // of these loops, or, with `high_is_outer`, the loop or block around them. If the axes of the outer block are known
  // already, those of this block have to be the same.
  Result<const tir::BlockRealize*> Split(const Ref* ref, const Ref* high, bool high_is_outer) {
    block_ = &ref->block();
    const tir::BlockRealize& realize = *state_.RealizeOf(ref);
    IROPT_RETURN_IF_ERROR(Divide(ref, realize, high, high_is_outer));
    IROPT_RETURN_IF_ERROR(MakeAxes());
    tir::VarValues loop_vars;
    for (size_t i = 0; i < axes.outer.size(); ++i) {
      if (const auto* var = As<tir::Var>(axes.outer_values[i])) loop_vars[var] = axes.outer[i]->var;
    }
    loop_vars_ = loop_vars;
    inner_domains_.clear();
    for (const tir::IterVar* axis : axes.inner) {
      const tir::Range* dom = high_is_outer ? tir::Substitute(axis->dom, loop_vars, workspace_) : axis->dom;
      inner_domains_.insert_or_assign(axis->var, arith::IntervalSet::FromRange(*dom, make_));
      analyzer_.Bind(axis->var, dom->min, dom->extent);
    }
    for (const tir::For* loop : loops)  // which a block without axes uses itself
      inner_domains_.insert_or_assign(loop->loop_var, arith::IntervalSet::FromRange(loop->min, loop->extent, make_));
    substituted_ = To<tir::Block>(SimplifyingReplacer(values_, analyzer_, workspace_).VisitStmt(block_));
    return MakeInner();
  }

  const tir::Block* substituted() const { return substituted_; }
  const tir::VarValues& loop_vars() const { return loop_vars_; }

  // The regions for all values of the inner axes and loops.
  std::vector<const tir::BufferRegion*> Relax(List<const tir::BufferRegion*> regions) {
    std::vector<const tir::BufferRegion*> relaxed;
    for (const tir::BufferRegion* region : regions) {
      std::vector<const tir::Range*> ranges;
      for (size_t i = 0; i < region->region.size(); ++i) {
        const PrimExpr* dim = region->buffer->shape[i];
        const arith::IntervalSet set = arith::EvalSet(*region->region[i], inner_domains_, analyzer_);
        ranges.push_back(RangeOf(set, tir::Range(make_.Const(0, dim->dtype), dim), analyzer_, workspace_));
      }
      relaxed.push_back(MakeRegion(region->buffer, ranges, workspace_));
    }
    return relaxed;
  }

 private:
  Status Divide(const Ref* ref, const tir::BlockRealize& realize, const Ref* high, bool high_is_outer) {
    loops.clear();
    std::vector<const tir::Var*> inner_vars, outer_vars;
    arith::IterRanges& iters = iters_;
    iters.clear();
    bool inner = !(high_is_outer && ref->parent == high);
    const tir::Stmt* below = &realize;
    for (const Ref* up = ref->parent; up && up->is_loop(); up = up->parent) {
      const tir::For& loop = up->loop();
      const bool is_direct = loop.body == below || (high_is_outer && up == high);
      if (inner && !is_direct)
        return state_.Refuse("the statements between the loop {0} and the block {1} are not loops alone",
                             {&loop, block_});
      below = &loop;
      if (inner) loops.push_back(&loop);
      (inner ? inner_vars : outer_vars).push_back(loop.loop_var);
      iters.insert_or_assign(loop.loop_var, tir::Range(loop.min, loop.extent));
      if (up == high || (high_is_outer && up->parent == high)) inner = false;
    }
    auto found = arith::DivideSubspace(realize.iter_values, iters, inner_vars, realize.predicate, !preserve_unit_iters_,
                                       analyzer_);
    is_trivial_ = !found;
    if (!found) found = DivideTrivially(realize, outer_vars, inner_vars);
    if (!found)
      return state_.Refuse("the bindings of the block {0} cannot be divided at the loop {1}",
                           {block_, loops.empty() ? high->stmt : loops.back()});
    division_ = *std::move(found);
    outer_condition_ = division_.outer_condition;
    predicate_ = realize.predicate;
    return {};
  }

  // Each binding depends on inner loops alone, or on none of them. An axis becomes as a whole one of the blocks' axes.
  std::optional<SubspaceDivision> DivideTrivially(const tir::BlockRealize& realize,
                                                  const std::vector<const tir::Var*>& outer_vars,
                                                  const std::vector<const tir::Var*>& inner_vars) {
    if (!IsTrue(realize.predicate)) return std::nullopt;
    SubspaceDivision division;
    for (size_t i = 0; i < realize.iter_values.size(); ++i) {
      const PrimExpr* value = realize.iter_values[i];
      const tir::Range& dom = *block_->iter_vars[i]->dom;
      const bool inner = UsesAnyOf(value, inner_vars);
      if (inner && UsesAnyOf(value, outer_vars)) return std::nullopt;
      const SubspaceDivision::Part unit{make_.Const(0, dom.extent->dtype), make_.Const(1, dom.extent->dtype)};
      if (inner)
        division.indices.push_back({unit, {value, dom.extent}});
      else
        division.indices.push_back({{analyzer_.Simplify(make_.Sub(value, dom.min)), dom.extent}, unit});
    }
    return division;
  }

  // What both parts of an index leave out: the least value of the axis if it is divided as a whole, whatever the order
  // in which loops run through its values, else that of the inner part, which is in the first iteration in which the
  // block runs. Null if that is not known.
  const PrimExpr* BaseOf(const SubspaceDivision::Part& inner, const tir::IterVar& old) {
    if (is_trivial_) return old.dom->min;
    if (IsTrue(predicate_)) {
      tir::VarValues first;
      for (const tir::For* loop : loops) first[loop->loop_var] = loop->min;
      return analyzer_.Simplify(tir::Substitute(inner.expr, first, workspace_));
    }
    const tir::Range point(inner.expr, make_.Const(1, inner.expr->dtype));
    const auto values = arith::EstimateIterMap(point, iters_, predicate_, analyzer_);
    if (!values) return nullptr;
    const PrimExpr* extent = make_.Add(make_.Sub(values->max(), values->min()), point.extent);
    return analyzer_.CanProveEqual(extent, inner.extent) ? analyzer_.Simplify(values->min()) : nullptr;
  }

  const tir::IterVar* NewAxis(const tir::IterVar& old, const PrimExpr* min, const PrimExpr* extent,
                              std::string_view suffix) {
    const auto* dom = workspace_.New<tir::Range>(make_.Cast(extent->dtype, min), extent);
    const tir::Var* var = workspace_.NewPrimVar(fmt::format("{}{}", old.var->name, suffix), old.var->dtype);
    return workspace_.New<tir::IterVar>(dom, var, old.iter_type);
  }

  // The old axes in terms of the outer and inner ones.
  Status MakeAxes() {
    const bool reuse_outer = !axes.outer.empty();
    axes.inner.clear();
    axes.inner_values.clear();
    values_.clear();
    if (reuse_outer && axes.outer.size() != block_->iter_vars.size())
      return state_.Refuse("the blocks do not have the same axes of the outer loops: {0}", {block_});
    for (size_t i = 0; i < block_->iter_vars.size(); ++i) {
      const tir::IterVar& old = *block_->iter_vars[i];
      const auto& [outer, inner] = division_.indices[i];
      const PrimExpr* base = BaseOf(inner, old);
      if (!base) return state_.Refuse("the condition of the block {0} leaves its least indices unknown", {block_});
      const bool is_unit_inner = arith::IsInt(inner.extent, 1);
      const bool is_unit_outer = arith::IsInt(outer.extent, 1);
      const bool has_base = !arith::IsInt(base, 0);
      // Without an inner axis, the outer one has the base of the index.
      const PrimExpr* outer_base = is_unit_inner ? base : make_.Const(0, outer.extent->dtype);
      const PrimExpr* outer_value = is_unit_inner && has_base ? make_.Add(outer.expr, base) : outer.expr;
      if (reuse_outer) {
        if (!analyzer_.CanProveEqual(axes.outer[i]->dom->extent, outer.extent) ||
            !analyzer_.CanProveEqual(axes.outer_values[i], outer_value))
          return state_.Refuse("the blocks do not have the same axes of the outer loops: {0}", {block_});
      } else {
        axes.outer.push_back(NewAxis(old, outer_base, outer.extent, "_o"));
        axes.outer_values.push_back(outer_value);
      }
      const PrimExpr* outer_var = axes.outer[i]->var;
      const PrimExpr* value = nullptr;
      if (is_unit_inner) {
        value = is_unit_outer && !preserve_unit_iters_ && !has_base ? make_.Const(0, outer.extent->dtype) : outer_var;
      } else {
        // A condition may skip the first iteration; all of the index is then in this part.
        const bool is_whole = is_unit_outer && !IsTrue(predicate_);
        const tir::IterVar* axis =
            is_whole ? NewAxis(old, old.dom->min, old.dom->extent, "_i") : NewAxis(old, base, inner.extent, "_i");
        axes.inner.push_back(axis);
        axes.inner_values.push_back(inner.expr);
        value = is_unit_outer ? axis->var : make_.Add(make_.Mul(outer_var, inner.extent), axis->var);
      }
      values_[old.var] = make_.Cast(old.var->dtype, value);
    }
    return CheckLoopsOutside();
  }

  // A block in one with axes uses no loop that is around both.
  Status CheckLoopsOutside() {
    if (axes.outer.empty()) return {};
    for (const Ref* ref = state_.ScopeOf(state_.RefOf(block_)); ref; ref = ref->parent) {
      const auto uses = [&](const PrimExpr* e) { return e && ref->is_loop() && tir::UsesVar(e, ref->loop().loop_var); };
      if (uses(division_.inner_condition) || std::ranges::any_of(axes.inner_values, uses))
        return state_.Refuse("the block {0} uses the loop {1} around its scope, which a block with axes cannot",
                             {block_, ref->stmt});
    }
    return {};
  }

  const tir::BlockRealize* MakeInner() {
    const bool reduces = substituted_->init && std::ranges::any_of(axes.outer, [](const tir::IterVar* axis) {
                           return axis->iter_type == tir::IterVarType::kCommReduce;
                         });
    const tir::Block* inner = CopyBlock(*substituted_, workspace_, [&](tir::Block& copy) {
      copy.iter_vars = workspace_.Copy(axes.inner);
      copy.init = nullptr;
      if (!reduces) return;
      std::vector<const tir::BufferRegion*> reads(copy.writes.begin(), copy.writes.end());
      reads.insert(reads.end(), copy.reads.begin(), copy.reads.end());
      copy.reads = workspace_.Copy(reads);
    });
    return MakeRealize(axes.inner_values, division_.inner_condition, inner, workspace_);
  }

  State& state_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  Analyzer& analyzer_;
  const bool preserve_unit_iters_;
  const tir::Block* block_ = nullptr;
  SubspaceDivision division_;
  bool is_trivial_ = false;
  arith::IterRanges iters_;  // the loops around the block in its scope
  const PrimExpr* outer_condition_ = nullptr;
  const PrimExpr* predicate_ = nullptr;  // of the block
  tir::VarValues values_, loop_vars_;
  arith::VarDomains inner_domains_;
  const tir::Block* substituted_ = nullptr;
};

const tir::Stmt* MakeNest(const tir::Stmt* stmt, const std::vector<const tir::For*>& loops, Workspace& workspace) {
  for (const tir::For* loop : loops) stmt = WithBody(*loop, stmt, workspace);
  return stmt;
}

bool UsesVarIn(const tir::Stmt* stmt, const tir::Var* var) {
  bool found = false;
  tir::PostOrderVisit(stmt, [&](const Node* node) { found = found || node == var; });
  return found;
}

// The condition of the inner block for its initialization, which does not have the `dropped` loops: they are at their
// first iteration, which has to run if any does.
Result<const PrimExpr*> InitCondition(State& state, const tir::BlockRealize& inner,
                                      const std::vector<const tir::For*>& dropped) {
  const arith::PrimBuilder make = state.make();
  tir::VarValues first;
  Analyzer analyzer(make, Analyzer::SymVars::kAny);
  for (const tir::For* loop : dropped) {
    first[loop->loop_var] = loop->min;
    analyzer.Bind(loop->loop_var, loop->min, loop->extent);
  }
  const PrimExpr* result = make.Bool(true);
  for (const PrimExpr* rest = inner.predicate; rest && !IsTrue(rest);) {
    const auto* both = As<tir::And>(rest);
    const PrimExpr* part = both ? both->b : rest;
    rest = both ? both->a : nullptr;
    const PrimExpr* at_first = tir::Substitute(part, first, state.workspace());
    const auto follows = [&] {
      const Analyzer::Constraint constraint(analyzer, part);
      return analyzer.CanProve(at_first);
    };
    if (at_first != part && !follows())
      return state.Refuse("a condition of the block {0} skips the first iterations of its reduction", {inner.block});
    if (at_first == part || !analyzer.CanProve(at_first)) result = make.Binary(NodeKind::kAnd, result, at_first);
  }
  return result;
}

// The initialization of the outer block: a block with those of the inner axes that it needs, in loops of its own.
Result<const tir::Stmt*> OuterInit(State& state, const tir::Stmt* init, const tir::BlockRealize& inner,
                                   const std::vector<const tir::For*>& loops, const std::string& name) {
  Workspace& workspace = state.workspace();
  tir::VarValues renamed;
  std::vector<const tir::IterVar*> axes;
  std::vector<const PrimExpr*> values;
  for (size_t i = 0; i < inner.iter_values.size(); ++i) {
    const tir::IterVar& axis = *inner.block->iter_vars[i];
    if (axis.iter_type != tir::IterVarType::kDataPar || !UsesVarIn(init, axis.var)) continue;
    const tir::Var* var = CopyVar(*axis.var, workspace, "_init");
    renamed[axis.var] = var;
    axes.push_back(workspace.New<tir::IterVar>(axis.dom, var, axis.iter_type));
    values.push_back(inner.iter_values[i]);
  }
  std::vector<const tir::For*> own, dropped;
  for (const tir::For* loop : loops) {
    const auto uses = [&](const PrimExpr* value) { return tir::UsesVar(value, loop->loop_var); };
    (std::ranges::any_of(values, uses) ? own : dropped).push_back(loop);
  }
  IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, InitCondition(state, inner, dropped));
  const auto* block = workspace.New<tir::Block>(
      workspace.Copy(axes), List<const tir::BufferRegion*>(), inner.block->writes, workspace.arena().CopyString(name),
      List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, init);
  const tir::Stmt* stmt = MakeRealize(values, condition, block, workspace);
  for (const tir::For* loop : own) {
    auto* copy = workspace.New<tir::For>(*loop);
    copy->loop_var = CopyVar(*loop->loop_var, workspace);
    renamed[loop->loop_var] = copy->loop_var;
    copy->body = stmt;
    stmt = copy;
  }
  return tir::Substitute(stmt, renamed, workspace);
}

}  // namespace

Result<Blockized> Blockize(State& state, const Ref* loop, bool preserve_unit_iters) {
  Workspace& workspace = state.workspace();
  IROPT_ASSIGN_OR_RETURN(const tir::BlockRealize* realize, RequireSingleChild(state, loop));
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BlockSplitter splitter(state, analyzer, preserve_unit_iters);
  const tir::Block* block = realize->block;
  IROPT_ASSIGN_OR_RETURN(const tir::BlockRealize* inner,
                         splitter.Split(state.RefOf(block), loop, /*high_is_outer=*/false));
  const tir::Block& substituted = *splitter.substituted();
  const tir::Stmt* init = nullptr;
  if (substituted.init) {
    const std::string name = fmt::format("{}_init", substituted.name_hint);
    std::vector<const tir::For*> around;
    for (const Ref* ref : state.LoopsOf(state.RefOf(block))) around.push_back(&ref->loop());
    if (!BeginsWithInit(state, *realize, around))
      return state.Refuse("the reduction of the block {0} does not begin with its first values", {block});
    IROPT_RETURN_IF_ERROR(CheckReducesOnce(state, state.RefOf(block), loop));
    IROPT_ASSIGN_OR_RETURN(init, OuterInit(state, substituted.init, *inner, splitter.loops, name));
  }
  const auto* outer = workspace.New<tir::Block>(
      workspace.Copy(splitter.axes.outer), workspace.Copy(splitter.Relax(substituted.reads)),
      workspace.Copy(splitter.Relax(substituted.writes)),
      workspace.arena().CopyString(fmt::format("{}_o", substituted.name_hint)), List<const tir::Buffer*>(),
      List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), init, MakeNest(inner, splitter.loops, workspace));
  Blockized result;
  result.realize = MakeRealize(splitter.axes.outer_values, splitter.outer_condition(), outer, workspace);
  result.reuse = PairBlocks(block, inner->block);
  return result;
}

namespace {

// Replaces consecutive statements of a sequence, those with the given blocks in them, by one.
Result<const tir::Stmt*> ReplaceRun(State& state, const Ref* lca, const std::vector<Ref*>& blocks,
                                    const tir::Stmt* replacement) {
  std::vector<const tir::Stmt*> rest;
  int last = -1;
  size_t found = 0;
  const std::vector<const tir::Stmt*> statements = StatementsOf(BodyOf(*lca->stmt));
  for (size_t i = 0; i < statements.size(); ++i) {
    const auto all = BlocksOf(statements[i]);
    const auto count =
        std::ranges::count_if(blocks, [&](const Ref* ref) { return std::ranges::find(all, ref->stmt) != all.end(); });
    if (count == 0) {
      rest.push_back(statements[i]);
      continue;
    }
    if (!Is<tir::For>(statements[i]) && !Is<tir::BlockRealize>(statements[i]))
      return state.Refuse("the blocks are not in loops alone under {0}", {lca->stmt});
    if (last == -1) rest.push_back(replacement);
    if (last != -1 && last != static_cast<int>(i) - 1) return state.Refuse("the blocks do not follow each other");
    last = static_cast<int>(i);
    found += static_cast<size_t>(count);
  }
  if (statements.size() < 2 || found != blocks.size()) return state.Refuse("one of the blocks is in another one");
  return WithBody(*lca->stmt, tir::MakeSeq(state.workspace(), rest), state.workspace());
}

// One region for each buffer that contains all of its regions.
std::vector<const tir::BufferRegion*> UnionRegions(const std::vector<const tir::BufferRegion*>& regions,
                                                   Analyzer& analyzer, Workspace& workspace) {
  std::vector<const tir::BufferRegion*> result;
  for (const tir::BufferRegion* region : regions) {
    const auto same = [&](const tir::BufferRegion* other) { return other->buffer == region->buffer; };
    if (std::ranges::any_of(result, same)) continue;
    std::vector<Box> boxes;
    for (const tir::BufferRegion* other : regions) {
      if (same(other)) boxes.push_back(BoxOf(other->region, analyzer.make()));
    }
    const Box box = UnionBox(boxes, analyzer);
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < box.size(); ++i) ranges.push_back(RangeOf(box[i], *region->region[i], analyzer, workspace));
    result.push_back(MakeRegion(region->buffer, ranges, workspace));
  }
  return result;
}

Result<Ref*> BlockizeBlocks(State& state, const std::vector<Ref*>& blocks, bool preserve_unit_iters) {
  Workspace& workspace = state.workspace();
  Ref* lca = LowestCommonAncestor(blocks);
  Analyzer analyzer(state.make(), Analyzer::SymVars::kAny);
  BlockSplitter splitter(state, analyzer, preserve_unit_iters);
  std::vector<const tir::BufferRegion*> reads, writes;
  std::vector<const tir::Stmt*> statements;
  std::string name = "outer_";
  BlockReuse reuse;
  for (const Ref* ref : blocks) {
    if (ref == lca) return state.Refuse("one of the blocks is in another one");
    IROPT_ASSIGN_OR_RETURN(const tir::BlockRealize* inner, splitter.Split(ref, lca, /*high_is_outer=*/true));
    const tir::Block& substituted = *splitter.substituted();
    const auto is_reduction = [](const tir::IterVar* axis) { return axis->iter_type == tir::IterVarType::kCommReduce; };
    if (substituted.init && std::ranges::any_of(splitter.axes.outer, is_reduction))
      return state.Refuse(
          "the outer loops of {0} are of a reduction: expected data parallel ones around several blocks", {ref->stmt});
    for (const auto* region : splitter.Relax(substituted.reads)) reads.push_back(region);
    for (const auto* region : splitter.Relax(substituted.writes)) writes.push_back(region);
    name += fmt::format("{}_", substituted.name_hint);
    const BlockReuse own = PairBlocks(&ref->block(), inner->block);
    reuse.insert(reuse.end(), own.begin(), own.end());
    const tir::Stmt* stmt = inner;
    for (const tir::For* loop : splitter.loops) {
      auto* copy = workspace.New<tir::For>(*loop);
      copy->extent = tir::Substitute(copy->extent, splitter.loop_vars(), workspace);
      copy->body = stmt;
      stmt = copy;
    }
    statements.push_back(stmt);
  }
  const auto* outer = workspace.New<tir::Block>(
      workspace.Copy(splitter.axes.outer), workspace.Copy(UnionRegions(reads, analyzer, workspace)),
      workspace.Copy(UnionRegions(writes, analyzer, workspace)), workspace.arena().CopyString(name),
      List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr,
      tir::MakeSeq(workspace, statements));
  const tir::Stmt* realize = MakeRealize(splitter.axes.outer_values, splitter.outer_condition(), outer, workspace);
  IROPT_ASSIGN_OR_RETURN(const tir::Stmt* new_lca, ReplaceRun(state, lca, blocks, realize));
  if (lca->is_block()) reuse.emplace_back(&lca->block(), To<tir::Block>(new_lca));
  state.Replace(lca, new_lca, reuse);
  state.Recheck(state.ScopeOf(state.RefOf(outer)));
  return state.RefOf(outer);
}

}  // namespace

Status ApplyBlockize(PrimitiveCall& call, const args::Blockize<Resolved>& args) {
  const std::vector<Ref*> targets = args.target;
  if (targets.empty()) return call.Refuse("blockize needs at least one block");
  State& state = call.state();
  const bool preserve_unit_iters = args.preserve_unit_iters;
  if (targets.size() != 1 || !targets[0]->is_loop()) {
    IROPT_ASSIGN_OR_RETURN(Ref * block, BlockizeBlocks(state, targets, preserve_unit_iters));
    call.Return(block);
    return {};
  }
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  for (const Ref* loop = targets[0]; loop->is_loop(); loop = state.Find(loop->loop().body)) {
    IROPT_RETURN_IF_ERROR(CheckStartsWithZero(state, loop, analyzer));
    if (!Is<tir::For>(loop->loop().body)) break;
  }
  IROPT_ASSIGN_OR_RETURN(const Blockized blockized, Blockize(state, targets[0], preserve_unit_iters));
  state.Replace(targets[0], blockized.realize, blockized.reuse);
  state.Recheck(state.ScopeOf(state.RefOf(blockized.realize->block)));
  call.Return(state.RefOf(blockized.realize->block));
  return {};
}

}  // namespace iropt::schedule
