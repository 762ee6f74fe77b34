// Computing the indices of a block once, ahead of it.
//
//   for i: B[i] = A[i // 4 + 1]   cache_index      for i: index_var_0[i] = i // 4 + 1
//                                     -->          for i: B[i] = A[index_var_0[i]]
//
// A computation that the stores of the block do at least as often as the threshold says gets a buffer over the axes of
// the block that it depends on. Unlike TVM, the buffers have no strides, the block states that it reads them, and an
// axis of a buffer has all values of what it stands for.
//
// Source: TVM's src/tir/schedule/primitive/cache_index.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cache.h"
#include "iropt/analysis/tir/computations.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/support/lookup.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

namespace {

// Calls f for the stores of a block and of its initialization, not for those of blocks in it.
template <class F>
class OwnStores : public tir::StmtExprVisitor {
 public:
  explicit OwnStores(F f) : f_(std::move(f)) {}
  void VisitExpr(const PrimExpr*) final {}
  void Visit(const tir::Block& block) {
    if (block.init) VisitStmt(block.init);
    VisitStmt(block.body);
  }

 protected:
  void VisitBlock(const tir::Block*) final {}
  void VisitBufferStore(const tir::BufferStore* store) final { f_(*store); }

 private:
  F f_;
};

// A computation with the buffer that holds its values.
struct CachedIndex {
  const PrimExpr* expr;
  std::vector<const tir::Var*> axes;  // of the block, in the order in which they occur
  const tir::Buffer* buffer = nullptr;
  const tir::Block* block = nullptr;  // that computes it
  const tir::Stmt* stmt = nullptr;    // with the loops around it
};

// Finds the computations of a block that are done often enough.
class IndexFinder {
 public:
  IndexFinder(const tir::Block& block, size_t threshold, ComputationFacts& facts)
      : block_(block), threshold_(threshold), facts_(facts), found_(ComputationHash{&facts}) {
    for (const tir::IterVar* axis : block.iter_vars) axes_.insert(axis->var);
    for (const tir::Var* var : VarsOf(block)) defined_.insert(var);
  }

  // Big ones first.
  std::vector<CachedIndex> Find() {
    OwnStores([this](const tir::BufferStore& store) { Find(store); }).Visit(block_);
    std::ranges::stable_sort(indices_, [this](const CachedIndex& a, const CachedIndex& b) {
      return facts_.Size(a.expr) > facts_.Size(b.expr);
    });
    return std::move(indices_);
  }

 private:
  class Definitions : public tir::StmtExprVisitor {
   public:
    std::vector<const tir::Var*> vars;

   protected:
    void VisitVarDef(const tir::Var* var) override { vars.push_back(var); }
  };
  static std::vector<const tir::Var*> VarsOf(const tir::Block& block) {
    Definitions definitions;
    if (block.init) definitions.VisitStmt(block.init);
    definitions.VisitStmt(block.body);
    return std::move(definitions.vars);
  }

  void Find(const tir::BufferStore& store) {
    const Prefix whole(nullptr, 0);
    ComputationTable table(facts_, whole);
    table.Collect(&store, /*guarded=*/false);
    ComputationMap<size_t> counts(ComputationHash{&facts_});
    std::map<size_t, std::vector<const PrimExpr*>, std::greater<>> by_size;
    const auto add = [&](const PrimExpr* expr, size_t count) {
      const auto [total, is_new] = counts.try_emplace(facts_.Key(expr), 0);
      total += count;
      if (is_new) by_size[facts_.Size(expr)].push_back(expr);
    };
    for (const ComputationTable::Entry& entry : table.Sorted()) add(entry.expr, entry.count);
    // Computations that are done too rarely are taken apart. Parts are smaller, so that all of them come later.
    for (const auto& [size, exprs] : by_size) {
      for (const PrimExpr* expr : exprs) {
        const size_t count = counts.at(facts_.Key(expr));
        if (count < threshold_) ForEachPart(expr, [&](const PrimExpr* part) { add(part, count); });
      }
    }
    Note(store.value, counts);
  }

  // The greatest computations within a computation.
  template <class F>
  void ForEachPart(const PrimExpr* expr, const F& f) {
    ForEachOperand(expr, [&](const PrimExpr* operand) {
      if (facts_.IsEligible(operand)) return f(operand);
      ForEachPart(operand, f);
    });
  }

  // Notes those that are done often in the order in which they occur, operands first.
  void Note(const PrimExpr* expr, const ComputationMap<size_t>& counts) {
    ForEachOperand(expr, [&](const PrimExpr* operand) { Note(operand, counts); });
    if (!facts_.IsEligible(expr)) return;
    const size_t* count = counts.Find(facts_.Key(expr));
    if (!count || *count < threshold_) return;
    std::vector<const tir::Var*> axes;
    for (const tir::Var* var : schedule::VarsOf(expr)) {
      if (axes_.contains(var)) axes.push_back(var);
      if (defined_.contains(var)) return;  // not known ahead of the block
    }
    if (found_.try_emplace(facts_.Key(expr), indices_.size()).second)
      indices_.push_back({.expr = expr, .axes = std::move(axes)});
  }

  const tir::Block& block_;
  const size_t threshold_;
  ComputationFacts& facts_;
  LookupSet<const tir::Var*> axes_, defined_;
  std::vector<CachedIndex> indices_;
  ComputationMap<size_t> found_;  // in indices_, by key
};

// Makes the buffers of computations and the loops that fill them.
class IndexStages {
 public:
  IndexStages(State& state, const Ref* block, const Ref* scope, std::string_view memory)
      : state_(state),
        scope_(scope),
        workspace_(state.workspace()),
        make_(state.make()),
        analyzer_(make_, arith::Analyzer::SymVars::kAny),
        memory_(memory),
        bindings_(BindingsOf(*state.RealizeOf(block), state.workspace())),
        loops_(LoopDomain(block->parent)),
        domains_(DomainsOf(loops_, make_)) {}

  Status Make(CachedIndex& index, size_t number) {
    Axes axes;
    for (const tir::Var* axis : index.axes) IROPT_RETURN_IF_ERROR(AddAxis(axis, axes));
    const std::vector<const PrimExpr*> shape = SizesOf(state_, scope_, axes.shape);
    index.buffer = tir::MakeBuffer(workspace_, {.shape = shape, .dtype = index.expr->dtype, .scope = memory_},
                                   fmt::format("index_var_{}", number));
    const PrimExpr* value = tir::Substitute(index.expr, axes.renamed, workspace_);
    const auto* store = workspace_.New<tir::BufferStore>(index.buffer, value, workspace_.Copy(axes.indices));
    const tir::BufferRegion* writes[] = {PointRegion(index.buffer, axes.indices, workspace_)};
    index.block = workspace_.New<tir::Block>(workspace_.Copy(axes.iter_vars), List<const tir::BufferRegion*>(),
                                             workspace_.Copy(std::span<const tir::BufferRegion* const>(writes)),
                                             workspace_.arena().CopyString(fmt::format("index_{}", number)),
                                             List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(),
                                             DictAttr::Empty(), nullptr, store);
    index.stmt = MakeRealize(axes.bindings, nullptr, index.block, workspace_);
    for (size_t i = axes.loops.size(); i > 0; --i)
      index.stmt = MakeLoop(axes.loops[i - 1], axes.extents[i - 1], index.stmt, workspace_);
    return {};
  }

 private:
  // The loops and axes of the block that computes one index.
  struct Axes {
    std::vector<const tir::Var*> loops;
    std::vector<const PrimExpr*> extents;  // of the loops
    std::vector<const tir::IterVar*> iter_vars;
    std::vector<const PrimExpr*> bindings;
    std::vector<const PrimExpr*> indices;  // the axes
    std::vector<const PrimExpr*> shape;
    tir::VarValues loops_of = {};  // values of the loops around the old block
    tir::VarValues renamed = {};   // axes of the old block
  };

  Status AddAxis(const tir::Var* axis, Axes& axes) {
    const PrimExpr* binding = bindings_.at(axis);
    for (const tir::Var* var : VarsOf(binding)) {
      const tir::Range* range = loops_.Find(var);
      if (!range || axes.loops_of.contains(var)) continue;
      const tir::Var* loop = workspace_.NewPrimVar(fmt::format("ax{}", axes.loops.size()), var->dtype);
      axes.loops.push_back(loop);
      axes.extents.push_back(range->extent);
      axes.loops_of.try_emplace(var, analyzer_.Simplify(make_.Add(range->min, loop)));
    }
    const arith::IntervalSet values = arith::EvalSet(binding, domains_, analyzer_);
    const PrimExpr* last = values.max();
    if (!last || !values.min() || !analyzer_.CanProveGreaterEqual(values.min(), 0))
      return state_.Refuse(fmt::format("the values of the axis {} have no known bound", axis->name));
    const PrimExpr* dim = analyzer_.Simplify(make_.Add(last, make_.Const(1, last->dtype)));
    if (arith::MayFail(dim, analyzer_.bounds()))
      return state_.Refuse(fmt::format("the bound of the axis {} has no value for all sizes", axis->name));
    const tir::Var* var = workspace_.NewPrimVar(fmt::format("v{}", axes.iter_vars.size()), axis->dtype);
    axes.iter_vars.push_back(workspace_.New<tir::IterVar>(workspace_.New<tir::Range>(make_.Const(0, dim->dtype), dim),
                                                          var, tir::IterVarType::kDataPar));
    axes.bindings.push_back(tir::Substitute(binding, axes.loops_of, workspace_));
    axes.indices.push_back(var);
    axes.shape.push_back(dim);
    axes.renamed.try_emplace(axis, var);
    return {};
  }

  State& state_;
  const Ref* scope_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  std::string_view memory_;
  tir::VarValues bindings_;  // of the axes of the old block
  arith::IterRanges loops_;  // around it
  arith::VarDomains domains_;
};

// Lets the stores of a block read the buffers.
class IndexReplacer : public tir::StmtExprMutator {
 public:
  IndexReplacer(const std::vector<CachedIndex>& indices, ComputationFacts& facts, Workspace& workspace)
      : StmtExprMutator(workspace), facts_(facts), loads_(ComputationHash{&facts}) {
    for (const CachedIndex& index : indices) {
      const List<const PrimExpr*> axes = workspace.Copy(AxesOf(index));
      loads_.try_emplace(facts.Key(index.expr),
                         workspace.New<tir::BufferLoad>(index.buffer->dtype, index.buffer, axes));
    }
  }
  static std::vector<const PrimExpr*> AxesOf(const CachedIndex& index) {
    return {index.axes.begin(), index.axes.end()};
  }

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (!in_store_) return expr;
    const PrimExpr* load = facts_.IsEligible(expr) ? loads_.Lookup(facts_.Key(expr)) : nullptr;
    return load ? load : StmtExprMutator::VisitExpr(expr);
  }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override { return block; }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    in_store_ = true;
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    in_store_ = false;
    return visited;
  }

 private:
  ComputationFacts& facts_;
  ComputationMap<const PrimExpr*> loads_;
  bool in_store_ = false;
};

const tir::Block* ReadIndices(const tir::Block& block, const std::vector<CachedIndex>& indices, ComputationFacts& facts,
                              Workspace& workspace) {
  IndexReplacer replacer(indices, facts, workspace);
  return CopyBlock(block, workspace, [&](tir::Block& copy) {
    if (copy.init) copy.init = replacer.VisitStmt(copy.init);
    copy.body = replacer.VisitStmt(copy.body);
    for (const CachedIndex& index : indices)
      copy.reads = With(copy.reads, PointRegion(index.buffer, IndexReplacer::AxesOf(index), workspace), workspace);
  });
}

// Replaces the block in its scope, and puts the stages before the statement that it is in.
class StageInserter : public ScopeRewriter {
 public:
  StageInserter(const tir::Block* scope, const tir::Block* block, const tir::Block* new_block, Workspace& workspace)
      : ScopeRewriter(scope, workspace), block_(block), new_block_(new_block) {}

  const tir::Block* Insert(const std::vector<CachedIndex>& indices) {
    const List<const tir::Stmt*> statements = workspace().Copy(StatementsOf(BelowDeclarations(scope_->body)));
    int position = 0;
    while (VisitStmt(statements[position]) == statements[position]) ++position;
    return CopyBlock(*scope_, workspace(), [&](tir::Block& copy) {
      copy.body = VisitStmt(copy.body);
      for (auto index = indices.rbegin(); index != indices.rend(); ++index)
        copy.body = InsertStage(copy.body, position, index->stmt, workspace());
      for (const CachedIndex& index : indices) copy.alloc_buffers = With(copy.alloc_buffers, index.buffer, workspace());
    });
  }

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override { return block == block_ ? new_block_ : block; }

 private:
  const tir::Block* block_;
  const tir::Block* new_block_;
};

}  // namespace

Status ApplyCacheIndex(PrimitiveCall& call, const args::CacheIndex<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* ref = args.block;
  const int64_t threshold = args.cse_thresh;
  const std::string& memory = args.storage_scope;
  if (threshold < 0) return call.Refuse("invalid `cse_thresh`: expected a number that is not negative");
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, memory));
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/false));
  IROPT_RETURN_IF_ERROR(CheckOnlyBlocks(state, scope));
  ComputationFacts facts(workspace, /*equivalent=*/true, ComputationCalls::kPure);
  std::vector<CachedIndex> indices = IndexFinder(ref->block(), static_cast<size_t>(threshold), facts).Find();
  if (indices.empty()) return {};
  IndexStages stages(state, ref, scope, memory);
  for (size_t i = 0; i < indices.size(); ++i) IROPT_RETURN_IF_ERROR(stages.Make(indices[i], i));
  const tir::Block* old_block = &ref->block();
  const tir::Block* old_scope = &scope->block();
  const tir::Block* new_block = ReadIndices(*old_block, indices, facts, workspace);
  const tir::Block* new_scope = StageInserter(old_scope, old_block, new_block, workspace).Insert(indices);
  state.Replace(scope, new_scope, {{old_scope, new_scope}, {old_block, new_block}});
  for (const CachedIndex& index : indices) call.Return(state.RefOf(index.block));
  return {};
}

}  // namespace iropt::schedule
