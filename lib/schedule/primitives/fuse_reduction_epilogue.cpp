// Fusing an elementwise block into the reduction whose result it reads.
//
//   with T.block("temp"):                                       with T.block("temp"):
//       with T.init(): temp[vi] = 0                                 with T.init(): D[vi] = C[vi]
//       temp[vi] = temp[vi] + A[vi, vk]                   -->       D[vi] = D[vi] + A[vi, vk]
//   with T.block("D"): D[vi] = temp[vi] + C[vi]
//
// Operands that are added to a sum become part of its first value. The result of another reduction may only be copied.
//
// Source: FuseReductionEpilogue of TVM 0.23's compute_inline.cc. Unlike it, operations that would be done in each step
// of the reduction are refused, and the first value is that of the reduction.
#include <algorithm>
#include <utility>

#include "iropt/ir/map_list.h"
#include "iropt/ir/structural.h"
#include "removal_plan.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/primitives/axis_condition.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

constexpr std::string_view kEpilogueForm =
    "the body of the epilogue block {0} should be a store of the result of the reduction, to which values may be added "
    "if the reduction is a sum, and without a predicate";

std::vector<const tir::BufferLoad*> LoadsOf(const tir::Buffer* buffer, const tir::BufferStore* store) {
  std::vector<const tir::BufferLoad*> loads;
  tir::PostOrderVisit(store, [&](const Node* node) {
    const auto* load = As<tir::BufferLoad>(node);
    if (load && load->buffer == buffer) loads.push_back(load);
  });
  return loads;
}

// Returns whether the expression is a load of the buffer, or also a sum with one as an operand.
bool IsLoadOf(const tir::Buffer* buffer, const PrimExpr* expr, bool in_sum) {
  if (const auto* load = As<tir::BufferLoad>(expr)) return load->buffer == buffer;
  const auto* sum = in_sum ? As<tir::Add>(expr) : nullptr;
  return sum && (IsLoadOf(buffer, sum->a, in_sum) || IsLoadOf(buffer, sum->b, in_sum));
}

// Replaces the load of the result of the reduction by a value.
class ResultReplacer : public tir::StmtExprMutator {
 public:
  ResultReplacer(const tir::Buffer* buffer, const PrimExpr* value, bool drop_addends, Workspace& workspace)
      : StmtExprMutator(workspace), buffer_(buffer), value_(value), drop_addends_(drop_addends) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    if (load->buffer != buffer_) return StmtExprMutator::VisitBufferLoad(load);
    found_ = true;
    return value_;
  }
  // Leaves out the operands that are added.
  const PrimExpr* VisitBinary(const tir::BinaryExpr* expr) override {
    if (!drop_addends_ || !Is<tir::Add>(expr)) return StmtExprMutator::VisitBinary(expr);
    const bool found_before = std::exchange(found_, false);
    const PrimExpr* a = VisitExpr(expr->a);
    if (found_) return a;
    const PrimExpr* b = VisitExpr(expr->b);
    if (found_) return b;
    found_ = found_before;
    return a == expr->a && b == expr->b ? expr : workspace().New<tir::Add>(a, b);
  }

 private:
  const tir::Buffer* buffer_;
  const PrimExpr* value_;
  const bool drop_addends_;
  bool found_ = false;
};

// Replaces the block of the reduction, and leaves out that of the epilogue.
class FusedScope : public ScopeRewriter {
 public:
  FusedScope(const tir::Block* scope, const RemovalPlan& removal, const tir::Block* old_block,
             const tir::Block* new_block, Workspace& workspace)
      : ScopeRewriter(scope, workspace), removal_(removal), old_block_(old_block), new_block_(new_block) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    return ScopeRewriter::VisitFor(loop == removal_.source ? To<tir::For>(removal_.target) : loop);
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    return block == old_block_ ? new_block_ : ScopeRewriter::VisitBlock(block);
  }
  const tir::Stmt* VisitScope(const tir::Block* block) override {
    return ScopeRewriter::VisitScope(block == removal_.source ? To<tir::Block>(removal_.target) : block);
  }

 private:
  const RemovalPlan removal_;
  const tir::Block* old_block_;
  const tir::Block* new_block_;
};

class EpilogueFuser {
 public:
  EpilogueFuser(State& state, const tir::Buffer* buffer, const tir::Block& reduction, const tir::Block& epilogue)
      : state_(state),
        workspace_(state.workspace()),
        analyzer_(state.make(), arith::Analyzer::SymVars::kAny),
        buffer_(buffer),
        reduction_(reduction),
        epilogue_(epilogue) {}

  Result<const tir::Block*> Fuse(const PrimExpr* predicate) {
    const auto* store = As<tir::BufferStore>(epilogue_.body);
    const auto* update = As<tir::BufferStore>(reduction_.body);
    const auto* first = As<tir::BufferStore>(reduction_.init);
    if (!IsTrue(predicate) || !store || !epilogue_.match_buffers.empty())
      return state_.Refuse(std::string(kEpilogueForm), {&epilogue_});
    if (!update || !first || update->buffer != buffer_ || first->buffer != buffer_ ||
        !DeepEqual(update->indices, first->indices))
      return state_.Refuse("the body of the block {0} is not a store of the result that its initialization stores",
                           {&reduction_});
    const bool is_sum = Is<tir::Add>(update->value) && IsLoadOf(buffer_, update->value, /*in_sum=*/true);
    const std::vector<const tir::BufferLoad*> loads = LoadsOf(buffer_, store);
    if (loads.size() != 1 || !IsLoadOf(buffer_, store->value, is_sum))
      return state_.Refuse(std::string(kEpilogueForm), {&epilogue_});
    IROPT_RETURN_IF_ERROR(MapAxes(*loads[0], *update));
    return CopyBlock(reduction_, workspace_, [&](tir::Block& copy) {
      copy.init = MakeStore(*store, first->value, /*drop_addends=*/false);
      copy.body = MakeStore(*store, update->value, /*drop_addends=*/true);
      copy.writes = MapList(epilogue_.writes, workspace_, [&](const auto* region) { return OfReduction(region); });
      copy.reads = MakeReads();
    });
  }

 private:
  // The axes of the epilogue from those of the reduction, each result of which must be taken once.
  Status MapAxes(const tir::BufferLoad& load, const tir::BufferStore& update) {
    for (const tir::IterVar* axis : reduction_.iter_vars) analyzer_.Bind(axis->var, axis->dom->min, axis->dom->extent);
    arith::IterRanges axes;
    for (const tir::IterVar* axis : epilogue_.iter_vars) axes.insert_or_assign(axis->var, *axis->dom);
    auto inverse = arith::InverseIterMap(
        load.indices, update.indices, axes,
        {.level = arith::IterMapLevel::kBijective, .simplify_trivial_iterators = false}, analyzer_);
    bool ok = inverse && !inverse->padding_predicate;
    if (ok) axes_ = std::move(inverse->values);
    const arith::PrimBuilder& make = analyzer_.make();
    for (const tir::IterVar* axis : epilogue_.iter_vars) {
      if (!ok) break;
      const PrimExpr*& value = axes_[axis->var];
      value = arith::IsInt(axis->dom->extent, 1) ? axis->dom->min : analyzer_.Simplify(value);
      const PrimExpr* end = make.Add(axis->dom->min, axis->dom->extent);
      ok = analyzer_.CanProve(make.Binary(NodeKind::kGE, value, axis->dom->min)) &&
           analyzer_.CanProve(make.Binary(NodeKind::kLT, value, end));
    }
    for (size_t i = 0; ok && i < load.indices.size(); ++i)
      ok = analyzer_.CanProveEqual(OfReduction(load.indices[i]), update.indices[i]);
    std::vector<const PrimExpr*> vars;
    for (const tir::IterVar* axis : epilogue_.iter_vars) vars.push_back(axis->var);
    if (ok && TakeAllValues(state_, state_.RefOf(&epilogue_), vars, nullptr)) return {};
    return state_.Refuse("the epilogue {0} may not take each result of the reduction {1} once",
                         {&epilogue_, &reduction_});
  }

  // What the epilogue stores for this result.
  const tir::Stmt* MakeStore(const tir::BufferStore& store, const PrimExpr* result, bool drop_addends) {
    auto* fused = workspace_.New<tir::BufferStore>(store);
    fused->indices = MapList(store.indices, workspace_, [&](const PrimExpr* index) { return OfReduction(index); });
    const auto* own = workspace_.New<tir::BufferLoad>(store.buffer->dtype, store.buffer, fused->indices);
    result = ResultReplacer(buffer_, own, /*drop_addends=*/false, workspace_).VisitExpr(result);
    const PrimExpr* value =
        ResultReplacer(buffer_, result, drop_addends, workspace_).VisitExpr(OfReduction(store.value));
    fused->value = drop_addends ? value : analyzer_.Simplify(value);
    return fused;
  }

  List<const tir::BufferRegion*> MakeReads() {
    std::vector<const tir::BufferRegion*> reads;
    for (const tir::BufferRegion* read : epilogue_.reads) {
      if (read->buffer != buffer_) reads.push_back(OfReduction(read));
    }
    for (const tir::BufferRegion* read : reduction_.reads) {
      const auto is_same = [&](const tir::BufferRegion* other) { return other->buffer == read->buffer; };
      if (read->buffer != buffer_ && std::ranges::none_of(reads, is_same)) reads.push_back(read);
    }
    return workspace_.Copy(reads);
  }

  template <class T>
  const T* OfReduction(const T* part) {
    return tir::Substitute(part, axes_, workspace_);
  }

  State& state_;
  Workspace& workspace_;
  arith::Analyzer analyzer_;
  const tir::Buffer* buffer_;
  const tir::Block& reduction_;
  const tir::Block& epilogue_;
  tir::VarValues axes_;  // of the epilogue, in those of the reduction
};

// The statement of the scope that the block is in.
const Ref* StatementOf(const Ref* block, const Ref* scope) {
  while (block->parent != scope) block = block->parent;
  return block;
}

// The reduction must find what the epilogue reads, and nothing else may need its result.
Status CheckPlaces(State& state, Ref* reduction, Ref* epilogue, Ref* scope, const tir::Buffer* buffer) {
  const BlockScope& info = state.ScopeInfo(scope);
  for (const Ref* reader : info.ReadersOf(buffer)) {
    if (reader != reduction && reader != epilogue)
      return state.Refuse("the block {0} reads the result of the reduction {1} as well",
                          {reader->stmt, reduction->stmt});
  }
  for (const tir::BufferRegion* read : epilogue->block().reads) {
    if (read->buffer == buffer) continue;
    for (const Ref* writer : info.WritersOf(read->buffer)) {
      const bool is_outside = writer->place < reduction->place || writer->place > epilogue->place;
      if (!is_outside || StatementOf(writer, scope) == StatementOf(reduction, scope))
        return state.Refuse("the block {0} writes what the epilogue {1} reads, but not before all of the reduction {2}",
                            {writer->stmt, epilogue->stmt, reduction->stmt});
    }
  }
  return {};
}

}  // namespace

Status ApplyFuseReductionEpilogue(PrimitiveCall& call, const args::FuseReductionEpilogue<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  Ref* reduction = args.reduction_block;
  Ref* epilogue = args.epilogue_block;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, epilogue, /*stage_pipeline=*/true));
  if (reduction->block().writes.size() != 1)
    return state.Refuse("the block {0} writes several regions: expected one", {reduction->stmt});
  IROPT_RETURN_IF_ERROR(CheckReductionBlock(state, reduction, scope));
  IROPT_RETURN_IF_ERROR(CheckCompleteBlock(state, epilogue, scope));
  IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state, epilogue));
  IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state, reduction, scope));
  const tir::Buffer* buffer = reduction->block().writes[0]->buffer;
  IROPT_RETURN_IF_ERROR(CheckPlaces(state, reduction, epilogue, scope, buffer));
  EpilogueFuser fuser(state, buffer, reduction->block(), epilogue->block());
  IROPT_ASSIGN_OR_RETURN(const tir::Block* fused, fuser.Fuse(state.RealizeOf(epilogue)->predicate));
  IROPT_ASSIGN_OR_RETURN(const RemovalPlan removal, PlanRemoval(state, epilogue));
  const tir::Block* old_scope = &scope->block();
  FusedScope rewriter(old_scope, removal, &reduction->block(), fused, workspace);
  const auto* new_scope = To<tir::Block>(rewriter.VisitStmt(old_scope));
  state.Replace(scope, new_scope, {{old_scope, new_scope}, {&reduction->block(), fused}});
  state.Recheck(scope);
  return {};
}

}  // namespace iropt::schedule
