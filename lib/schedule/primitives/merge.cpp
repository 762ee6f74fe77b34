// Merging loops that follow each other, and running parts of a loop one after the other.
//
// Source: TVM's Merge and LoopPartition (src/tir/schedule/primitive/loop_transformation.cc).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/ir/tir/copy_stmt.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// The loops from the given one outwards to below the place where all nests meet.
struct MergedNest {
  std::vector<const tir::For*> loops;  // innermost first
};

// Puts the merged nest at the place of the last one, and removes the others.
class NestMerger : public ScopeRewriter {
 public:
  NestMerger(const tir::Block* scope, const std::vector<MergedNest>& nests, const tir::Stmt* merged,
             Workspace& workspace)
      : ScopeRewriter(scope, workspace), nests_(nests), merged_(merged) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (loop == nests_.back().loops.back()) return merged_;
    const auto is_outermost = [&](const MergedNest& nest) { return nest.loops.back() == loop; };
    if (std::ranges::any_of(nests_, is_outermost)) return tir::NoOp(workspace());
    return ScopeRewriter::VisitFor(loop);
  }
  const tir::Stmt* VisitSeqStmt(const tir::SeqStmt* seq) override {
    std::vector<const tir::Stmt*> visited;
    for (const tir::Stmt* stmt : seq->seq) visited.push_back(VisitStmt(stmt));
    return tir::MakeFlatSeq(workspace(), visited);
  }

 private:
  const std::vector<MergedNest>& nests_;
  const tir::Stmt* merged_;
};

Result<std::vector<MergedNest>> CollectNests(State& state, const std::vector<Ref*>& refs) {
  const Ref* lca = LowestCommonAncestor(refs);
  arith::Analyzer analyzer(state.make(), arith::Analyzer::SymVars::kAny);
  std::vector<MergedNest> nests;
  const Ref* first_scope = nullptr;
  for (const Ref* ref : refs) {
    IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/false));
    IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope));
    MergedNest nest;
    for (const Ref* up = ref; up != lca; up = up->parent) {
      if (!up->is_loop()) continue;
      IROPT_RETURN_IF_ERROR(CheckPlainLoop(state, up));
      IROPT_RETURN_IF_ERROR(CheckStartsWithZero(state, up, analyzer));
      if (!nest.loops.empty() && up->loop().body != nest.loops.back())
        return state.Refuse("the loops cannot be merged: {1} is not all that is in {0}", {up->stmt, nest.loops.back()});
      nest.loops.push_back(&up->loop());
    }
    if (!first_scope) first_scope = scope;
    if (scope != first_scope) return state.Refuse("the loops are in several scopes");
    if (nest.loops.empty() || (!nests.empty() && nest.loops.size() != nests[0].loops.size()))
      return state.Refuse("the loops are nested at different depths");
    for (size_t i = 0; !nests.empty() && i < nest.loops.size(); ++i) {
      if (!analyzer.CanProveEqual(nest.loops[i]->extent, nests[0].loops[i]->extent))
        return state.Refuse("the loops {0} and {1} have different extents", {nests[0].loops[i], nest.loops[i]});
    }
    nests.push_back(std::move(nest));
  }
  return nests;
}

// The loops move to the place of the last one that is named, and run together: no block depends on what moves past it,
// none that moves past a block depends on it, and none of the loops on another one.
Status CheckMovable(State& state, const std::vector<Ref*>& refs) {
  Ref* scope = state.ScopeOf(refs[0]);
  const BlockScope& info = state.ScopeInfo(scope);
  const auto nest_of = [&](const Ref* block) {
    for (; block != scope; block = block->parent) {
      const auto found = std::ranges::find(refs, block);
      if (found != refs.end()) return static_cast<int>(found - refs.begin());
    }
    return -1;
  };
  const int last = static_cast<int>(refs.size()) - 1;
  const std::vector<Ref*>& children = info.children();
  const auto place = std::ranges::find_if(children, [&](const Ref* child) { return nest_of(child) == last; });
  const uint32_t first = place == children.end() ? static_cast<uint32_t>(children.size()) : (*place)->place;
  for (Ref* child : children) {
    for (const Dependence& dependence : info.DependencesTo(child)) {
      const int from = nest_of(dependence.src), to = nest_of(dependence.dst);
      const bool passes_reader = from >= 0 && to < 0 && dependence.dst->place < first;
      const bool passes_writer = from < 0 && to >= 0 && dependence.src->place > first;
      if (!passes_reader && !passes_writer && (from < 0 || to < 0 || from == to)) continue;
      return state.Refuse("the loops cannot be merged because the block {1} depends on the block {0}",
                          {dependence.src->stmt, dependence.dst->stmt});
    }
  }
  return {};
}

}  // namespace

Status ApplyMerge(PrimitiveCall& call, const args::Merge<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  const std::vector<Ref*> refs = args.loops;
  if (refs.size() < 2) return call.Refuse("'merge' needs at least two loops");
  IROPT_ASSIGN_OR_RETURN(const std::vector<MergedNest> nests, CollectNests(state, refs));
  IROPT_RETURN_IF_ERROR(CheckMovable(state, refs));
  const size_t depth = nests[0].loops.size();
  std::vector<const tir::Var*> vars;
  for (const tir::For* loop : nests[0].loops) vars.push_back(CopyVar(*loop->loop_var, workspace, "_m"));
  std::vector<const tir::Stmt*> bodies;
  BlockReuse reuse;
  for (const MergedNest& nest : nests) {
    tir::VarValues renamed;
    for (size_t i = 0; i < depth; ++i) renamed[nest.loops[i]->loop_var] = vars[i];
    bodies.push_back(SubstituteCast(nest.loops[0]->body, renamed, workspace));
    const BlockReuse own = PairBlocks(nest.loops[0]->body, bodies.back());
    reuse.insert(reuse.end(), own.begin(), own.end());
  }
  const tir::For* innermost = MakeLoop(vars[0], nests[0].loops[0]->extent, tir::MakeSeq(workspace, bodies), workspace);
  const tir::Stmt* merged = innermost;
  for (size_t i = 1; i < depth; ++i) merged = MakeLoop(vars[i], nests[0].loops[i]->extent, merged, workspace);
  Ref* scope = state.ScopeOf(refs[0]);
  NestMerger merger(&scope->block(), nests, merged, workspace);
  const auto* new_scope = To<tir::Block>(merger.VisitStmt(scope->stmt));
  reuse.emplace_back(&scope->block(), new_scope);
  state.Replace(scope, new_scope, reuse);
  call.Return(state.RefOf(innermost));
  return {};
}

// ---- Partition

namespace {

// Gives the axis of a part of a loop its new domain.
class PartRewriter : public tir::StmtExprMutator {
 public:
  PartRewriter(const tir::Var* loop_var, const PrimExpr* min, const PrimExpr* extent, Workspace& workspace)
      : StmtExprMutator(workspace), loop_var_(loop_var), min_(min), extent_(extent) {}

 protected:
  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const auto found = std::ranges::find(realize->iter_values, loop_var_);
    axis_ = found == realize->iter_values.end() ? -1 : static_cast<int>(found - realize->iter_values.begin());
    return StmtExprMutator::VisitBlockRealize(realize);
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const int axis = std::exchange(axis_, -1);
    const arith::PrimBuilder make(workspace());
    const auto* visited = To<tir::Block>(StmtExprMutator::VisitBlock(block));
    return CopyBlock(*visited, workspace(), [&](tir::Block& copy) {
      copy.name_hint = workspace().arena().CopyString(fmt::format("{}_{}", block->name_hint, loop_var_->name));
      if (axis < 0) return;
      std::vector<const tir::IterVar*> axes(copy.iter_vars.begin(), copy.iter_vars.end());
      auto* changed = workspace().New<tir::IterVar>(*axes[static_cast<size_t>(axis)]);
      const DataType dtype = changed->var->dtype;
      changed->dom = workspace().New<tir::Range>(make.Cast(dtype, min_), make.Cast(dtype, extent_));
      axes[static_cast<size_t>(axis)] = changed;
      copy.iter_vars = workspace().Copy(axes);
      copy.reads = Widen(copy.reads, copy);
      copy.writes = Widen(copy.writes, copy);
    });
  }

 private:
  // The regions of buffers that are accessed at axes alone are the domains of these.
  List<const tir::BufferRegion*> Widen(List<const tir::BufferRegion*> regions, const tir::Block& block) {
    std::vector<const tir::BufferRegion*> widened;
    for (const tir::BufferRegion* region : regions) {
      std::vector<const tir::Range*> ranges;
      for (const PrimExpr* index : IndicesIn(block, region->buffer)) {
        const auto axis = std::ranges::find(block.iter_vars, index, &tir::IterVar::var);
        if (axis != block.iter_vars.end()) ranges.push_back((*axis)->dom);
      }
      const bool ok = ranges.size() == region->region.size() && !ranges.empty();
      widened.push_back(ok ? MakeRegion(region->buffer, ranges, workspace()) : region);
    }
    return workspace().Copy(widened);
  }

  // The indices of the first access to the buffer by variables alone.
  static std::vector<const PrimExpr*> IndicesIn(const tir::Block& block, const tir::Buffer* buffer) {
    std::vector<const PrimExpr*> found;
    const auto note = [&](const tir::Buffer* accessed, List<const PrimExpr*> indices) {
      const auto is_var = [](const PrimExpr* index) { return Is<tir::Var>(index); };
      if (accessed == buffer && found.empty() && std::ranges::all_of(indices, is_var))
        found.assign(indices.begin(), indices.end());
    };
    tir::PostOrderVisit(block.body, [&](const Node* node) {
      if (const auto* store = As<tir::BufferStore>(node)) note(store->buffer, store->indices);
      if (const auto* load = As<tir::BufferLoad>(node)) note(load->buffer, load->indices);
    });
    return found;
  }

  const tir::Var* loop_var_;
  const PrimExpr* min_;
  const PrimExpr* extent_;
  int axis_ = -1;  // of the block that is visited next
};

// Looks for a block that initializes a reduction over the loop: each part of the loop would do so again.
class InitFinder : public StmtWalker {
 public:
  explicit InitFinder(const tir::Var* loop_var) : loop_var_(loop_var) {}
  const tir::Block* found = nullptr;

 protected:
  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    for (size_t i = 0; block.init && i < block.iter_vars.size(); ++i) {
      if (block.iter_vars[i]->iter_type == tir::IterVarType::kCommReduce &&
          tir::UsesVar(realize->iter_values[i], loop_var_))
        found = &block;
    }
    StmtWalker::VisitBlockRealize(realize);
  }

 private:
  const tir::Var* loop_var_;
};

std::string FirstBlockName(const tir::Stmt* body) {
  const auto blocks = BlocksOf(body);
  return blocks.empty() ? std::string() : std::string(blocks[0]->name_hint);
}

const tir::Block* MakePlainBlock(const std::string& name, const tir::Stmt* body, Workspace& workspace) {
  return workspace.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                                   List<const tir::BufferRegion*>(), workspace.arena().CopyString(name),
                                   List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(),
                                   nullptr, body);
}

// The ends of the parts: sums of the factors, where a missing factor takes what the others leave.
Result<std::vector<int64_t>> PartEnds(State& state, const Factors& given, const tir::For& loop) {
  const int64_t* extent = arith::AsInt(loop.extent);
  const int64_t* min = arith::AsInt(loop.min);
  if (!extent || !min) return state.Refuse("the range of the loop {0} is not constant", {&loop});
  std::vector<int64_t> factors;
  int missing = -1;
  int64_t sum = 0;
  for (const std::optional<int64_t> factor : given) {
    if (!factor && missing >= 0) return state.Refuse("several factors are missing: expected one at most");
    if (!factor) missing = static_cast<int>(factors.size());
    if (factor && *factor <= 0)
      return state.Refuse(
          fmt::format("invalid factor {1} at position {0}: expected a positive number", factors.size(), *factor));
    sum += factor.value_or(0);
    factors.push_back(factor.value_or(0));
  }
  if (sum >= *extent)
    return state.Refuse("the sum of the factors is not less than the extent of the loop {0}", {&loop});
  if (missing >= 0) factors[static_cast<size_t>(missing)] = *extent - sum;
  for (size_t i = 1; i < factors.size(); ++i) factors[i] += factors[i - 1];
  if (missing < 0) factors.push_back(*extent);
  for (int64_t& end : factors) end += *min;
  return factors;
}

}  // namespace

Status ApplyLoopPartition(PrimitiveCall& call, const args::LoopPartition<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  const arith::PrimBuilder make = state.make();
  Ref* ref = args.loop;
  const tir::For& loop = ref->loop();
  IROPT_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, PartEnds(state, args.factors, loop));
  IROPT_RETURN_IF_ERROR(CheckPlainLoop(state, ref));
  InitFinder inits(loop.loop_var);
  inits.VisitStmt(loop.body);
  for (const tir::Block* block : BlocksOf(loop.body)) {
    if (!block->alloc_buffers.empty())
      return state.Refuse("the block {1} under the loop {0} allocates buffers", {&loop, block});
  }
  if (inits.found)
    return state.Refuse("the loop {0} is of a reduction of the block {1}, which each part would initialize again",
                        {&loop, inits.found});
  const DataType dtype = DataType::Int(std::max<int>(loop.loop_var->dtype.bits, 32));
  const std::string name = fmt::format("{}_{}", FirstBlockName(loop.body), loop.loop_var->name);
  std::vector<const tir::Stmt*> parts;
  std::vector<const tir::Stmt*> part_loops;
  const PrimExpr* min = loop.min;
  for (size_t i = 0; i < ends.size(); ++i) {
    const PrimExpr* end = make.Const(ends[i], dtype);
    const tir::Var* var = workspace.NewPrimVar(fmt::format("{}{}", loop.loop_var->name, i), dtype);
    const tir::Stmt* body = SubstituteCast(loop.body, {{loop.loop_var, var}}, workspace);
    body = StmtCopier(workspace).Copy(body, {}, OwnDefinitions::kRenew);
    const PrimExpr* extent = make.Sub(end, make.Cast(dtype, min));
    body = PartRewriter(var, min, extent, workspace).VisitStmt(body);
    const auto* part = workspace.New<tir::For>(var, make.Cast(dtype, min), extent, tir::ForKind::kSerial, body, nullptr,
                                               DictAttr::Empty());
    const PrimExpr* runs = make.Binary(NodeKind::kGT, end, make.Const(0, dtype));
    parts.push_back(
        MakeRealize({}, runs, MakePlainBlock(fmt::format("{}{}_partition", name, i), part, workspace), workspace));
    part_loops.push_back(part);
    min = end;
  }
  const tir::Block* common = MakePlainBlock(name + "_common", tir::MakeSeq(workspace, parts), workspace);
  state.Replace(ref, MakeRealize({}, nullptr, common, workspace));
  state.Recheck(state.ScopeOf(state.RefOf(common)));
  for (const tir::Stmt* part : part_loops) call.Return(state.RefOf(part));
  return {};
}

}  // namespace iropt::schedule
