// tir.LowerCrossThreadReduction: turns reductions over the threads of a block of threads into T.tvm_thread_allreduce.
//
//   for k in T.thread_binding(128, thread="threadIdx.x"):      sum = T.alloc_buffer((1,), scope="local")
//       with T.block("B"):                                     for k in T.thread_binding(128, thread="threadIdx.x"):
//           vk = T.axis.reduce(128, k)                             with T.block("B_cross_thread"):
//           with T.init():                               -->           vk = T.axis.reduce(128, k)
//               B[()] = T.float32(0)                                   T.tvm_thread_allreduce(T.uint32(1), A[vk],
//           B[()] = B[()] + A[vk]                                                             T.bool(True), sum[0], k)
//                                                                  with T.block("B_write_back"):
//                                                                      T.where(k == 0)
//                                                                      B[()] = sum[0]
//
// If other loops of the reduction are not bound to threads, or if a condition leaves out threads, each thread first
// reduces its own part. A later block of the kernel that reads the result, and is not bound to the threads of the
// reduction, runs on the first of them only if it writes to memory that others see. It is an error if the loops of the
// reduction are not the innermost ones, are bound to something else than threads, or if the reducer is unknown. A block
// with reduction axes over threads that is not known to be a reduction stays, with a warning: its threads update the
// same elements. Functions of the older scheduler stay, too. O(nodes), plus the iterator maps of the reduction blocks.
//
// Source: TVM 0.18's pass of this name. A condition without a reduction loop guards the result also if it is the only
// one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/commutative_reducer.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/LowerCrossThreadReduction.h"
#include "transform/tir/threads/cross_thread_reduction.h"
#include "transform/tir/threads/reduction_block.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

bool IsThreadLoop(const tir::For& loop) { return loop.for_kind == tir::ForKind::kThreadBinding; }
ThreadTag TagOf(const tir::For& loop) { return ThreadTag::Of(loop.thread_binding->thread_tag); }

bool IsThreadIdx(const tir::For& loop) {
  if (!IsThreadLoop(loop)) return false;
  const ThreadTag tag = TagOf(loop);
  return tag.rank == ThreadRank::kThread && tag.dim >= 0;
}
bool IsLocal(const tir::BufferRegion* region) { return region->buffer->scope() == "local"; }
// Each thread has its own.
bool WritesOnlyLocalMemory(const tir::Block& block) { return std::ranges::all_of(block.writes, IsLocal); }

bool IsBlockIdx(const tir::For& loop) { return IsThreadLoop(loop) && TagOf(loop).rank == ThreadRank::kBlock; }

class CrossThreadReductionLowerer : public tir::StmtExprMutator {
 public:
  CrossThreadReductionLowerer(bool integer_scope, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        integer_scope_(integer_scope),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }  // there are no blocks in expressions

  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    path_.push_back(stmt);
    const tir::Stmt* result = StmtExprMutator::VisitStmt(stmt);
    path_.pop_back();
    return result;
  }

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    loops_.push_back(loop);
    scope_loops_.insert_or_assign(loop->loop_var, tir::Range(loop->min, loop->extent));
    const bool is_thread = IsThreadIdx(*loop);
    const bool is_block = IsBlockIdx(*loop);
    thread_depth_ += is_thread;
    block_depth_ += is_block;
    const tir::Stmt* result = StmtExprMutator::VisitFor(loop);
    thread_depth_ -= is_thread;
    block_depth_ -= is_block;
    scope_loops_.erase(loop->loop_var);
    loops_.pop_back();
    if (is_block || (is_thread && thread_depth_ == 0 && block_depth_ == 0)) reduced_by_.clear();
    return lowered_.Lookup(loop, result);
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    arith::IterRanges outer_loops;
    std::swap(outer_loops, scope_loops_);
    scopes_.push_back({block, {}, {}});
    const tir::Stmt* visited = StmtExprMutator::VisitBlock(block);
    const std::vector<const tir::Buffer*> scratchpads = std::move(scopes_.back().scratchpads);
    scopes_.pop_back();
    std::swap(outer_loops, scope_loops_);
    if (scratchpads.empty()) return visited;
    tir::Block copy = *To<tir::Block>(visited);
    std::vector<const tir::Buffer*> allocs(copy.alloc_buffers.begin(), copy.alloc_buffers.end());
    allocs.insert(allocs.end(), scratchpads.begin(), scratchpads.end());
    copy.alloc_buffers = workspace().Copy(allocs);
    return workspace().New<tir::Block>(copy);
  }

  const tir::Stmt* VisitBlockRealize(const tir::BlockRealize* realize) override {
    const std::vector<const tir::For*> loops = ThreadReductionLoops(*realize);
    if (!loops.empty()) {
      has_reduction_ = true;
      Lower(*realize, loops);
      return realize;  // it is replaced together with the outermost of the loops
    }
    if (has_reduction_) {
      const std::vector<const tir::For*> threads = FreeThreads(*realize->block);
      if (!threads.empty()) return RunOnFirst(*realize, threads);
    }
    return StmtExprMutator::VisitBlockRealize(realize);
  }

 private:
  struct Scope {
    const tir::Block* block;
    std::optional<WriterCounts> writers;
    std::vector<const tir::Buffer*> scratchpads;
  };

  const arith::PrimBuilder& make() const { return analyzer_.make(); }
  bool Error(const Node& at, const std::string& message) {
    diagnostics_.Error(Location(at), "pass-failed", message);
    return false;
  }

  // The loops that the reduction axes of a reduction block depend on if one of them is bound to threads.
  std::vector<const tir::For*> ThreadReductionLoops(const tir::BlockRealize& realize) {
    if (scopes_.empty() || (!realize.block->init && WritesOnlyLocalMemory(*realize.block))) return {};
    LookupSet<const tir::Var*> vars;
    for (size_t i = 0; i < realize.iter_values.size(); ++i) {
      if (realize.block->iter_vars[i]->iter_type != tir::IterVarType::kCommReduce) continue;
      tir::ForEachVar(realize.iter_values[i], [&](const tir::Var* var) { vars.insert(var); });
    }
    std::vector<const tir::For*> found;
    std::ranges::copy_if(loops_, std::back_inserter(found),
                         [&](const tir::For* loop) { return vars.contains(loop->loop_var); });
    if (std::ranges::none_of(found, [](const tir::For* loop) { return IsThreadLoop(*loop); })) return {};
    Scope& scope = scopes_.back();
    if (!scope.writers) scope.writers = CountWriters(*scope.block);
    const tir::Buffer* unknown = nullptr;
    const std::string_view problem = WhyNotReduction(realize, scope_loops_, *scope.writers, analyzer_, unknown);
    if (!problem.empty()) {
      diagnostics_.Warning(Location(*realize.block), "not-lowered",
                           fmt::format("the reduction over threads in the block '{}' is not lowered: {}",
                                       realize.block->name_hint, problem));
      return {};
    }
    if (unknown) {
      Error(*realize.block, fmt::format("the block '{}' writes to '{}', which is not among the regions that it writes",
                                        realize.block->name_hint, unknown->name));
      return {};
    }
    return found;
  }

  void Lower(const tir::BlockRealize& realize, const std::vector<const tir::For*>& loops) {
    if (!CheckReducesOnly(realize, loops) || !CheckLoops(*realize.block, loops)) return;
    std::string problem;
    const auto reduction = FindBlockReduction(*realize.block, analyzer_, workspace(), problem);
    if (!reduction) {
      Error(*realize.block,
            fmt::format("the reduction over threads in the block '{}' {}", realize.block->name_hint, problem));
      return;
    }
    const auto is_local = [](const tir::Buffer* buffer) { return buffer->scope() == "local"; };
    if (std::ranges::any_of(reduction->buffers, is_local) != std::ranges::all_of(reduction->buffers, is_local)) {
      Error(*realize.block, fmt::format("the reduction over threads in the block '{}' writes to local and other memory",
                                        realize.block->name_hint));
      return;
    }
    const auto first = std::ranges::find(path_, static_cast<const tir::Stmt*>(loops[0]));
    CrossThreadReduction parts(realize, *reduction, loops, make(), workspace());
    parts.set_integer_scope(integer_scope_ || workspace().version() >= TextVersion::kV0_26);
    lowered_[loops[0]] = parts.Make(std::vector<const tir::Stmt*>(first, path_.end()));
    std::vector<const tir::Buffer*>& scratchpads = scopes_.back().scratchpads;
    scratchpads.insert(scratchpads.end(), parts.scratchpads().begin(), parts.scratchpads().end());
    for (const tir::Buffer* buffer : reduction->buffers) {
      std::vector<const tir::For*>& threads = reduced_by_[buffer];
      threads.clear();
      std::ranges::copy_if(loops, std::back_inserter(threads),
                           [](const tir::For* loop) { return IsThreadLoop(*loop); });
    }
  }

  // All iterations of the loops reduce to one value: no data parallel axis may depend on them.
  bool CheckReducesOnly(const tir::BlockRealize& realize, const std::vector<const tir::For*>& loops) {
    for (size_t i = 0; i < realize.iter_values.size(); ++i) {
      const tir::IterVar& axis = *realize.block->iter_vars[i];
      if (axis.iter_type == tir::IterVarType::kCommReduce || arith::IsInt(axis.dom->extent, 1)) continue;
      for (const tir::For* loop : loops) {
        if (arith::IsInt(loop->extent, 1) || !tir::UsesVar(realize.iter_values[i], loop->loop_var)) continue;
        return Error(*realize.block, fmt::format("the reduction over threads in the block '{}' also uses the loop "
                                                 "'{}' for '{}', which is not a reduction axis",
                                                 realize.block->name_hint, loop->loop_var->name, axis.var->name));
      }
    }
    return true;
  }

  // The loops must be the innermost ones around the block, which is the last one in them.
  bool CheckLoops(const tir::Block& block, const std::vector<const tir::For*>& loops) {
    size_t innermost = 0;
    for (auto stmt = path_.rbegin() + 1; stmt != path_.rend(); ++stmt) {
      if (Is<tir::SeqStmt>(*stmt)) continue;
      if (std::ranges::find(loops, As<tir::For>(*stmt)) == loops.end()) break;
      ++innermost;
    }
    if (innermost != loops.size()) {
      return Error(block, fmt::format("the loops of the reduction over threads in the block '{}' are not the innermost "
                                      "ones around it",
                                      block.name_hint));
    }
    for (const tir::For* loop : loops) {
      if (IsThreadLoop(*loop) && !IsThreadIdx(*loop)) {
        return Error(*loop, fmt::format("the loop '{}' of a reduction is bound to '{}' instead of threadIdx",
                                        loop->loop_var->name, loop->thread_binding->thread_tag));
      }
      // The first thread writes the result.
      if (IsThreadLoop(*loop) && !arith::IsInt(loop->min, 0))
        return Error(*loop, fmt::format("the loop '{}' of a reduction over threads does not begin with 0",
                                        loop->loop_var->name));
    }
    return IsLastUnder(block, *loops[0]) ||
           Error(block, fmt::format("the reduction over threads in the block '{}' must be the last one in its loops",
                                    block.name_hint));
  }

  // Only sequences and loops of the reduction are between the two.
  bool IsLastUnder(const tir::Block& block, const tir::For& loop) {
    bool found = false;
    bool is_last = true;
    struct Visitor : tir::StmtExprVisitor {
      FunctionRef<void(const tir::Block*)> visit;
      explicit Visitor(FunctionRef<void(const tir::Block*)> v) : visit(v) {}
      void VisitExpr(const PrimExpr*) override {}
      void VisitBlockRealize(const tir::BlockRealize* realize) override { visit(realize->block); }
    };
    const auto visit = [&](const tir::Block* other) {
      is_last &= !found;
      found |= other == &block;
    };
    Visitor visitor(visit);
    visitor.VisitStmt(&loop);
    return is_last;
  }

  // The threads of the reductions whose results the block reads that no loop around the block is bound to; none if it
  // writes to local memory.
  std::vector<const tir::For*> FreeThreads(const tir::Block& block) const {
    if (std::ranges::any_of(block.writes, IsLocal)) return {};
    const auto tag_of = [](const tir::For* loop) { return loop->thread_binding->thread_tag; };
    std::vector<const tir::For*> threads;
    for (const tir::BufferRegion* read : block.reads) {
      const auto* reduced = reduced_by_.Find(read->buffer);
      if (!reduced) continue;
      for (const tir::For* thread : *reduced) {
        const auto known = std::ranges::find(threads, tag_of(thread), tag_of);
        if (known == threads.end()) {
          threads.push_back(thread);
        } else {
          *known = thread;
        }
      }
    }
    for (const tir::For* loop : loops_) {
      if (IsThreadLoop(*loop)) std::erase_if(threads, [&](const tir::For* t) { return tag_of(t) == tag_of(loop); });
    }
    return threads;
  }

  const tir::Stmt* RunOnFirst(const tir::BlockRealize& realize, const std::vector<const tir::For*>& threads) {
    auto* guarded = workspace().New<tir::BlockRealize>(realize);
    const tir::Stmt* body = guarded;
    for (auto it = threads.rbegin(); it != threads.rend(); ++it) {
      const tir::For* thread = *it;
      const std::string_view tag = thread->thread_binding->thread_tag;
      const DataType dtype = thread->min->dtype;
      const tir::Var* var = workspace().NewPrimVar(fmt::format("t{}", tag.back()), dtype);
      guarded->predicate =
          make().Binary(NodeKind::kAnd, make().Binary(NodeKind::kEQ, var, thread->min), guarded->predicate);
      const auto* axis = workspace().New<tir::IterVar>(nullptr, workspace().NewPrimVar("", dtype),
                                                       tir::IterVarType::kThreadIndex, tag);
      body = workspace().New<tir::For>(var, thread->min, thread->extent, tir::ForKind::kThreadBinding, body, axis,
                                       DictAttr::Empty());
    }
    return body;
  }

  const bool integer_scope_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  std::vector<const tir::Stmt*> path_;  // the statements around the current one, itself included
  std::vector<const tir::For*> loops_;  // those among them
  arith::IterRanges scope_loops_;       // those inside the innermost block
  std::vector<Scope> scopes_;           // the blocks around the current statement
  bool has_reduction_ = false;
  int thread_depth_ = 0;
  int block_depth_ = 0;
  LookupMap<const tir::For*, const tir::Stmt*> lowered_;
  LookupMap<const tir::Buffer*, std::vector<const tir::For*>> reduced_by_;  // in this kernel
};

bool NeedsLowerCrossThreadReduction(const tir::Stmt* stmt) {
  const auto* loop = As<tir::For>(stmt);
  return (loop && loop->for_kind == tir::ForKind::kThreadBinding) || HasNoOps(stmt);
}

}  // namespace

Pass CreateLowerCrossThreadReduction(const PassOptions& options) {
  return CreateMutatorPass<CrossThreadReductionLowerer>(
      options.info(), {.legacy_schedule = LegacySchedule::kSkip, .needs = &NeedsLowerCrossThreadReduction},
      *pass_options::LowerCrossThreadReduction(options).integer_scope);
}

}  // namespace iropt
