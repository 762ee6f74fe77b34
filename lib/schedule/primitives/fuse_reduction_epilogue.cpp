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

#include "removal_plan.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

constexpr std::string_view kEpilogueForm =
    "the body of the epilogue block {0} should be a store of the result of the reduction, to which values may be added "
    "if the reduction is a sum, and without a predicate";

int CountLoads(const PrimExpr* expr, const tir::Buffer* buffer) {
  int count = 0;
  tir::PostOrderVisit(expr, [&](const Node* node) {
    const auto* load = As<tir::BufferLoad>(node);
    count += load && load->buffer == buffer ? 1 : 0;
  });
  return count;
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
      : state_(state), workspace_(state.workspace()), buffer_(buffer), reduction_(reduction), epilogue_(epilogue) {}

  Result<const tir::Block*> Fuse(const PrimExpr* predicate) {
    const auto* store = As<tir::BufferStore>(epilogue_.body);
    const auto* update = As<tir::BufferStore>(reduction_.body);
    const auto* first = As<tir::BufferStore>(reduction_.init);
    if (!IsTrue(predicate) || !store || !update || !first)
      return state_.Refuse(std::string(kEpilogueForm), {&epilogue_});
    const bool is_sum = Is<tir::Add>(update->value) && IsLoadOf(buffer_, update->value, /*in_sum=*/true);
    if (CountLoads(store->value, buffer_) != 1 || !IsLoadOf(buffer_, store->value, is_sum))
      return state_.Refuse(std::string(kEpilogueForm), {&epilogue_});
    IROPT_RETURN_IF_ERROR(MapAxes());
    return CopyBlock(reduction_, workspace_, [&](tir::Block& copy) {
      copy.init = MakeInit(*store, first->value);
      copy.body = MakeUpdate(*store, *update);
      copy.writes = MakeWrites(store->buffer);
      copy.reads = MakeReads();
    });
  }

 private:
  // The axes of the epilogue are the data parallel ones of the reduction, in their order.
  Status MapAxes() {
    std::vector<const tir::Var*> own, others;
    for (const tir::IterVar* axis : reduction_.iter_vars) {
      if (axis->iter_type == tir::IterVarType::kDataPar) own.push_back(axis->var);
    }
    for (const tir::IterVar* axis : epilogue_.iter_vars) {
      if (axis->iter_type == tir::IterVarType::kDataPar) others.push_back(axis->var);
    }
    if (own.size() != others.size())
      return state_.Refuse("the reduction {0} and the epilogue {1} have different numbers of data parallel axes",
                           {&reduction_, &epilogue_});
    for (size_t i = 0; i < own.size(); ++i) axes_[others[i]] = own[i];
    return {};
  }

  const tir::Stmt* MakeInit(const tir::BufferStore& store, const PrimExpr* first) {
    arith::Analyzer analyzer(state_.make(), arith::Analyzer::SymVars::kAny);
    const PrimExpr* value = ResultReplacer(buffer_, first, /*drop_addends=*/false, workspace_).VisitExpr(store.value);
    auto* init = workspace_.New<tir::BufferStore>(store);
    init->value = analyzer.Simplify(tir::Substitute(value, axes_, workspace_));
    std::vector<const PrimExpr*> indices;
    for (const PrimExpr* index : store.indices) indices.push_back(tir::Substitute(index, axes_, workspace_));
    init->indices = workspace_.Copy(indices);
    return init;
  }

  const tir::Stmt* MakeUpdate(const tir::BufferStore& store, const tir::BufferStore& update) {
    const auto* renamed = To<tir::BufferStore>(ReplaceBuffers(&update, {{buffer_, store.buffer}}, workspace_));
    const PrimExpr* epilogue = tir::Substitute(store.value, axes_, workspace_);
    auto* fused = workspace_.New<tir::BufferStore>(*renamed);
    fused->value = ResultReplacer(buffer_, renamed->value, /*drop_addends=*/true, workspace_).VisitExpr(epilogue);
    return fused;
  }

  List<const tir::BufferRegion*> MakeWrites(const tir::Buffer* output) {
    return ReplaceBuffers(reduction_.writes, {{buffer_, output}}, workspace_);
  }
  List<const tir::BufferRegion*> MakeReads() {
    std::vector<const tir::BufferRegion*> reads;
    for (const tir::BufferRegion* read : epilogue_.reads) {
      if (read->buffer != buffer_) reads.push_back(tir::Substitute(read, axes_, workspace_));
    }
    for (const tir::BufferRegion* read : reduction_.reads) {
      const auto is_same = [&](const tir::BufferRegion* other) { return other->buffer == read->buffer; };
      if (read->buffer != buffer_ && std::ranges::none_of(reads, is_same)) reads.push_back(read);
    }
    return workspace_.Copy(reads);
  }

  State& state_;
  Workspace& workspace_;
  const tir::Buffer* buffer_;
  const tir::Block& reduction_;
  const tir::Block& epilogue_;
  tir::VarValues axes_;
};

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
  IROPT_RETURN_IF_ERROR(CheckNotOutputBlock(state, reduction, scope));
  const tir::Buffer* buffer = reduction->block().writes[0]->buffer;
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
