#include "transform/tir/copies/cache_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "transform/tir/copies/rank_promotion.h"
#include "transform/tir/util/staging_buffer.h"

namespace iropt {

namespace {

using Loops = std::vector<const tir::For*>;

bool IsThreadLoop(const tir::For* loop) { return loop->for_kind == tir::ForKind::kThreadBinding; }

arith::IterRanges RangesOf(const Loops& loops) {
  arith::IterRanges ranges;
  for (const tir::For* loop : loops) ranges.try_emplace(loop->loop_var, tir::Range(loop->min, loop->extent));
  return ranges;
}

// Copies of the loops with variables of their own, which become the values of the old ones.
Loops RenewLoops(const Loops& loops, tir::VarValues& values, Workspace& workspace) {
  Loops renewed;
  for (const tir::For* loop : loops) {
    auto* copy = workspace.New<tir::For>(*loop);
    const std::string name = fmt::format("{}_cache", loop->loop_var->name);
    copy->loop_var = workspace.NewPrimVar(name, loop->loop_var->dtype);
    copy->min = tir::Substitute(loop->min, values, workspace);
    copy->extent = tir::Substitute(loop->extent, values, workspace);
    values[loop->loop_var] = copy->loop_var;
    renewed.push_back(copy);
  }
  return renewed;
}

// One dimension for each loop.
PromotedAccess AccessByLoops(const Loops& loops, const arith::PrimBuilder& make) {
  PromotedAccess access;
  for (const tir::For* loop : loops) {
    access.shape.push_back(loop->extent);
    access.indices.push_back(make.Sub(loop->loop_var, loop->min));
  }
  return access;
}

const tir::BufferLoad* MakeLoad(const tir::Buffer& buffer, const PromotedAccess& access, Workspace& workspace) {
  return workspace.New<tir::BufferLoad>(buffer.dtype, &buffer, workspace.Copy(access.indices));
}

// Replaces the loads from a buffer, which all have the same indices.
class LoadReplacer : public tir::ExprMutator {
 public:
  LoadReplacer(const tir::BufferLoad& from, const tir::BufferLoad& to, Workspace& workspace)
      : ExprMutator(workspace), from_(from), to_(to) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    return load->buffer == from_.buffer ? &to_ : ExprMutator::VisitBufferLoad(load);
  }

 private:
  const tir::BufferLoad& from_;
  const tir::BufferLoad& to_;
};

}  // namespace

Result<const tir::BufferLoad*> LoadFrom(std::string_view scope, const PrimExpr* value, Workspace& workspace) {
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  const tir::BufferLoad* found = nullptr;
  bool is_unique = true;
  tir::PostOrderVisit(value, [&](const Node* node) {
    const auto* load = As<tir::BufferLoad>(node);
    if (!load || load->buffer->scope() != scope) return;
    if (!found) found = load;
    const auto equal = [&](const PrimExpr* a, const PrimExpr* b) { return analyzer.CanProveEqual(a, b); };
    is_unique = is_unique && load->buffer == found->buffer && std::ranges::equal(load->indices, found->indices, equal);
  });
  if (!found) return CopyError(fmt::format("it must store what it loads from '{}'", scope));
  if (!is_unique) return CopyError(fmt::format("its loads from '{}' must be of the same element", scope));
  return found;
}

Result<const tir::Stmt*> StageLocally(const tir::Stmt* stmt, CopyBuffers& buffers, Workspace& workspace) {
  const LoopNest nest = LoopNestOf(stmt);
  const auto* condition = As<tir::IfThenElse>(nest.body);
  const bool has_then = condition && !condition->else_case;
  IROPT_ASSIGN_OR_RETURN(const tir::BufferStore* store, StoreIn(has_then ? condition->then_case : nest.body));

  Loops threads, own;
  for (const tir::For* loop : nest.loops) (IsThreadLoop(loop) ? threads : own).push_back(loop);
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  std::optional<PromotedAccess> access;
  if (const auto* load = As<tir::BufferLoad>(store->value)) {
    access = PromoteRank(load->indices, RangesOf(own), RangesOf(nest.loops), analyzer);
  }
  if (!access) access = AccessByLoops(own, analyzer.make());
  const tir::Buffer* local = MakeStagingBuffer(*store->buffer, "local", access->shape, workspace);
  buffers.allocs.push_back(local);

  const auto guard = [&](const tir::Stmt* body) -> const tir::Stmt* {
    return has_then ? workspace.New<tir::IfThenElse>(condition->condition, body, nullptr) : body;
  };
  const tir::Stmt* fill = guard(workspace.New<tir::BufferStore>(local, store->value, workspace.Copy(access->indices)));
  const tir::Stmt* drain =
      guard(workspace.New<tir::BufferStore>(store->buffer, MakeLoad(*local, *access, workspace), store->indices));
  tir::VarValues values;
  const Loops renewed = RenewLoops(own, values, workspace);
  const std::array<const tir::Stmt*, 2> stages = {
      WithLoops(renewed, tir::Substitute(fill, values, workspace), workspace), WithLoops(own, drain, workspace)};
  return WithLoops(threads, tir::MakeSeq(workspace, stages), workspace);
}

Result<SharedStage> StageInSharedMemory(const LoopNest& nest, size_t num_outer, std::string_view scope,
                                        const BlockCopy& copy, CopyBuffers& buffers, Workspace& workspace) {
  constexpr std::string_view kShared = "shared.dyn";
  IROPT_ASSIGN_OR_RETURN(const tir::BufferStore* store, StoreIn(nest.body));
  IROPT_ASSIGN_OR_RETURN(const tir::BufferLoad* load, LoadFrom(scope, store->value, workspace));
  // All threads see the buffer, and each of them stores to its own part.
  Loops loops;
  std::ranges::copy_if(copy.outer_loops, std::back_inserter(loops), [&](const tir::For* loop) {
    return IsThreadLoop(loop) && IsSharedBy(StorageScope::Of(kShared), ThreadTag::Of(loop->thread_binding->thread_tag));
  });
  const size_t num_threads = loops.size();
  const Loops own(nest.loops.begin() + static_cast<ptrdiff_t>(num_outer), nest.loops.end());
  loops.insert(loops.end(), own.begin(), own.end());
  const arith::PrimBuilder make(workspace);
  const PromotedAccess access = AccessByLoops(loops, make);
  const tir::Buffer* shared = MakeStagingBuffer(*load->buffer, kShared, access.shape, workspace);
  buffers.allocs.push_back(shared);

  const tir::Stmt* fill = workspace.New<tir::BufferStore>(shared, load, workspace.Copy(access.indices));
  LoadReplacer replacer(*load, *MakeLoad(*shared, access, workspace), workspace);
  const tir::Stmt* drain =
      workspace.New<tir::BufferStore>(store->buffer, replacer.VisitExpr(store->value), store->indices);
  tir::VarValues values;
  Loops renewed = RenewLoops(loops, values, workspace);
  for (size_t i = 0; i < num_threads; ++i) {
    auto* serial = workspace.New<tir::For>(*renewed[i]);
    serial->for_kind = tir::ForKind::kSerial;
    serial->thread_binding = nullptr;
    serial->annotations = DictAttr::Empty();
    renewed[i] = serial;
  }
  return SharedStage{WithLoops(own, fill, workspace),
                     WithLoops(renewed, tir::Substitute(drain, values, workspace), workspace)};
}

}  // namespace iropt
