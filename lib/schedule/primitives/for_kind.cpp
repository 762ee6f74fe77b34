// Primitives that choose how the iterations of a loop are executed: in parallel, as a vector, by threads, unrolled.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/edit_distance.h"
#include "moved_block.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"
#include "thread_axis.h"

namespace iropt::schedule {

namespace {

// Returns whether threads can run a block at once although it has an initialization: without a reduction, it is the
// beginning of each iteration, and what it stores for the rest of it is in memory that threads do not share.
bool BeginsEachIteration(const tir::Block& block, std::string_view thread) {
  if (!block.init || !IsSpatial(block) || thread.empty()) return false;
  return std::ranges::none_of(block.reads, [&](const tir::BufferRegion* read) {
    bool is_stored = UsesBuffer(block.writes, read->buffer);
    tir::PostOrderVisit(block.init, [&](const Node* node) {
      const auto* store = As<tir::BufferStore>(node);
      is_stored |= store != nullptr && store->buffer == read->buffer;
    });
    return is_stored && IsSharedBy(StorageScope::Of(read->buffer->scope()), ThreadTag::Of(thread));
  });
}

// Iterations that no axis is for do a reduction again, which cannot be done at the same time.
Status CheckRepeatsNoReduction(State& state, const Ref* ref, std::string_view what, std::string_view thread,
                               const BlocksInLoops& blocks) {
  const tir::For& loop = ref->loop();
  for (const BlockInLoops& item : blocks.found) {
    if (MayRunAtOnce(*item.realize->block) || item.writes_own_buffers || RunsOnceIn(state, ref, item, blocks)) continue;
    if (BeginsEachIteration(*item.realize->block, thread)) continue;
    std::vector<const PrimExpr*> all = item.values_around;
    all.insert(all.end(), item.values.begin(), item.values.end());
    std::vector<const PrimExpr*> values;
    std::ranges::copy_if(all, std::back_inserter(values),
                         [&](const PrimExpr* value) { return tir::UsesVar(value, loop.loop_var); });
    if (!values.empty() && DetermineInnerLoops(state, values, all, blocks.loops, ref->parent, item.condition)) continue;
    if (HasOwnMemory(state, state.RefOf(item.realize->block), ref, thread)) continue;
    return state.Refuse(fmt::format("cannot apply '{}': the loop repeats the reduction of the block {{0}}", what),
                        {item.realize->block});
  }
  return {};
}

// Threads reduce in any order, so each value counts once, and the first ones begin with the initialization.
Status CheckBeginsInThreads(State& state, const tir::BlockRealize& realize) {
  std::vector<const tir::For*> loops;
  for (const Ref* ref : state.LoopsOf(state.RefOf(realize.block))) loops.push_back(&ref->loop());
  if (!realize.block->init || BeginsWithInit(state, realize, loops)) return {};
  return state.Refuse("the reduction of the block {0} does not begin with its first values", {realize.block});
}

// Threads that reduce have one result, but a data parallel axis would give each of them elements of its own.
Status CheckReducesOnly(State& state, const tir::BlockRealize& realize, const tir::For& loop) {
  if (arith::IsInt(loop.extent, 1)) return {};
  for (size_t i = 0; i < realize.iter_values.size(); ++i) {
    const tir::IterVar& axis = *realize.block->iter_vars[i];
    if (axis.iter_type != tir::IterVarType::kDataPar || arith::IsInt(axis.dom->extent, 1) ||
        !tir::UsesVar(realize.iter_values[i], loop.loop_var))
      continue;
    return state.Refuse(fmt::format("cannot apply 'bind': the block {{0}} uses the loop {} for a reduction and for the "
                                    "data parallel axis {}",
                                    loop.loop_var->name, axis.var->name),
                        {realize.block});
  }
  return {};
}

// Each axis that the loop is used for is data parallel, or a reduction across the threads of a block.
Status CheckAxes(State& state, const Ref* ref, std::string_view what, std::string_view tag) {
  const tir::For& loop = ref->loop();
  const ThreadTag thread = ThreadTag::Of(tag);
  const BlocksInLoops blocks = FindBlocksInLoops(&loop, {}, state.workspace());
  if (!IsVirtualThreadTag(tag)) IROPT_RETURN_IF_ERROR(CheckRepeatsNoReduction(state, ref, what, tag, blocks));
  for (const BlockInLoops& item : blocks.found) {
    const tir::BlockRealize* realize = item.realize;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      if (!tir::UsesVar(realize->iter_values[i], loop.loop_var)) continue;
      const tir::IterVarType type = realize->block->iter_vars[i]->iter_type;
      if (type == tir::IterVarType::kDataPar) continue;
      if (type == tir::IterVarType::kCommReduce && thread.rank == ThreadRank::kThread && thread.dim != -1) {
        IROPT_RETURN_IF_ERROR(CheckBeginsInThreads(state, *realize));
        IROPT_RETURN_IF_ERROR(CheckReducesOnly(state, *realize, loop));
        continue;
      }
      if (what != "bind")
        return state.Refuse(
            fmt::format("cannot apply '{}': an axis of the block {{0}} that the loop is used for is not data parallel",
                        what),
            {realize->block});
      return state.Refuse(fmt::format("cannot apply 'bind': an axis of the block {{0}} that the loop {} is used for is "
                                      "neither data parallel, nor of a reduction and bound to threadIdx",
                                      loop.loop_var->name),
                          {realize->block});
    }
  }
  return {};
}

// Threads count from 0, by 1.
void CountFromZero(const tir::For& loop, tir::For& copy, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  copy.loop_var = workspace.NewPrimVar(loop.loop_var->name, loop.loop_var->dtype);
  const PrimExpr* value = copy.loop_var;
  if (loop.step) {
    value = make.Mul(value, loop.step);
    copy.extent = make.FloorDiv(make.Add(loop.extent, make.Sub(loop.step, make.Const(1, loop.step->dtype))), loop.step);
    copy.step = nullptr;
  }
  copy.min = make.Const(0, loop.min->dtype);
  copy.body = SubstituteCast(loop.body, {{loop.loop_var, make.Add(value, loop.min)}}, workspace);
}

Status Parallelize(State& state, Ref* ref, tir::ForKind kind, std::string_view what, std::string_view thread) {
  const tir::For& loop = ref->loop();
  if (!arith::IsInt(loop.extent, 1) && HasBareStmts(loop))
    return state.Refuse("the loop {0} has statements that are not in a block, so that its dependences are not known",
                        {ref->stmt});
  IROPT_RETURN_IF_ERROR(CheckCompactDataflow(state, ref));
  IROPT_RETURN_IF_ERROR(CheckAxes(state, ref, what, thread));
  Workspace& workspace = state.workspace();
  auto* copy = workspace.New<tir::For>(loop);
  copy->for_kind = kind;
  copy->thread_binding = nullptr;
  if (kind == tir::ForKind::kThreadBinding) {
    const std::string_view tag = workspace.arena().CopyString(thread);
    copy->thread_binding = workspace.New<tir::IterVar>(nullptr, workspace.NewPrimVar("", loop.loop_var->dtype),
                                                       tir::IterVarType::kThreadIndex, tag);
  }
  BlockReuse reuse;
  if (kind == tir::ForKind::kThreadBinding && (loop.step || !arith::IsInt(loop.min, 0))) {
    CountFromZero(loop, *copy, workspace);
    reuse = PairBlocks(loop.body, copy->body);
  }
  state.Replace(ref, copy, reuse);
  return {};
}

}  // namespace

Status ApplyParallel(PrimitiveCall& call, const args::Parallel<Resolved>& args) {
  return Parallelize(call.state(), args.loop, tir::ForKind::kParallel, "parallel", {});
}

Status ApplyVectorize(PrimitiveCall& call, const args::Vectorize<Resolved>& args) {
  return Parallelize(call.state(), args.loop, tir::ForKind::kVectorized, "vectorize", {});
}

constexpr std::string_view kThreadAxes[] = {"blockIdx.x",  "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
                                            "threadIdx.z", "vthread.x",  "vthread.y",  "vthread.z"};

Status ApplyBind(PrimitiveCall& call, const args::Bind<Resolved>& args) {
  const std::string& thread = args.thread_axis;
  if (ThreadTag::Of(thread).rank == ThreadRank::kUnknown)
    return call.Refuse(fmt::format("unknown thread axis '{}'{}", thread, DidYouMean(thread, kThreadAxes)));
  if (!IsVirtualThreadTag(thread)) IROPT_RETURN_IF_ERROR(CheckAxisIsFree(call.state(), args.loop, thread));
  return Parallelize(call.state(), args.loop, tir::ForKind::kThreadBinding, "bind", thread);
}

Status ApplyUnroll(PrimitiveCall& call, const args::Unroll<Resolved>& args) {
  State& state = call.state();
  Ref* ref = args.loop;
  auto* copy = state.workspace().New<tir::For>(ref->loop());
  copy->for_kind = tir::ForKind::kUnrolled;
  copy->thread_binding = nullptr;
  state.Replace(ref, copy);
  return {};
}

}  // namespace iropt::schedule
