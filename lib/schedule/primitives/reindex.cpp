// Copying a buffer to one that is indexed by the axes of a block.
//
//   C[i, j] = A[j, i]        reindex A        for i, j: A_reindex[i, j] = A[j, i]
//                               -->           for i, j: C[i, j] = A_reindex[i, j]
//
// Source: TVM's ReIndex (src/tir/schedule/primitive/cache_read_write.cc).
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "axis_condition.h"
#include "cache.h"
#include "iropt/ir/structural.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"

namespace iropt::schedule {

namespace {

// The indices of the accesses to a buffer in a block without blocks in it.
class AccessFinder : public tir::StmtExprVisitor {
 public:
  explicit AccessFinder(const tir::Buffer* buffer) : buffer_(buffer) {}
  std::optional<List<const PrimExpr*>> indices;
  bool has_block = false;
  bool is_unique = true;
  bool is_opaque = false;

 protected:
  void VisitBlock(const tir::Block*) override { has_block = true; }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    StmtExprVisitor::VisitBufferLoad(load);
    if (load->buffer == buffer_) Note(load->indices);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    StmtExprVisitor::VisitBufferStore(store);
    if (store->buffer == buffer_) Note(store->indices);
  }
  void VisitVar(const tir::Var* var) override { is_opaque = is_opaque || var == buffer_->data; }

 private:
  void Note(List<const PrimExpr*> found) {
    is_unique = is_unique && (!indices || DeepEqual(*indices, found));
    if (!indices) indices = found;
  }

  const tir::Buffer* buffer_;
};

Result<std::vector<const PrimExpr*>> IndicesOf(State& state, const tir::Buffer* buffer, const tir::Block& block) {
  AccessFinder finder(buffer);
  finder.VisitStmt(block.body);
  if (finder.has_block) return state.Refuse("the block {0} has other blocks in it: expected none", {&block});
  for (const auto* loop = As<tir::For>(block.body); loop && finder.indices; loop = As<tir::For>(loop->body)) {
    if (std::ranges::any_of(*finder.indices, [&](const auto* i) { return tir::UsesVar(i, loop->loop_var); }))
      return state.Refuse(fmt::format("the indices of {} depend on loops in the block {{0}}", buffer->name), {&block});
  }
  const std::string_view problem = finder.is_opaque                  ? "it is accessed as a whole"
                                   : !finder.indices                 ? "it is not accessed"
                                   : !finder.is_unique               ? "there are several indices"
                                   : IsVectorAccess(*finder.indices) ? "vectors of elements are accessed"
                                                                     : "";
  if (problem.empty()) return std::vector<const PrimExpr*>(finder.indices->begin(), finder.indices->end());
  return state.Refuse(fmt::format("the block {{0}} does not access {} by loads and stores of the same indices: {}",
                                  buffer->name, problem),
                      {&block});
}

// The block accesses the copy by its axes.
class ReindexRewriter : public AccessRewriter {
 public:
  ReindexRewriter(const CopyStage& stage, const tir::Buffer* from, const tir::Buffer* to, const tir::Block* scope,
                  const PathSet& paths, const tir::Block* block, Workspace& workspace)
      : AccessRewriter(stage, from, to, scope, paths, workspace), from_(from), block_(block) {}

 protected:
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    if (block != scope() && block != block_) return block;
    const auto* visited = To<tir::Block>(AccessRewriter::VisitBlock(block));
    return Finish(block, visited, block == block_);
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const auto* visited = To<tir::BufferLoad>(AccessRewriter::VisitBufferLoad(load));
    return visited->buffer == from_ ? MapLoad(visited) : visited;
  }
  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const auto* visited = To<tir::BufferStore>(AccessRewriter::VisitBufferStore(store));
    return visited->buffer == from_ ? MapStore(visited) : visited;
  }

 private:
  const tir::Buffer* from_;
  const tir::Block* block_;
};

// Returns whether the indices load what the block writes.
bool ComputesIndices(const tir::Block& block, const std::vector<const PrimExpr*>& indices) {
  bool found = false;
  for (const PrimExpr* index : indices) {
    tir::PostOrderVisit(index, [&](const Node* node) {
      const auto* load = As<tir::BufferLoad>(node);
      found = found || (load && UsesBuffer(block.writes, load->buffer));
    });
  }
  return found;
}

// The statement of the scope that the block is in; its position among the statements of the scope.
Result<int> PositionInScope(State& state, const Ref* ref, const Ref* scope, const tir::Buffer* buffer,
                            const std::vector<const PrimExpr*>& indices) {
  const Ref* top = ref;
  for (; top->parent != scope; top = top->parent) {
    if (top != ref && top->parent->loop().body != top->stmt)
      return state.Refuse("the block {0} must be the only one in the loops around it", {ref->stmt});
  }
  for (const tir::Block* other : BlocksOf(top->stmt)) {
    if (other != ref->stmt && (UsesBuffer(other->reads, buffer) || UsesBuffer(other->writes, buffer)))
      return state.Refuse("the block {0} in the loops around the block {1} accesses the same buffer",
                          {other, ref->stmt});
    if (ComputesIndices(*other, indices))
      return state.Refuse(
          fmt::format("the block {{0}} in the loops around the block {{1}} computes where {} is accessed",
                      buffer->name),
          {other, ref->stmt});
  }
  const std::vector<const tir::Stmt*> statements = StatementsOf(BelowDeclarations(scope->block().body));
  for (size_t i = 0; i < statements.size(); ++i) {
    const auto* realize = As<tir::BlockRealize>(statements[i]);
    if (statements[i] == top->stmt || (realize && realize->block == top->stmt)) return static_cast<int>(i);
  }
  return 0;
}

// Returns the condition of the block on these axes and what is around its scope: elements for which it does not hold
// have no values to copy.
Result<const PrimExpr*> ConditionOfCopy(State& state, const Ref* ref, const std::vector<const PrimExpr*>& axes) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<const PrimExpr*> parts, ConditionOfAxes(state, ref, nullptr));
  const PrimExpr* condition = state.make().Bool(true);
  for (const PrimExpr* part : parts) {
    bool uses_known = false;
    bool uses_other = false;
    for (const tir::IterVar* axis : ref->block().iter_vars) {
      const bool is_known = std::ranges::find(axes, axis->var) != axes.end();
      if (tir::UsesVar(part, axis->var)) (is_known ? uses_known : uses_other) = true;
    }
    if (uses_known && uses_other)
      return state.Refuse("the condition of the block {0} is on axes that the indices do not use", {ref->stmt});
    if (!uses_other) condition = IsTrue(condition) ? part : state.make().Binary(NodeKind::kAnd, condition, part);
  }
  return condition;
}

}  // namespace

Status ApplyReIndex(PrimitiveCall& call, const args::ReIndex<Resolved>& args) {
  State& state = call.state();
  Workspace& workspace = state.workspace();
  const arith::PrimBuilder make = state.make();
  Ref* ref = args.block;
  const tir::Block& block = ref->block();
  const bool is_write = args.buffer_index_type == Side::kWrite;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* access, RequireAccess(state, ref, args.buffer_index, is_write));
  const tir::Buffer* buffer = access->buffer;
  IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state, ref, /*stage_pipeline=*/true));
  IROPT_RETURN_IF_ERROR(CheckUsesOnlyAxes(state, ref));
  if (!block.init && UsesBuffer(block.reads, buffer) && UsesBuffer(block.writes, buffer))
    return state.Refuse(fmt::format("the block {{0}} updates {}, which another block initializes", buffer->name),
                        {&block});
  IROPT_ASSIGN_OR_RETURN(std::vector<const PrimExpr*> old_indices, IndicesOf(state, buffer, block));
  arith::Analyzer analyzer(make, arith::Analyzer::SymVars::kAny);
  for (const tir::IterVar* axis : block.iter_vars) analyzer.Bind(axis->var, axis->dom->min, axis->dom->extent);
  for (const PrimExpr*& index : old_indices) index = SimplifyUnlessConstant(index, analyzer);
  // The axes that the indices use, as those of the copying block.
  std::vector<const PrimExpr*> used, shape, values, copy_indices;
  std::vector<const tir::IterVar*> axes;
  std::vector<const tir::Var*> loops;
  tir::VarValues renamed;
  for (const tir::IterVar* axis : block.iter_vars) {
    const tir::Var* var = workspace.NewPrimVar(fmt::format("v{}", axes.size()), axis->var->dtype);
    renamed[axis->var] = var;
    const auto uses = [&](const PrimExpr* index) { return tir::UsesVar(index, axis->var); };
    if (std::ranges::none_of(old_indices, uses)) continue;
    used.push_back(axis->var);
    shape.push_back(make.Add(axis->dom->min, axis->dom->extent));
    loops.push_back(workspace.NewPrimVar(fmt::format("ax{}", axes.size()), axis->var->dtype));
    values.push_back(loops.back());
    copy_indices.push_back(var);
    axes.push_back(workspace.New<tir::IterVar>(axis->dom, var, tir::IterVarType::kDataPar));
  }
  shape = SizesOf(state, scope, shape);
  IROPT_ASSIGN_OR_RETURN(const PrimExpr* condition, ConditionOfCopy(state, ref, used));
  IROPT_RETURN_IF_ERROR(CheckInsideForAxes(state, *buffer, old_indices, block, condition));
  if (is_write) IROPT_RETURN_IF_ERROR(CheckStoresAlways(state, *buffer, block));
  if (!TakeAllValues(state, ref, used, condition))
    return state.Refuse(
        "the loops around the block {0} may not give its axes all values, for which elements are copied", {&block});
  for (const PrimExpr*& index : old_indices) index = tir::Substitute(index, renamed, workspace);
  CopyStage stage;
  stage.alloc = CopyBuffer(*buffer, {.name = fmt::format("{}_reindex", buffer->name), .shape = &shape}, workspace);
  stage.read_buffer = is_write ? stage.alloc : buffer;
  stage.write_buffer = is_write ? buffer : stage.alloc;
  stage.indices = &used;
  stage.location = scope;
  IROPT_ASSIGN_OR_RETURN(stage.position, PositionInScope(state, ref, scope, buffer, old_indices));
  if (is_write) stage.position += 1;
  stage.block = MakeCopyBlock(stage, axes, is_write ? copy_indices : old_indices, is_write ? old_indices : copy_indices,
                              fmt::format("{}_reindex", stage.write_buffer->name), workspace);
  tir::VarValues bindings;
  for (size_t i = 0; i < used.size(); ++i) bindings[To<tir::Var>(used[i])] = values[i];
  stage.stmt = MakeRealize(values, tir::Substitute(condition, bindings, workspace), stage.block, workspace);
  for (size_t i = loops.size(); i > 0; --i) {
    auto* loop = workspace.New<tir::For>(*MakeLoop(loops[i - 1], axes[i - 1]->dom->extent, stage.stmt, workspace));
    loop->min = axes[i - 1]->dom->min;
    stage.stmt = loop;
  }
  PathSet paths;
  paths.Add(ref, scope);
  ReindexRewriter rewriter(stage, buffer, stage.alloc, &scope->block(), paths, &block, workspace);
  const tir::Stmt* new_scope = rewriter.VisitStmt(scope->stmt);
  state.Replace(scope, new_scope, rewriter.reuse);
  call.Return(state.RefOf(stage.block));
  return {};
}

}  // namespace iropt::schedule
