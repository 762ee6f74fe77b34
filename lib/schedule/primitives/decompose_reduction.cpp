// Making the initialization of a reduction a block of its own.
//
//   for i, k in T.grid(64, 64):                 for i_init in range(64):
//       with T.block("B"):                          with T.block("B_init"): B[vi] = 0
//           with T.init(): B[vi] = 0        -->     for i, k in T.grid(64, 64):
//           B[vi] = B[vi] + A[vi, vk]                   with T.block("B_update"): B[vi] = B[vi] + A[vi, vk]
//
// Source: TVM's DecomposeReduction (src/tir/schedule/primitive/reduction.cc).
#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/support/lookup.h"
#include "moved_block.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

// Puts statements before a loop, and replaces a block.
class InitInserter : public tir::StmtExprMutator {
 public:
  InitInserter(const tir::Stmt* loop, const tir::Stmt* init, const tir::Block* old_block, const tir::Block* new_block,
               Workspace& workspace)
      : StmtExprMutator(workspace), loop_(loop), init_(init), old_block_(old_block), new_block_(new_block) {}
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    if (loop != loop_) return visited;
    const tir::Stmt* both[] = {init_, visited};
    return tir::MakeSeq(workspace(), both);
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    return block == old_block_ ? new_block_ : StmtExprMutator::VisitBlock(block);
  }

 private:
  const tir::Stmt* loop_;
  const tir::Stmt* init_;
  const tir::Block* old_block_;
  const tir::Block* new_block_;
};

class Decomposer {
 public:
  Decomposer(State& state, Ref* block, Ref* loop)
      : state_(state), workspace_(state.workspace()), ref_(block), block_(block->block()), loop_(loop) {}

  Result<Ref*> Decompose() {
    loops_ = state_.LoopsOf(ref_);
    realize_ = state_.RealizeOf(ref_);
    IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state_, ref_, /*stage_pipeline=*/false));
    if (std::ranges::find(loops_, loop_) == loops_.end())
      return state_.Refuse("the loop {0} is not around the block {1}", {loop_->stmt, &block_});
    IROPT_RETURN_IF_ERROR(CheckReductionBlock(state_, ref_, scope));
    IROPT_RETURN_IF_ERROR(CheckHeight());
    IROPT_ASSIGN_OR_RETURN(const tir::Stmt* init, MakeInit());
    const tir::Block* update = MakeUpdate();
    InitInserter inserter(loop_->stmt, init, &block_, update, workspace_);
    const auto* old_scope = &scope->block();
    const auto* new_scope = To<tir::Block>(inserter.VisitStmt(old_scope));
    state_.Replace(scope, new_scope, {{old_scope, new_scope}, {&block_, update}});
    state_.RecheckBlocks(scope);
    return state_.RefOf(init_block_);
  }

 private:
  // No loop above the given one is used for a reduction axis.
  Status CheckHeight() {
    for (size_t i = 0; i < block_.iter_vars.size(); ++i) {
      if (block_.iter_vars[i]->iter_type != tir::IterVarType::kCommReduce) continue;
      for (const Ref* higher : loops_) {
        if (higher == loop_) break;
        if (tir::UsesVar(realize_->iter_values[i], higher->loop().loop_var))
          return state_.Refuse(
              "the loop {0} is inside of a loop of the reduction of the block {1}: expected one around all of these",
              {loop_->stmt, &block_});
      }
    }
    return {};
  }

  Result<const tir::Stmt*> MakeInit() {
    tir::VarValues axes;
    std::vector<const tir::IterVar*> init_axes;
    std::vector<const PrimExpr*> values;
    for (size_t i = 0; i < block_.iter_vars.size(); ++i) {
      const tir::IterVar& axis = *block_.iter_vars[i];
      if (axis.iter_type != tir::IterVarType::kDataPar) continue;
      const tir::Var* var = CopyVar(*axis.var, workspace_);
      init_axes.push_back(workspace_.New<tir::IterVar>(axis.dom, var, axis.iter_type, axis.thread_tag));
      values.push_back(realize_->iter_values[i]);
      axes[axis.var] = var;
    }
    std::vector<const tir::BufferRegion*> writes;
    for (const tir::BufferRegion* write : block_.writes) writes.push_back(tir::Substitute(write, axes, workspace_));
    init_block_ = workspace_.New<tir::Block>(
        workspace_.Copy(init_axes), List<const tir::BufferRegion*>(), workspace_.Copy(writes),
        workspace_.arena().CopyString(fmt::format("{}_init", block_.name_hint)), List<const tir::Buffer*>(),
        List<const tir::MatchBufferRegion*>(), block_.annotations, nullptr,
        tir::Substitute(block_.init, axes, workspace_));
    // The loops from the given one inwards that the initialization depends on.
    std::vector<const tir::For*> chosen;
    LookupSet<const tir::Var*> discarded;
    for (size_t i = loops_.size(); i > 0; --i) {
      const tir::For& loop = loops_[i - 1]->loop();
      const auto uses = [&](const PrimExpr* value) { return tir::UsesVar(value, loop.loop_var); };
      if (std::ranges::any_of(values, uses))
        chosen.push_back(&loop);
      else
        discarded.insert(loop.loop_var);
      if (loops_[i - 1] == loop_) break;
    }
    IROPT_RETURN_IF_ERROR(CheckReducesOnce(state_, ref_, loop_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, Condition(discarded));
    tir::VarValues loop_vars;
    for (const tir::For* loop : chosen) loop_vars[loop->loop_var] = CopyVar(*loop->loop_var, workspace_, "_init");
    const tir::Stmt* stmt =
        tir::Substitute(MakeRealize(values, condition, init_block_, workspace_), loop_vars, workspace_);
    init_block_ = To<tir::BlockRealize>(stmt)->block;
    for (const tir::For* loop : chosen) {
      const tir::IterVar* thread = loop->thread_binding;
      if (thread)
        thread = workspace_.New<tir::IterVar>(thread->dom, CopyVar(*thread->var, workspace_), thread->iter_type,
                                              thread->thread_tag);
      const PrimExpr* min = tir::Substitute(loop->min, loop_vars, workspace_);
      const PrimExpr* extent = tir::Substitute(loop->extent, loop_vars, workspace_);
      stmt = workspace_.New<tir::For>(To<tir::Var>(loop_vars[loop->loop_var]), min, extent, loop->for_kind, stmt,
                                      thread, DictAttr::Empty());
    }
    return stmt;
  }

  // The parts of the condition of the block that do not depend on loops that the initialization does not have.
  Result<const PrimExpr*> Condition(const LookupSet<const tir::Var*>& discarded) {
    const arith::PrimBuilder make = state_.make();
    const PrimExpr* result = make.Bool(true);
    if (IsTrue(realize_->predicate)) return result;
    tir::VarValues only_values;
    for (const Ref* ref : loops_) {
      const tir::For& loop = ref->loop();
      if (discarded.contains(loop.loop_var) && arith::IsInt(loop.extent, 1)) only_values[loop.loop_var] = loop.min;
    }
    const PrimExpr* rest = tir::Substitute(realize_->predicate, only_values, workspace_);
    const PrimExpr* least_parts = make.Bool(true);
    while (rest) {
      const auto* both = As<tir::And>(rest);
      const auto* less = As<tir::LT>(both ? both->b : rest);
      if (!less) return state_.Refuse("the condition of the block {0} is not made of comparisons", {&block_});
      if (!tir::UsesAnyOf(discarded, less->a)) {
        result = make.Binary(NodeKind::kAnd, result, less);
      } else if (const tir::Stmt* loop = RepeatingLoopIn(*less, discarded)) {
        return state_.Refuse("the loop {0} would initialize the result of the block {1} again", {loop, &block_});
      } else if (UsesLoopsOfInit(*less, discarded)) {
        const PrimExpr* least = LeastOf(less->a, discarded);
        if (least && !tir::UsesAnyOf(discarded, less->b))
          least_parts = make.Binary(NodeKind::kAnd, least_parts, make.Binary(NodeKind::kLT, least, less->b));
      }
      rest = both ? both->a : nullptr;
    }
    // All elements are initialized, also those to which nothing is added, but none outside of the domains of the axes.
    const PrimExpr* with_least_parts = make.Binary(NodeKind::kAnd, result, least_parts);
    if (!IsTrue(least_parts) && !IsInDomains(result) && IsInDomains(with_least_parts)) result = with_least_parts;
    if (only_values.empty()) return result;
    return arith::Analyzer(make, arith::Analyzer::SymVars::kAny).Simplify(result);
  }

  // Returns whether the data parallel axes have values in their domains where the condition holds.
  bool IsInDomains(const PrimExpr* condition) {
    arith::Analyzer analyzer(state_.make(), arith::Analyzer::SymVars::kAny);
    BindLoopsAround(ref_->parent, analyzer);
    const arith::Analyzer::Constraint known(analyzer, condition);
    for (size_t i = 0; i < block_.iter_vars.size(); ++i) {
      const tir::IterVar& axis = *block_.iter_vars[i];
      const PrimExpr* begin = analyzer.make().Sub(realize_->iter_values[i], axis.dom->min);
      const bool is_inside = analyzer.CanProveGreaterEqual(begin, 0) &&
                             analyzer.CanProve(analyzer.make().Binary(NodeKind::kLT, begin, axis.dom->extent));
      if (axis.iter_type == tir::IterVarType::kDataPar && !is_inside) return false;
    }
    return true;
  }

  bool UsesLoopsOfInit(const tir::LT& condition, const LookupSet<const tir::Var*>& discarded) const {
    return std::ranges::any_of(loops_, [&](const Ref* ref) {
      const tir::Var* var = ref->loop().loop_var;
      return !discarded.contains(var) && tir::UsesVar(condition.a, var);
    });
  }

  // The least value for all values of the loops that the initialization does not have, which is needed for one of them;
  // null if it is not known.
  const PrimExpr* LeastOf(const PrimExpr* value, const LookupSet<const tir::Var*>& discarded) {
    arith::IterRanges ranges;
    for (const Ref* ref : loops_) {
      const tir::For& loop = ref->loop();
      if (discarded.contains(loop.loop_var)) ranges.insert_or_assign(loop.loop_var, tir::Range(loop.min, loop.extent));
    }
    arith::Analyzer analyzer(state_.make(), arith::Analyzer::SymVars::kAny);
    const arith::IntervalSet set = arith::EvalSet(value, DomainsOf(ranges, state_.make()), analyzer);
    return set.is_bounded() ? analyzer.Simplify(set.min()) : nullptr;
  }

  // A loop further out that the condition uses, but no axis: without the condition it repeats the initialization.
  const tir::Stmt* RepeatingLoopIn(const tir::LT& condition, const LookupSet<const tir::Var*>& discarded) {
    for (const Ref* ref : loops_) {
      const tir::For& loop = ref->loop();
      const auto uses = [&](const PrimExpr* value) { return tir::UsesVar(value, loop.loop_var); };
      if (!discarded.contains(loop.loop_var) && !arith::IsInt(loop.extent, 1) && uses(condition.a) &&
          std::ranges::none_of(realize_->iter_values, uses))
        return &loop;
    }
    return nullptr;
  }

  // Makes the block without its initialization, which also reads the buffers that it writes.
  const tir::Block* MakeUpdate() {
    return CopyBlock(block_, workspace_, [&](tir::Block& copy) {
      copy.name_hint = workspace_.arena().CopyString(fmt::format("{}_update", block_.name_hint));
      copy.init = nullptr;
      std::vector<const tir::BufferRegion*> reads;
      for (const tir::BufferRegion* write : block_.writes) {
        if (!UsesBuffer(block_.reads, write->buffer)) reads.push_back(write);
      }
      reads.insert(reads.end(), block_.reads.begin(), block_.reads.end());
      copy.reads = workspace_.Copy(reads);
    });
  }

  State& state_;
  Workspace& workspace_;
  Ref* ref_;
  const tir::Block& block_;
  Ref* loop_;
  std::vector<Ref*> loops_;
  const tir::BlockRealize* realize_ = nullptr;
  const tir::Block* init_block_ = nullptr;
};

}  // namespace

Status ApplyDecomposeReduction(PrimitiveCall& call, const args::DecomposeReduction<Resolved>& args) {
  Decomposer decomposer(call.state(), args.block, args.loop);
  IROPT_ASSIGN_OR_RETURN(Ref * init, decomposer.Decompose());
  call.Return(init);
  return {};
}

}  // namespace iropt::schedule
