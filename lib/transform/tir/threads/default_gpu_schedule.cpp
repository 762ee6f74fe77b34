// tir.DefaultGPUSchedule: binds the loops of functions without a schedule to the blocks and threads of a GPU.
//
//   for i, j in T.grid(64, 64):              for i_j_fused_0 in T.thread_binding(4, thread="blockIdx.x"):
//       with T.block("B"):            -->        for i_j_fused_1 in T.thread_binding(1024, thread="threadIdx.x"):
//           vi, vj = ...                             with T.block("B"):
//           B[vi, vj] = A[vi, vj]                        vi = T.axis.spatial(64, i_j_fused_0 * 16 + ...)
//                                                        ...
//
// The spatial loops of each innermost block are fused, or a loop that runs once if it has none, and split for the
// threads of a block: those of the target of the function or the context, or `max_num_threads` without one. If there
// are more than 256 blocks, a thread runs in a serial loop. Blocks with loops over threads stay, and so do functions
// for other targets, and those with the attribute tir.is_scheduled, which all PrimFuncs get. It is an error if the
// loops of a block do not correspond to its axes, or if its spatial loops cannot be fused. A function that is only a
// block gets such a loop since TVM 0.25. O(nodes), plus the iterator maps.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/DefaultGPUSchedule.h"

namespace iropt {

namespace {

constexpr int64_t kMaxBlocks = 256;

struct GpuKind {
  std::string_view name;
  int64_t max_num_threads;
  TextVersion since = TextVersion::kV0_18;
};
constexpr GpuKind kGpuKinds[] = {{"cuda", 1024},
                                 {"metal", 256},
                                 {"rocm", 256},
                                 {"webgpu", 256},
                                 {"opencl", 256, TextVersion::kV0_20},
                                 {"vulkan", 256, TextVersion::kV0_20}};

// The threads of a block for the function; 0 if it is not for a GPU.
int64_t MaxNumThreads(const PrimFunc& func, const TargetAttr* default_target, int64_t without_target,
                      TextVersion version) {
  const Attr* own = func.attrs->Find(attr::kTarget);
  const Attr* attr = own ? own : default_target;
  if (!attr) return without_target;
  const auto* target = As<TargetAttr>(attr);
  const DictAttr* config = target ? target->config : As<DictAttr>(attr);
  const auto* kind = config ? As<StrAttr>(config->Find("kind")) : nullptr;
  if (!kind) return 0;
  const auto* gpu = std::ranges::find(kGpuKinds, kind->value, &GpuKind::name);
  if (gpu == std::end(kGpuKinds) || version < gpu->since) return 0;
  const auto* given = As<IntAttr>(config->Find("max_num_threads"));
  return given && given->value > 0 ? given->value : gpu->max_num_threads;
}

// The loops to fuse, outermost first: none if a loop that runs once is to be added.
using Fusions = LookupMap<const tir::Stmt*, std::vector<const tir::For*>>;

// Finds the loops of the innermost blocks, by the statement that they replace.
class FusionPlanner : public tir::StmtExprVisitor {
 public:
  explicit FusionPlanner(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}
  Fusions fusions;

  void VisitExpr(const PrimExpr*) override {}

 protected:
  void VisitFor(const tir::For* loop) override {
    loops_.push_back(loop);
    StmtExprVisitor::VisitFor(loop);
    loops_.pop_back();
  }

  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    std::vector<const tir::For*> outer;
    std::swap(outer, loops_);
    const bool is_root = depth_++ == 0;
    const size_t blocks = num_blocks_++;
    StmtExprVisitor::VisitBlockRealize(realize);
    --depth_;
    std::swap(outer, loops_);
    if (!is_root && num_blocks_ == blocks + 1) Plan(*realize);
  }

 private:
  void Plan(const tir::BlockRealize& realize) {
    const auto is_bound = [&](const tir::For* loop) {
      return loop->for_kind == tir::ForKind::kThreadBinding || bound_.contains(loop);
    };
    if (std::ranges::any_of(loops_, is_bound)) return;
    const List<const tir::IterVar*> axes = realize.block->iter_vars;
    if (loops_.size() != axes.size() && !(loops_.empty() && axes.size() == 1)) {
      Error(*realize.block,
            fmt::format("the loops of the block '{}' do not correspond to its axes", realize.block->name_hint));
      return;
    }
    std::vector<const tir::For*> fused;
    for (size_t i = 0; i < loops_.size(); ++i) {
      if (axes[i]->iter_type == tir::IterVarType::kDataPar) fused.push_back(loops_[i]);
    }
    if (!CanFuse(fused)) return;
    if (fused.empty() && loops_.empty()) {
      fusions[&realize] = {};
    } else {
      const tir::For* root = fused.empty() ? loops_[0] : fused[0];
      bound_.insert(root);
      bound_.InsertAll(fused);
      fusions[root] = std::move(fused);
    }
  }

  bool CanFuse(const std::vector<const tir::For*>& loops) {
    std::unordered_set<const tir::Var*> vars;
    for (size_t i = 0; i < loops.size(); ++i) {
      const tir::For& loop = *loops[i];
      const bool depends = tir::UsesAnyOf(vars, loop.extent);
      vars.insert(loop.loop_var);
      if (i > 0 && loops[i - 1]->body != &loop)
        return Error(loop, fmt::format("the loop '{}' cannot be fused with '{}', which has more in it",
                                       loop.loop_var->name, loops[i - 1]->loop_var->name));
      if (depends || !arith::IsInt(loop.min, 0) || loop.step || loop.annotations->size() != 0)
        return Error(loop, fmt::format("the loop '{}' cannot be fused: it must begin with 0, have no annotations, and "
                                       "not depend on other loops",
                                       loop.loop_var->name));
    }
    return true;
  }

  bool Error(const Node& at, const std::string& message) {
    diagnostics_.Error(Location(at), "pass-failed", message);
    return false;
  }

  DiagnosticEngine& diagnostics_;
  std::vector<const tir::For*> loops_;  // inside the innermost block
  LookupSet<const tir::For*> bound_;
  int depth_ = 0;
  size_t num_blocks_ = 0;
};

// Simplifies the bindings of blocks by the loops around them, and adds a condition to the blocks.
class BindingSimplifier : public tir::StmtExprMutator {
 public:
  BindingSimplifier(arith::IterRanges& iters, const PrimExpr* condition, bool simplify, arith::Analyzer& analyzer,
                    Workspace& workspace)
      : StmtExprMutator(workspace), iters_(iters), condition_(condition), simplify_(simplify), analyzer_(analyzer) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    iters_.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    iters_.erase(loop->loop_var);
    return visited;
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    auto* copy = workspace().New<tir::BlockRealize>(*realize);
    if (condition_) copy->predicate = analyzer_.make().Binary(NodeKind::kAnd, copy->predicate, condition_);
    if (!simplify_) return copy;
    std::vector<const PrimExpr*> conditions;
    if (!arith::IsInt(copy->predicate, 1)) conditions.push_back(copy->predicate);
    std::vector<const PrimExpr*> values;
    for (const PrimExpr* value : realize->iter_values)
      values.push_back(arith::SimplifyIterMap(value, iters_, conditions, analyzer_));
    copy->iter_values = workspace().Copy(values);
    return copy;
  }

 private:
  arith::IterRanges& iters_;
  const PrimExpr* condition_;
  const bool simplify_;
  arith::Analyzer& analyzer_;
};

class ThreadBinder : public tir::StmtExprMutator {
 public:
  ThreadBinder(const Fusions& fusions, int64_t max_threads, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        fusions_(fusions),
        max_threads_(max_threads),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    if (const auto* fusion = fusions_.Find(loop)) return Bind(loop, *fusion);
    iters_.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    iters_.erase(loop->loop_var);
    return visited;
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    if (const auto* fusion = fusions_.Find(realize)) return Bind(realize, *fusion);
    arith::IterRanges outer;
    std::swap(outer, iters_);
    const tir::Stmt* visited = StmtExprMutator::VisitBlockRealize(realize);
    std::swap(outer, iters_);
    return visited;
  }

 private:
  const arith::PrimBuilder& make() const { return analyzer_.make(); }

  const tir::Stmt* Bind(const tir::Stmt* root, const std::vector<const tir::For*>& loops) {
    const tir::Stmt* body = loops.empty() ? root : loops.back()->body;
    std::string name = loops.empty() ? "u" : std::string(loops[0]->loop_var->name);
    DataType dtype = loops.empty() ? DataType::Int(32) : loops[0]->loop_var->dtype;
    for (size_t i = 1; i < loops.size(); ++i) {
      name += fmt::format("_{}", loops[i]->loop_var->name);
      if (loops[i]->loop_var->dtype.bits > dtype.bits) dtype = loops[i]->loop_var->dtype;
    }
    name += "_fused";
    const tir::Var* fused = workspace().NewPrimVar(name, dtype);
    const PrimExpr* extent = make().Const(1, dtype);
    tir::VarValues values;
    for (size_t i = loops.size(); i > 0; --i) {
      const tir::For& loop = *loops[i - 1];
      const PrimExpr* value = make().Const(0, dtype);
      const PrimExpr* end = make().Mul(extent, loop.extent);
      if (!arith::IsInt(loop.extent, 1)) value = make().FloorDiv(i == 1 ? fused : make().FloorMod(fused, end), extent);
      values.try_emplace(loop.loop_var, make().Cast(loop.loop_var->dtype, value));
      extent = end;
    }
    extent = make().Cast(dtype, analyzer_.Simplify(extent));
    iters_.insert_or_assign(fused, tir::Range(make().Const(0, dtype), extent));
    BindingSimplifier simplifier(iters_, nullptr, /*simplify=*/true, analyzer_, workspace());
    body = simplifier.VisitStmt(tir::Substitute(body, values, workspace()));
    iters_.erase(fused);
    return Split(fused, extent, name, body);
  }

  // The body with the fused loop split for blocks, threads, and, for many blocks, a serial loop.
  const tir::Stmt* Split(const tir::Var* fused, const PrimExpr* extent, std::string_view name, const tir::Stmt* body) {
    const int64_t* total = arith::AsInt(extent);
    const DataType dtype = fused->dtype;
    const bool needs_loop = !total || *total > max_threads_ * kMaxBlocks;
    std::vector<int64_t> factors;
    if (needs_loop) factors.push_back(kMaxBlocks);
    factors.push_back(needs_loop ? max_threads_ : std::min(*total, max_threads_));
    int64_t product = 1;
    for (const int64_t factor : factors) product *= std::max<int64_t>(factor, 1);
    std::vector<const PrimExpr*> extents = {analyzer_.Simplify(make().CeilDiv(extent, make().Const(product, dtype)))};
    for (const int64_t factor : factors) extents.push_back(make().Const(factor, dtype));
    std::vector<const tir::Var*> vars;
    const PrimExpr* value = make().Const(0, dtype);
    for (size_t i = 0; i < extents.size(); ++i) {
      const tir::Var* var = workspace().NewPrimVar(fmt::format("{}_{}", name, i), dtype);
      vars.push_back(var);
      value = make().Add(make().Mul(value, extents[i]), var);
      analyzer_.Bind(var, make().Const(0, dtype), extents[i]);
      iters_.insert_or_assign(var, tir::Range(make().Const(0, dtype), extents[i]));
    }
    const PrimExpr* in_range = make().Binary(NodeKind::kLT, value, extent);
    const PrimExpr* condition = analyzer_.CanProve(in_range) ? nullptr : in_range;
    // A loop over a single block stays in the bindings.
    const bool simplify = !arith::IsInt(extents[0], 1);
    BindingSimplifier simplifier(iters_, condition, simplify, analyzer_, workspace());
    body = simplifier.VisitStmt(tir::Substitute(body, {{fused, value}}, workspace()));
    for (const tir::Var* var : vars) iters_.erase(var);

    const size_t block = needs_loop ? 1 : 0;
    if (needs_loop) body = MakeLoop(vars[0], extents[0], tir::ForKind::kSerial, {}, body);
    body = MakeLoop(vars.back(), extents.back(), tir::ForKind::kThreadBinding, "threadIdx.x", body);
    return MakeLoop(vars[block], extents[block], tir::ForKind::kThreadBinding, "blockIdx.x", body);
  }

  const tir::Stmt* MakeLoop(const tir::Var* var, const PrimExpr* extent, tir::ForKind kind, std::string_view tag,
                            const tir::Stmt* body) {
    const tir::IterVar* thread = nullptr;
    if (!tag.empty()) {
      thread = workspace().New<tir::IterVar>(nullptr, workspace().NewPrimVar("", var->dtype),
                                             tir::IterVarType::kThreadIndex, tag);
    }
    return workspace().New<tir::For>(var, make().Const(0, var->dtype), extent, kind, body, thread, DictAttr::Empty());
  }

  const Fusions& fusions_;
  const int64_t max_threads_;
  arith::Analyzer analyzer_;
  arith::IterRanges iters_;  // the loops inside the innermost block
};

// A body that is only a block gets a loop around the block, in a root block.
const tir::Stmt* WrapBareBlock(const tir::BlockRealize* realize, Workspace& workspace) {
  const tir::Block* block = realize->block;
  if (!block->iter_vars.empty() || Is<tir::For>(block->body) || Is<tir::BlockRealize>(block->body)) return realize;
  const arith::PrimBuilder make(workspace);
  const DataType dtype = DataType::Int(32);
  const PrimExpr* zero = make.Int(0, dtype);
  const PrimExpr* one = make.Int(1, dtype);
  const tir::Var* loop_var = workspace.NewPrimVar("u", dtype);
  const tir::IterVar* axis = workspace.New<tir::IterVar>(workspace.New<tir::Range>(zero, one),
                                                         workspace.NewPrimVar("vu", dtype), tir::IterVarType::kDataPar);
  auto* inner = workspace.New<tir::Block>(*block);
  inner->iter_vars = workspace.Copy(std::vector<const tir::IterVar*>{axis});
  const tir::Stmt* body = workspace.New<tir::BlockRealize>(workspace.Copy(std::vector<const PrimExpr*>{loop_var}),
                                                           realize->predicate, inner);
  body = workspace.New<tir::For>(loop_var, zero, one, tir::ForKind::kSerial, body, nullptr, DictAttr::Empty());
  auto* root = workspace.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                                         List<const tir::BufferRegion*>(), "root", List<const tir::Buffer*>(),
                                         List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
  return workspace.New<tir::BlockRealize>(List<const PrimExpr*>(), make.Bool(true), root);
}

const PrimFunc* Schedule(const PrimFunc* func, int64_t max_threads, FunctionPassContext& context) {
  const auto* scheduled = As<IntAttr>(func->attrs->Find(attr::kIsScheduled));
  if (scheduled && scheduled->value != 0) return func;
  const tir::Stmt* body = func->body;
  const int64_t threads = MaxNumThreads(*func, context.context().target, max_threads, context.module().version());
  if (threads > 0 && Is<tir::BlockRealize>(body)) {
    if (context.module().version() >= TextVersion::kV0_25)
      body = WrapBareBlock(To<tir::BlockRealize>(body), context.workspace());
    FusionPlanner planner(context.diagnostics());
    planner.VisitStmt(body);
    body = ThreadBinder(planner.fusions, threads, context.workspace()).VisitStmt(body);
  }
  auto* copy = context.workspace().New<PrimFunc>(*func);
  copy->body = body;
  copy->attrs = func->attrs->With(attr::kIsScheduled, IntAttr::Bool(true));
  return copy;
}

}  // namespace

Pass CreateDefaultGPUSchedule(const PassOptions& options) {
  const pass_options::DefaultGPUSchedule given(options);
  const int64_t max_threads = *given.max_num_threads;
  if (max_threads < 1) options.Refuse(given.max_num_threads, "must be positive");
  return CreatePrimFuncPass(options.info(), [max_threads](const PrimFunc* func, FunctionPassContext& context) {
    return Result<const PrimFunc*>(Schedule(func, max_threads, context));
  });
}

}  // namespace iropt
