// Taking a block of padding apart.
//
//   for i in range(130):                              for i in range(130):
//       with T.block("B"):                                with T.block("B_pad_const"): B[vi] = 0
//           B[vi] = T.if_then_else(              -->  for i in range(128):
//               1 <= vi and vi < 129, A[vi - 1], 0)       with T.block("B"): B[vi + 1] = A[vi]
//
// Source: TVM's src/tir/schedule/primitive/decompose_padding.cc.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/side_effect.h"
#include "iropt/op/intrinsic_ids.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// Parts of a block of padding.
struct PaddingBlock {
  std::vector<const tir::Range*> inside;       // of its axes, where it copies
  const PrimExpr* inside_value = nullptr;      // in terms of the axes
  const PrimExpr* inside_condition = nullptr;  // in terms of the loops
  const PrimExpr* value = nullptr;             // elsewhere, a constant
};

// The conjunction with its terms in one row, without marks of likely conditions.
const PrimExpr* Flatten(const PrimExpr* condition, Analyzer& analyzer) {
  const arith::PrimBuilder& make = analyzer.make();
  std::vector<const PrimExpr*> rest{condition};
  const PrimExpr* result = make.Bool(true);
  while (!rest.empty()) {
    const PrimExpr* term = rest.back();
    rest.pop_back();
    if (const auto* both = As<tir::And>(term)) {
      rest.push_back(both->b);
      rest.push_back(both->a);
      continue;
    }
    if (IsCallTo(term, op::kTirLikely)) term = To<tir::Call>(term)->args[0];
    result = make.Binary(NodeKind::kAnd, result, term);
  }
  return analyzer.Simplify(result);
}

class PaddingDecomposer {
 public:
  PaddingDecomposer(State& state, Ref* block, Ref* loop)
      : state_(state),
        workspace_(state.workspace()),
        make_(state.make()),
        analyzer_(make_, Analyzer::SymVars::kAny),
        ref_(block),
        block_(block->block()),
        realize_(*state.RealizeOf(block)),
        fill_at_(loop) {}

  Result<Ref*> Decompose() {
    IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state_, ref_, /*stage_pipeline=*/false));
    IROPT_RETURN_IF_ERROR(CheckCompleteBlock(state_, ref_, scope));
    IROPT_RETURN_IF_ERROR(FindLoops());
    IROPT_RETURN_IF_ERROR(MatchPadding());
    const tir::Stmt* fill = MakeFill();
    const tir::Stmt* copy = MakeCopy();
    ReplacePlan plan(*this, &scope->block(), fill, copy);
    const auto* old_scope = &scope->block();
    const auto* new_scope = To<tir::Block>(plan.VisitStmt(old_scope));
    state_.Replace(scope, new_scope, {{old_scope, new_scope}, {&block_, copy_block_}});
    return state_.RefOf(fill_block_);
  }

 private:
  // Puts the loops that fill before one loop, and those that copy in place of another one.
  class ReplacePlan : public ScopeRewriter {
   public:
    ReplacePlan(const PaddingDecomposer& parent, const tir::Block* scope, const tir::Stmt* fill, const tir::Stmt* copy)
        : ScopeRewriter(scope, parent.workspace_), parent_(parent), fill_(fill), copy_(copy) {}

   protected:
    const tir::Stmt* VisitFor(const tir::For* loop) override {
      const tir::Stmt* visited = loop == parent_.copy_at_ ? copy_ : ScopeRewriter::VisitFor(loop);
      if (loop != parent_.fill_at_->stmt) return visited;
      const tir::Stmt* both[] = {fill_, visited};
      return tir::MakeSeq(workspace(), both);
    }

   private:
    const PaddingDecomposer& parent_;
    const tir::Stmt* fill_;
    const tir::Stmt* copy_;
  };

  Status Mismatch(std::string_view reason) {
    return state_.Refuse(fmt::format("the block {{0}} is not a padding: {}", reason), {&block_});
  }

  // The loops of both parts, innermost first.
  Status FindLoops() {
    bool found = false, fixed = false;
    for (const Ref* up = ref_->parent; up && up->is_loop(); up = up->parent) {
      const tir::For& loop = up->loop();
      iters_.insert_or_assign(loop.loop_var, tir::Range(loop.min, loop.extent));
      analyzer_.Bind(loop.loop_var, loop.min, loop.extent);
      loops_.push_back(&loop);
      const bool has_one_child = Is<tir::For>(loop.body) || Is<tir::BlockRealize>(loop.body);
      if (!fixed && has_one_child) copy_at_ = &loop;
      if (up == fill_at_ || !has_one_child) fixed = true;
      found = found || up == fill_at_;
    }
    if (!found) return state_.Refuse("the loop {0} is not around the block {1}", {fill_at_->stmt, &block_});
    if (!copy_at_) return state_.Refuse("the innermost loop around block {0} has other statements", {&block_});
    return {};
  }

  Status MatchPadding() {
    const auto* store = As<tir::BufferStore>(block_.body);
    if (!store) return Mismatch("Block body expect a BufferStore to the write buffer");
    if (!IsCallTo(store->value, op::kTirIfThenElse))
      return Mismatch("Value of BufferStore expect to be constrained by a padding predicate");
    const auto& choice = *To<tir::Call>(store->value);
    padding_.inside_value = choice.args[1];
    padding_.value = choice.args[2];
    if (!Is<tir::IntImm>(padding_.value) && !Is<tir::FloatImm>(padding_.value))
      return Mismatch("Pad value should be constant");
    if (arith::SideEffect(padding_.inside_value) > CallEffect::kReadState)
      return Mismatch("Inbound computation should not have side-effect");
    const PrimExpr* condition = tir::Substitute(choice.args[0], BindingsOf(realize_, workspace_), workspace_);
    padding_.inside_condition = Flatten(make_.Binary(NodeKind::kAnd, condition, realize_.predicate), analyzer_);
    if (IsTrue(padding_.inside_condition)) return Mismatch("The in-bound predicate is trivial");
    const auto map = arith::DetectIterMap(realize_.iter_values, iters_, padding_.inside_condition, {}, analyzer_);
    if (!map) return Mismatch("Block iters are not independent wrt padding condition");
    for (const arith::IterMapIndex& index : map->indices) {
      if (!arith::IsInt(index.extent, 1) && !analyzer_.CanProveEqual(index.scale, make_.Const(1, index.scale->dtype)))
        return Mismatch("Strided iteration is not supported");
      padding_.inside.push_back(workspace_.New<tir::Range>(index.base, index.extent));
    }
    return {};
  }

  // Fills everything, also what is copied to afterwards.
  const tir::Stmt* MakeFill() {
    tir::VarValues axes;
    std::vector<const tir::IterVar*> new_axes;
    for (const tir::IterVar* axis : block_.iter_vars) {
      const tir::Var* var = CopyVar(*axis->var, workspace_);
      new_axes.push_back(workspace_.New<tir::IterVar>(axis->dom, var, tir::IterVarType::kDataPar));
      axes[axis->var] = var;
    }
    const tir::BufferRegion* write = Rewrite(block_.writes[0], axes);
    fill_block_ = workspace_.New<tir::Block>(
        workspace_.Copy(new_axes), List<const tir::BufferRegion*>(), workspace_.Copy(std::vector{write}),
        workspace_.arena().CopyString(fmt::format("{}_pad_const", block_.name_hint)), List<const tir::Buffer*>(),
        List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, RewriteStore(padding_.value, axes));
    std::vector<const tir::For*> chosen;
    for (const tir::For* loop : loops_) {
      chosen.push_back(loop);
      axes[loop->loop_var] = CopyVar(*loop->loop_var, workspace_);
      if (loop == fill_at_->stmt) break;
    }
    std::vector<const PrimExpr*> values;
    for (const PrimExpr* value : realize_.iter_values) values.push_back(Rewrite(value, axes));
    const tir::Stmt* stmt = MakeRealize(values, Rewrite(realize_.predicate, axes), fill_block_, workspace_);
    for (const tir::For* loop : chosen)
      stmt = workspace_.New<tir::For>(To<tir::Var>(axes[loop->loop_var]), loop->min, loop->extent,
                                      tir::ForKind::kSerial, stmt, nullptr, DictAttr::Empty());
    return stmt;
  }

  // Copies what is inside. A loop whose variable is an axis runs only there.
  const tir::Stmt* MakeCopy() {
    std::vector<const tir::For*> chosen;
    arith::IterRanges ranges;
    for (const tir::For* loop : loops_) {
      chosen.push_back(loop);
      ranges.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
      if (loop == copy_at_) break;
    }
    tir::VarValues values;
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> bindings;
    for (size_t i = 0; i < padding_.inside.size(); ++i) {
      const tir::Range& inside = *padding_.inside[i];
      const tir::IterVar& old = *block_.iter_vars[i];
      const tir::Var* var = CopyVar(*old.var, workspace_);
      const auto* range = workspace_.New<tir::Range>(make_.Const(0, var->dtype), inside.extent);
      axes.push_back(workspace_.New<tir::IterVar>(range, var, tir::IterVarType::kDataPar));
      values[old.var] = make_.Add(var, inside.min);
      const PrimExpr* binding = realize_.iter_values[i];
      const auto* loop_var = As<tir::Var>(binding);
      if (loop_var && ranges.contains(loop_var)) {
        ranges.insert_or_assign(loop_var, *range);
        bindings.push_back(binding);
        values[loop_var] = make_.Add(loop_var, inside.min);
        analyzer_.Bind(loop_var, range->min, range->extent);
      } else {
        bindings.push_back(analyzer_.Simplify(make_.Sub(binding, inside.min)));
      }
    }
    copy_block_ = workspace_.New<tir::Block>(
        workspace_.Copy(axes), Rewrite(block_.reads, values), Rewrite(block_.writes, values), block_.name_hint,
        List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr,
        RewriteStore(Rewrite(padding_.inside_value, values), values));
    const tir::Stmt* stmt = MakeRealize(bindings, Rewrite(padding_.inside_condition, values), copy_block_, workspace_);
    for (const tir::For* loop : chosen) {
      auto* copy = workspace_.New<tir::For>(*loop);
      copy->min = ranges.at(loop->loop_var).min;
      copy->extent = ranges.at(loop->loop_var).extent;
      copy->body = stmt;
      stmt = copy;
    }
    return stmt;
  }

  const PrimExpr* Rewrite(const PrimExpr* expr, const tir::VarValues& values) {
    return analyzer_.Simplify(tir::Substitute(expr, values, workspace_));
  }
  const tir::BufferRegion* Rewrite(const tir::BufferRegion* region, const tir::VarValues& values) {
    std::vector<const tir::Range*> ranges;
    for (const tir::Range* range : region->region)
      ranges.push_back(workspace_.New<tir::Range>(Rewrite(range->min, values), Rewrite(range->extent, values)));
    return MakeRegion(region->buffer, ranges, workspace_);
  }
  List<const tir::BufferRegion*> Rewrite(List<const tir::BufferRegion*> regions, const tir::VarValues& values) {
    std::vector<const tir::BufferRegion*> rewritten;
    for (const tir::BufferRegion* region : regions) rewritten.push_back(Rewrite(region, values));
    return workspace_.Copy(rewritten);
  }
  const tir::Stmt* RewriteStore(const PrimExpr* value, const tir::VarValues& values) {
    auto* store = workspace_.New<tir::BufferStore>(*To<tir::BufferStore>(block_.body));
    std::vector<const PrimExpr*> indices;
    for (const PrimExpr* index : store->indices) indices.push_back(Rewrite(index, values));
    store->indices = workspace_.Copy(indices);
    store->value = value;
    return store;
  }

  State& state_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  Analyzer analyzer_;
  Ref* ref_;
  const tir::Block& block_;
  const tir::BlockRealize& realize_;
  Ref* fill_at_;
  const tir::For* copy_at_ = nullptr;
  std::vector<const tir::For*> loops_;
  arith::IterRanges iters_;
  PaddingBlock padding_;
  const tir::Block* fill_block_ = nullptr;
  const tir::Block* copy_block_ = nullptr;
};

}  // namespace

Status ApplyDecomposePadding(PrimitiveCall& call, const args::DecomposePadding<Resolved>& args) {
  PaddingDecomposer decomposer(call.state(), args.block, args.loop);
  IROPT_ASSIGN_OR_RETURN(Ref * fill, decomposer.Decompose());
  call.Return(fill);
  return {};
}

}  // namespace iropt::schedule
