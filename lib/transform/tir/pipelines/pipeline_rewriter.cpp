#include "transform/tir/pipelines/pipeline_rewriter.h"

#include <algorithm>
#include <utility>

#include "iropt/arith/int_set.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/constant_conditions.h"

namespace iropt {

namespace {

bool MayOverlap(const tir::BufferRegion& a, const tir::BufferRegion& b, arith::Analyzer& analyzer) {
  if (a.region.size() != b.region.size()) return true;
  for (size_t i = 0; i < a.region.size(); ++i) {
    const auto x = arith::IntervalSet::FromRange(*a.region[i], analyzer.make());
    const auto y = arith::IntervalSet::FromRange(*b.region[i], analyzer.make());
    if (Intersect(x, y, analyzer).is_nothing()) return false;
  }
  return true;
}

}  // namespace

const tir::Block* MakeOpaqueBlock(const tir::Stmt* body, const BuffersByPointer& known, Workspace& workspace) {
  const auto* realize = As<tir::BlockRealize>(body);
  if (realize && arith::IsInt(realize->predicate, 1)) return realize->block;
  auto* block = workspace.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                                          List<const tir::BufferRegion*>(), "", List<const tir::Buffer*>(),
                                          List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
  const BlockAccesses accesses = GetBlockReadWriteRegion(*block, known, workspace);
  block->reads = workspace.Copy(accesses.reads);
  block->writes = workspace.Copy(accesses.writes);
  return block;
}

PipelineRewriter::PipelineRewriter(const tir::For& loop, std::vector<PipelineBlock> blocks,
                                   std::vector<const tir::Buffer*> allocs, BuffersByPointer& known,
                                   const FragmentSizes& fragments, const DictAttr* annotations, Workspace& workspace)
    : workspace_(workspace),
      loop_(loop),
      blocks_(std::move(blocks)),
      allocs_(std::move(allocs)),
      known_(known),
      fragments_(fragments),
      annotations_(annotations),
      make_(workspace),
      analyzer_(make_, arith::Analyzer::SymVars::kAny),
      copier_(workspace),
      position_(blocks_.size()),
      is_emitted_(blocks_.size()) {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    position_[static_cast<size_t>(blocks_[i].order)] = i;
    max_stage_ = std::max(max_stage_, blocks_[i].stage);
  }
}

const tir::Stmt* PipelineRewriter::Rewrite(const std::unordered_set<const tir::Buffer*>& doubled) {
  LookupMap<const tir::Buffer*, BufferUses> uses;
  for (const PipelineBlock& block : blocks_) {
    for (const tir::BufferRegion* read : block.block->reads) uses[read->buffer].reads.push_back({&block, read});
    for (const tir::BufferRegion* write : block.block->writes) uses[write->buffer].writes.push_back({&block, write});
  }
  for (const tir::Buffer* buffer : allocs_) {
    const int64_t num_versions = NumVersions(uses[buffer], doubled.contains(buffer));
    if (num_versions > 1) versioned_[buffer] = AddVersions(*buffer, num_versions, workspace_);
  }
  VersionSelector selector(loop_, versioned_, fragments_, max_stage_ != 1, workspace_);
  for (const size_t position : position_) ordered_.push_back(selector.VisitStmt(blocks_[position].block));

  const PrimExpr* begin = loop_.min;
  const PrimExpr* end = make_.Add(loop_.min, loop_.extent);
  const PrimExpr* lag = make_.Const(max_stage_, loop_.loop_var->dtype);
  const PrimExpr* full = make_.Add(begin, lag);  // from here on all stages are at work
  // A loop with fewer iterations than stages has had some of those after its end by then, which TVM 0.18 repeats. TVM
  // 0.20 and newer leave them out by a condition, so that the part has as many iterations as before.
  const bool may_be_short = max_stage_ > 1 && !analyzer_.CanProve(make_.Binary(NodeKind::kGE, loop_.extent,
                                                                               make_.Cast(loop_.extent->dtype, lag)));
  const bool by_condition = may_be_short && !arith::AsInt(end) && make_.version() >= TextVersion::kV0_20;
  const PrimExpr* last = may_be_short && !by_condition ? make_.Max(end, full) : end;
  const std::vector<const tir::Stmt*> parts = {Emit(begin, full, true), Emit(full, end, false),
                                               Emit(last, make_.Add(end, lag), true, by_condition ? full : nullptr)};
  std::vector<const tir::Buffer*> allocs;
  for (const tir::Buffer* buffer : allocs_) {
    const auto* versioned = versioned_.Find(buffer);
    allocs.push_back(!versioned ? buffer : *versioned);
    known_.erase(buffer->data);
  }
  const tir::Stmt* body = workspace_.New<tir::SeqStmt>(workspace_.Copy(parts));
  tir::Block whole = *MakeOpaqueBlock(body, known_, workspace_);
  whole.alloc_buffers = workspace_.Copy(allocs);
  return Realize(workspace_.New<tir::Block>(whole));
}

// From the first stage that writes the buffer to the last one that reads it, iterations overlap.
int64_t PipelineRewriter::NumVersions(const BufferUses& uses, bool is_doubled) const {
  int64_t def = -1;
  int64_t use = -1;
  for (const BufferUse& write : uses.writes) def = def < 0 ? write.block->stage : std::min(def, write.block->stage);
  for (const BufferUse& read : uses.reads) use = std::max(use, read.block->stage);
  if (def < 0) return 1;
  const int64_t num_versions = use - def + 1;
  if (num_versions > 2 || (num_versions == 2 && NeedsTwoVersions(uses))) return num_versions;
  // A buffer that is only written is not doubled, as in TVM.
  return is_doubled && num_versions >= 1 ? 2 : 1;
}

// Returns whether a block of an early stage writes before a late one has read. More than kMaxComparisons for each use
// are not made: two versions are right in any case.
bool PipelineRewriter::NeedsTwoVersions(const BufferUses& uses) const {
  constexpr size_t kMaxComparisons = 256;
  arith::Analyzer analyzer(make_, arith::Analyzer::SymVars::kAny);
  size_t left = kMaxComparisons * (uses.reads.size() + uses.writes.size());
  for (const BufferUse& write : uses.writes) {
    for (const BufferUse& read : uses.reads) {
      if (left-- == 0) return true;
      const PipelineBlock& writer = *write.block;
      const PipelineBlock& reader = *read.block;
      if (writer.order < reader.order && writer.stage < reader.stage &&
          MayOverlap(*write.region, *read.region, analyzer))
        return true;
    }
  }
  return false;
}

const tir::Stmt* PipelineRewriter::Realize(const tir::Block* block, const PrimExpr* predicate) {
  return workspace_.New<tir::BlockRealize>(List<const PrimExpr*>(), predicate ? predicate : True(workspace_), block);
}

const tir::Stmt* PipelineRewriter::NoOp() {
  return Realize(MakeOpaqueBlock(workspace_.New<tir::Evaluate>(Int(0)), {}, workspace_));
}

const tir::Stmt* PipelineRewriter::WithAttr(std::string_view key, const PrimExpr* value, const tir::Stmt* body) {
  return workspace_.New<tir::AttrStmt>(Int(0), key, value, body);
}

// The part of the pipeline in which the newest iteration is in [start, end), and not less than `least` if there is one.
const tir::Stmt* PipelineRewriter::Emit(const PrimExpr* start, const PrimExpr* end, bool is_unrolled,
                                        const PrimExpr* least) {
  Part part{.start = start, .extent = make_.Sub(end, start), .least = least};
  const PrimExpr* zero = make_.Const(0, part.extent->dtype);
  if (analyzer_.CanProve(make_.Binary(NodeKind::kLE, part.extent, zero))) return NoOp();
  part.is_unit = analyzer_.CanProveEqual(part.extent, make_.Const(1, part.extent->dtype));
  arith::Analyzer normalized(make_, arith::Analyzer::SymVars::kAny);
  const tir::Var* var = nullptr;
  if (!part.is_unit) {
    var = workspace_.NewPrimVar(loop_.loop_var->name, loop_.loop_var->dtype);
    analyzer_.Bind(var, start, part.extent);
    normalized.Bind(var, loop_.min, part.extent);
  }
  part.index = part.is_unit ? start : var;
  for (size_t order = 0; order < ordered_.size(); ++order) EmitBlock(order, part, normalized);
  FindWaits(part, normalized);
  const std::vector<const tir::Stmt*> stmts = Complete(part, normalized);
  if (stmts.empty()) return NoOp();
  const tir::Stmt* body = stmts.size() == 1 ? stmts[0] : workspace_.New<tir::SeqStmt>(workspace_.Copy(stmts));
  if (!part.is_unit) {
    // An iteration needs what the one before it has prepared, also if those of the original loop are independent.
    const bool in_any_order = loop_.for_kind == tir::ForKind::kVectorized || loop_.for_kind == tir::ForKind::kParallel;
    const tir::ForKind in_order = in_any_order ? tir::ForKind::kSerial : loop_.for_kind;
    const tir::ForKind kind = is_unrolled ? tir::ForKind::kUnrolled : in_order;
    // The text of a loop that does not begin at 0 states its end, from which the extent is computed.
    const PrimExpr* extent = arith::IsInt(loop_.min, 0) ? part.extent : analyzer_.Simplify(part.extent);
    body = workspace_.New<tir::For>(var, loop_.min, extent, kind, body, nullptr, annotations_);
  }
  for (const auto& [stage, async] : part.async) {
    const PrimExpr*& head = async_stages_[stage].head;
    const bool is_exact = async.predicate && normalized.CanProve(async.predicate) && head;
    head = is_exact ? make_.Add(head, part.extent) : nullptr;
  }
  return Realize(MakeOpaqueBlock(body, known_, workspace_));
}

void PipelineRewriter::EmitBlock(size_t position, Part& part, arith::Analyzer& normalized) {
  const PipelineBlock& source = blocks_[position_[position]];
  const PrimExpr* iteration = make_.Sub(part.index, make_.Const(source.stage, loop_.loop_var->dtype));
  const PrimExpr* end = make_.Add(loop_.min, loop_.extent);
  const PrimExpr* after_begin = analyzer_.Simplify(make_.Binary(NodeKind::kLE, loop_.min, iteration));
  const PrimExpr* inbound = make_.Binary(NodeKind::kAnd, after_begin, make_.Binary(NodeKind::kLT, iteration, end));
  if (part.least) {
    const PrimExpr* after_least = make_.Binary(NodeKind::kGE, part.index, part.least);
    inbound = analyzer_.Simplify(make_.Binary(NodeKind::kAnd, inbound, after_least));
  }
  // A block that does not run yet separates the groups as in the other parts, which count them.
  if (analyzer_.CanProve(make_.Not(inbound))) return NoteReads(*To<tir::Block>(ordered_[position]), source.stage, part);
  // The new loop starts where the old one did.
  if (!part.is_unit) {
    const PrimExpr* delta = make_.Sub(part.start, loop_.min);
    iteration = make_.Add(iteration, delta);
    const auto* var = To<tir::Var>(part.index);
    const PrimExpr* shifted = make_.Add(var, delta);
    inbound = tir::Substitute(inbound, {{var, shifted}}, workspace_);
  }
  const OwnDefinitions definitions = is_emitted_[position] ? OwnDefinitions::kRenew : OwnDefinitions::kKeep;
  is_emitted_[position] = true;
  const tir::Stmt* copy = copier_.Copy(ordered_[position], {{loop_.loop_var, iteration}}, definitions);
  Emitted emitted{.stage = source.stage,
                  .predicate = inbound,
                  .block = To<tir::Block>(copy),
                  .iteration = iteration,
                  .is_async = source.is_async};
  if (source.is_async) {
    AddAsync(emitted, part, normalized);
    tir::Block block = *emitted.block;
    block.body = WithAttr(attr::kAsyncScope, Int(1), block.body);
    emitted.block = workspace_.New<tir::Block>(block);
  }
  part.blocks.push_back(emitted);
  NoteReads(*emitted.block, emitted.stage, part);
}

void PipelineRewriter::NoteReads(const tir::Block& block, int64_t reader, Part& part) {
  for (const tir::BufferRegion* read : block.reads) {
    for (const auto& [stage, async] : async_stages_) {
      if (stage <= reader && async.written.contains(read->buffer)) part.async[stage].is_consumed = true;
    }
  }
}

// The block is committed together with those before it, unless something waits for those.
void PipelineRewriter::AddAsync(const Emitted& emitted, Part& part, arith::Analyzer& normalized) {
  AsyncPart& async = part.async[emitted.stage];
  if (async.groups.empty() || async.is_consumed) async.groups.emplace_back();
  async.groups.back().push_back(part.blocks.size());
  const auto [stage, is_new] = async_stages_.try_emplace(emitted.stage);
  if (is_new) stage->second.head = Int(-1);
  for (const tir::BufferRegion* write : emitted.block->writes) {
    stage->second.written.insert(write->buffer);
    part.group_of[write->buffer] = async.groups.size() - 1;
  }
  async.head = emitted.iteration;
  if (!async.predicate || normalized.CanProve(async.predicate))
    async.predicate = emitted.predicate;
  else
    async.predicate = normalized.Simplify(make_.Binary(NodeKind::kAnd, async.predicate, emitted.predicate));
}

void PipelineRewriter::FindWaits(Part& part, arith::Analyzer& normalized) {
  for (size_t i = 0; i < part.blocks.size(); ++i) {
    const Emitted& block = part.blocks[i];
    if (block.is_async) {
      for (const tir::BufferRegion* write : block.block->writes) part.async[block.stage].seen.insert(write->buffer);
    }
    int64_t producer = -1;
    for (const tir::BufferRegion* read : block.block->reads) {
      for (const auto& [stage, async] : async_stages_) {
        if (stage <= block.stage && async.written.contains(read->buffer)) producer = stage;
      }
    }
    if (producer < 0) continue;
    const PrimExpr* in_flight = CountInFlight(part, block, producer, normalized);
    AsyncPart& async = part.async[producer];
    if (!async.wait) {
      async.wait_before = i;
      async.wait = in_flight;
    } else if (analyzer_.CanProve(make_.Binary(NodeKind::kLT, in_flight, async.wait))) {
      async.wait = in_flight;
    }
  }
}

// Returns the number of writes of the stage that may be in flight when the block reads: those of iterations after its
// own. 0 if unknown.
const PrimExpr* PipelineRewriter::CountInFlight(const Part& part, const Emitted& reader, int64_t stage,
                                                arith::Analyzer& normalized) {
  const AsyncStage& writer = async_stages_.at(stage);
  const auto local = part.async.find(stage);
  std::vector<const PrimExpr*> heads;
  if (local == part.async.end() || local->second.groups.empty()) {
    heads.push_back(writer.head);
  } else {
    const AsyncPart& async = local->second;
    std::vector<bool> is_counted(async.groups.size());
    for (const tir::BufferRegion* read : reader.block->reads) {
      const auto group = part.group_of.find(read->buffer);
      if (!writer.written.contains(read->buffer) || group == part.group_of.end() || is_counted[group->second]) continue;
      is_counted[group->second] = true;
      // A buffer that is written later in the body was last written in the iteration before.
      const bool is_seen = async.seen.contains(read->buffer);
      heads.push_back(is_seen ? async.head : make_.Sub(async.head, make_.Const(1, async.head->dtype)));
    }
  }
  const PrimExpr* sum = Int(0);
  for (const PrimExpr* head : heads) {
    if (!head || !normalized.CanProve(make_.Binary(NodeKind::kGE, head, make_.Const(0, head->dtype)))) return Int(0);
    sum = make_.Add(sum, analyzer_.Simplify(make_.Sub(head, reader.iteration)));
  }
  return sum;
}

void PipelineRewriter::AttachWait(Part& part, int64_t stage, const AsyncPart& async, arith::Analyzer& normalized) {
  const PrimExpr* wait = async.wait;
  if (async.predicate && arith::IsInt(async.predicate, 0)) {
    wait = Int(0);
  } else if (async.predicate && !normalized.CanProve(async.predicate)) {
    const std::vector<const PrimExpr*> args = {async.predicate, wait, Int(0)};
    wait = workspace_.New<tir::Call>(DataType::Int(32), GetOp(op::kTirIfThenElse), workspace_.Copy(args));
  }
  Emitted& waiting = part.blocks[async.wait_before];
  tir::Block block = *waiting.block;
  block.body =
      WithAttr(attr::kAsyncWaitQueueScope, Int(stage), WithAttr(attr::kAsyncWaitInflightCount, wait, block.body));
  waiting.block = workspace_.New<tir::Block>(block);
}

// The blocks of the part, with the scopes of asynchronous writes.
std::vector<const tir::Stmt*> PipelineRewriter::Complete(Part& part, arith::Analyzer& normalized) {
  struct Commit {
    int64_t stage = -1;
    const std::vector<size_t>* group = nullptr;
    bool operator==(const Commit&) const = default;
  };
  std::vector<Commit> commits(part.blocks.size());
  for (const auto& [stage, async] : part.async) {
    for (const std::vector<size_t>& group : async.groups) {
      for (size_t j = 0; j < group.size() && group[0] + j < commits.size(); ++j)
        commits[group[0] + j] = {stage, &group};
    }
    if (async.wait) AttachWait(part, stage, async, normalized);
  }
  std::vector<const tir::Stmt*> stmts;
  for (size_t i = 0; i < part.blocks.size();) {
    const Commit commit = commits[i];
    const PrimExpr* predicate = part.blocks[i].predicate;
    if (!commit.group) {
      stmts.push_back(Realize(part.blocks[i++].block, predicate));
      continue;
    }
    std::vector<const tir::Stmt*> bodies;
    for (; i < part.blocks.size() && commits[i] == commit && DeepEqual(part.blocks[i].predicate, predicate); ++i) {
      const tir::Block* block = part.blocks[i].block;
      bodies.push_back(block->alloc_buffers.empty() ? block->body : Realize(block));
    }
    const tir::Stmt* scope =
        WithAttr(attr::kAsyncCommitQueueScope, Int(commit.stage), tir::MakeSeq(workspace_, bodies));
    stmts.push_back(Realize(MakeOpaqueBlock(scope, known_, workspace_), predicate));
  }
  return stmts;
}

}  // namespace iropt
