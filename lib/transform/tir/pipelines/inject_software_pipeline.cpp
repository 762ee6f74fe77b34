// tir.InjectSoftwarePipeline: lets the statements of a loop work on different iterations at the same time.
//
//   # software_pipeline_stage: [0, 1], software_pipeline_order: [0, 1]
//   for i in range(16):                           with T.block(""):
//       with T.block(""):                             B = T.alloc_buffer((2, 4))
//           B = T.alloc_buffer((4,))                  B[0 % 2, 0] = A[0]
//           with T.block(""):                -->      for i in range(15):
//               B[0] = A[i]                               B[(i + 1) % 2, 0] = A[i + 1]
//           with T.block(""):                             C[i] = B[i % 2, 0]
//               C[i] = B[0]                           C[15] = B[15 % 2, 0]
//
// A statement of stage s lags s iterations behind; in an iteration the statements run in the given order. Buffers that
// are written in one stage and read in a later one get several versions, one for each iteration that is under way. The
// writes of stages in software_pipeline_async_stages are asynchronous: they are committed, and waited for. Blocks must
// be opaque, and matched buffers lowered.
//
// A loop that may have fewer iterations than stages gets other bounds than in TVM, where some of its iterations run
// twice. The condition of a block that is the body of the loop holds for each of its statements; TVM loses it.
//
// O(nodes), for each level of nested pipelines, apart from the detection of accesses. Every level makes up to three
// copies: more than 4 million nodes are refused.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/side_effect.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/pipelines/buffer_versions.h"
#include "transform/tir/pipelines/pipeline_rewriter.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

constexpr int64_t kMaxPipelineNodes = int64_t{1} << 22;

std::optional<std::vector<int64_t>> ToInts(const Attr* attr) {
  const auto* list = As<ListAttr>(attr);
  if (!list) return std::nullopt;
  std::vector<int64_t> ints;
  for (const Attr* value : list->values) {
    const auto* integer = As<IntAttr>(value);
    if (!integer) return std::nullopt;
    ints.push_back(integer->value);
  }
  return ints;
}

// Returns whether the value stays as it is while the block runs: it reads no memory that the block may write to. The
// memory of `known` is that of parameters and allocations, each of its own.
bool IsSteady(const PrimExpr* condition, const tir::Block& block, const BuffersByPointer& known) {
  if (arith::SideEffect(condition) > CallEffect::kReadState) return false;
  LookupSet<const tir::Var*> written;  // pointers, also those that are passed on
  LookupSet<const tir::Var*> inner;    // pointers that the block defines
  bool has_views = false;
  tir::PostOrderVisit(&block, [&](const Node* node) {
    if (const auto* store = As<tir::BufferStore>(node)) written.insert(store->buffer->data);
    if (const auto* var = As<tir::Var>(node); var && var->dtype.is_handle()) written.insert(var);
    if (const auto* call = As<tir::Call>(node); call && IsOp(call->op, op::kTirAddressOf)) {
      if (const auto* load = As<tir::BufferLoad>(call->args[0])) written.insert(load->buffer->data);
    }
    if (const auto* let = As<tir::LetStmt>(node)) inner.insert(let->var);
    if (const auto* allocate = As<tir::Allocate>(node)) inner.insert(allocate->buffer_var);
    if (const auto* nested = As<tir::Block>(node)) {
      has_views |= !nested->match_buffers.empty();
      for (const tir::Buffer* buffer : nested->alloc_buffers) inner.insert(buffer->data);
    }
  });
  written.ForEachInAnyOrder(
      [&](const tir::Var* pointer) { has_views |= !known.contains(pointer) && !inner.contains(pointer); });
  bool is_steady = true;
  tir::PostOrderVisit(condition, [&](const Node* node) {
    const auto* load = As<tir::BufferLoad>(node);
    const auto* pointer = As<tir::Var>(node);
    if (load) {
      const tir::Var* data = load->buffer->data;
      is_steady = is_steady && !has_views && known.contains(data) && !written.contains(data);
    }
    if (pointer && pointer->dtype.is_handle()) is_steady = false;
  });
  return is_steady;
}

class PipelineInjector : public tir::StmtExprMutator {
 public:
  PipelineInjector(const PrimFunc& func, FunctionPassContext& context)
      : StmtExprMutator(context.workspace()),
        diagnostics_(context.diagnostics()),
        fragments_(CollectFragmentSizes(func.body)) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) known_[buffer->data] = buffer;
    }
  }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) known_[buffer->data] = buffer;
    if (const auto* index = As<IntAttr>(block->annotations->Find(attr::kDoubleBufferScope))) {
      if (index->value >= 0 && index->value < static_cast<int64_t>(block->writes.size()))
        doubled_.insert(block->writes[static_cast<size_t>(index->value)]->buffer);
      else
        Error(*block, "the annotation double_buffer_scope is not the index of a written region");
    }
    const tir::Stmt* visited = StmtExprMutator::VisitBlock(block);
    for (const tir::Buffer* buffer : block->alloc_buffers) known_.erase(buffer->data);
    return visited;
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    const bool has_stages = loop->annotations->Find(attr::kSoftwarePipelineStage) != nullptr;
    const bool has_orders = loop->annotations->Find(attr::kSoftwarePipelineOrder) != nullptr;
    const auto* visited = To<tir::For>(StmtExprMutator::VisitFor(loop));
    if (has_stages != has_orders)
      Error(*loop, fmt::format("the annotation {} is missing",
                               has_stages ? attr::kSoftwarePipelineOrder : attr::kSoftwarePipelineStage));
    return has_stages && has_orders ? Pipeline(*visited) : visited;
  }

 private:
  void Error(const Node& at, const std::string& message) { diagnostics_.Error(Location(at), "pass-failed", message); }

  const tir::Stmt* Pipeline(const tir::For& loop) {
    std::vector<const tir::Buffer*> allocs;
    std::vector<PipelineBlock> blocks;
    if (!Collect(loop, blocks, allocs) || !Annotate(loop, blocks) || !IsValid(loop, blocks) || !ChargeBudget(loop))
      return &loop;
    const DictAttr* annotations =
        loop.annotations->Without(attr::kSoftwarePipelineStage)->Without(attr::kSoftwarePipelineOrder);
    if (annotations->Find(attr::kSoftwarePipelineAsyncStages))
      annotations = annotations->Without(attr::kSoftwarePipelineAsyncStages);
    PipelineRewriter rewriter(loop, std::move(blocks), allocs, known_, fragments_, annotations, workspace());
    return rewriter.Rewrite(doubled_);
  }

  // The statements of the loop, those of blocks in it one by one, and the buffers that these blocks allocate.
  bool Collect(const tir::For& loop, std::vector<PipelineBlock>& blocks, std::vector<const tir::Buffer*>& allocs) {
    const auto open = [&](const tir::Block& block) {
      allocs.insert(allocs.end(), block.alloc_buffers.begin(), block.alloc_buffers.end());
      for (const tir::Buffer* buffer : block.alloc_buffers) known_[buffer->data] = buffer;
    };
    const tir::Stmt* body = loop.body;
    const PrimExpr* condition = nullptr;  // of all statements
    if (const auto* realize = As<tir::BlockRealize>(body)) {
      if (!IsOpaque(*realize, loop)) return false;
      open(*realize->block);
      body = realize->block->body;
      if (!arith::IsInt(realize->predicate, 1)) condition = realize->predicate;
    }
    if (condition && !IsSteady(condition, *To<tir::BlockRealize>(loop.body)->block, known_)) {
      Error(loop,
            "the condition of the block in a software pipeline must not read memory that its statements may change");
      return false;
    }
    const auto* seq = As<tir::SeqStmt>(body);
    if (!seq || loop.step || loop.for_kind == tir::ForKind::kThreadBinding || HasLoopJumps(loop.body)) {
      Error(
          loop,
          "the body of a software pipeline must be a sequence of statements, without jumps, in a loop with steps of 1");
      return false;
    }
    std::vector<const tir::Stmt*> stmts;
    for (const tir::Stmt* stmt : seq->seq) {
      const auto* realize = As<tir::BlockRealize>(stmt);
      if (realize && !IsOpaque(*realize, loop)) return false;
      const bool is_plain = realize && arith::IsInt(realize->predicate, 1);
      const auto* inner = is_plain ? As<tir::SeqStmt>(realize->block->body) : nullptr;
      if (!inner) {
        stmts.push_back(stmt);
        continue;
      }
      open(*realize->block);
      stmts.insert(stmts.end(), inner->seq.begin(), inner->seq.end());
    }
    for (const tir::Stmt* stmt : stmts) {
      const auto* realize = As<tir::BlockRealize>(stmt);
      if (realize && !IsOpaque(*realize, loop)) return false;
      if (condition) stmt = workspace().New<tir::IfThenElse>(condition, stmt, nullptr);
      blocks.push_back(
          {.block = MakeOpaqueBlock(stmt, known_, workspace()), .stage = 0, .order = 0, .is_async = false});
    }
    return true;
  }

  bool IsOpaque(const tir::BlockRealize& realize, const tir::For& loop) {
    const tir::Block& block = *realize.block;
    if (block.iter_vars.empty() && block.match_buffers.empty() && !block.init) return true;
    Error(loop,
          "the blocks of a software pipeline must be opaque and without matched buffers: run "
          "tir.ConvertBlocksToOpaque and tir.LowerMatchBuffer first");
    return false;
  }

  bool Annotate(const tir::For& loop, std::vector<PipelineBlock>& blocks) {
    const auto stages = ToInts(loop.annotations->Find(attr::kSoftwarePipelineStage));
    const auto orders = ToInts(loop.annotations->Find(attr::kSoftwarePipelineOrder));
    const Attr* async_attr = loop.annotations->Find(attr::kSoftwarePipelineAsyncStages);
    const auto async = async_attr ? ToInts(async_attr) : std::vector<int64_t>();
    if (!stages || !orders || !async || stages->size() != blocks.size() || orders->size() != blocks.size()) {
      Error(loop, fmt::format("the annotations of this software pipeline must be lists of {} integers", blocks.size()));
      return false;
    }
    const LookupSet<int64_t> async_stages(async->begin(), async->end());
    for (size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].stage = (*stages)[i];
      blocks[i].order = (*orders)[i];
      blocks[i].is_async = async_stages.contains(blocks[i].stage);
    }
    return true;
  }

  // Orders are the numbers from 0 on, and what depends on a statement does not come before it.
  bool IsValid(const tir::For& loop, const std::vector<PipelineBlock>& blocks) {
    std::vector<bool> used(blocks.size());
    for (const PipelineBlock& block : blocks) {
      const bool in_range = block.order >= 0 && block.order < static_cast<int64_t>(blocks.size());
      if (!in_range || used[static_cast<size_t>(block.order)] || block.stage < 0 || block.stage > kMaxStage) {
        Error(loop,
              "the statements of a software pipeline must have the orders 0, 1, ..., each once, and stages from "
              "0 to 1000");
        return false;
      }
      used[static_cast<size_t>(block.order)] = true;
    }
    // The writers so far of each buffer of which a statement may have to come first: the last stage, and in it the last
    // order.
    struct Last {
      int64_t stage = -1;
      int64_t order = -1;
    };
    LookupMap<const tir::Var*, Last> writers;
    for (const PipelineBlock& block : blocks) {
      for (const tir::BufferRegion* read : block.block->reads) {
        const auto* found = writers.Find(read->buffer->data);
        if (!found) continue;
        const Last& last = *found;
        if (last.stage < block.stage || (last.stage == block.stage && last.order < block.order)) continue;
        Error(loop, fmt::format("a statement of the software pipeline reads '{}' before an earlier one has written it",
                                read->buffer->name));
        return false;
      }
      for (const tir::BufferRegion* write : block.block->writes) {
        Last& last = writers[write->buffer->data];
        if (std::pair(block.stage, block.order) > std::pair(last.stage, last.order))
          last = {.stage = block.stage, .order = block.order};
      }
    }
    return true;
  }

  bool ChargeBudget(const tir::For& loop) {
    tir::PostOrderVisit(loop.body, [this](const Node*) { num_nodes_ += 3; });
    if (num_nodes_ <= kMaxPipelineNodes) return true;
    diagnostics_.Error(Location(loop), "budget",
                       fmt::format("the software pipelines make more than {} nodes of code", kMaxPipelineNodes));
    return false;
  }

  static constexpr int64_t kMaxStage = 1000;

  DiagnosticEngine& diagnostics_;
  const FragmentSizes fragments_;
  BuffersByPointer known_;
  std::unordered_set<const tir::Buffer*> doubled_;
  int64_t num_nodes_ = 0;
};

bool NeedsInjectSoftwarePipeline(const tir::Stmt* stmt) {
  if (const auto* loop = As<tir::For>(stmt))
    return loop->annotations->Find(attr::kSoftwarePipelineStage) ||
           loop->annotations->Find(attr::kSoftwarePipelineOrder);
  const auto* block = As<tir::Block>(stmt);
  return block && block->annotations->Find(attr::kDoubleBufferScope);
}

}  // namespace

Pass CreateInjectSoftwarePipeline(const PassOptions& options) {
  return CreateBodyPass(options.info(), {.needs = &NeedsInjectSoftwarePipeline},
                        [](const PrimFunc& func, FunctionPassContext& context) {
                          return PipelineInjector(func, context).VisitStmt(func.body);
                        });
}

}  // namespace iropt
