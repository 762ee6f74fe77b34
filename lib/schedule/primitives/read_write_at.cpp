// Copying what is read, or written, under a loop to, or from, another memory, in one block that later passes take
// apart.
//
//   for k0 in range(16):                     for k0 in range(16):
//       for ...: ... A[k0 * 8 + k1]   -->        with T.block("A_shared"):   # "auto_copy": 1
//                                                    v0 = T.axis.spatial(16, k0)
//                                                    for ax0 in range(8): A_shared[v0 * 8 + ax0] = A[v0 * 8 + ax0]
//                                                for ...: ... A_shared[k0 * 8 + k1]
//
// Source: TVM's src/tir/schedule/primitive/read_write_at.cc.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "iropt/arith/side_effect.h"
#include "moved_block.h"
#include "schedule/checks.h"
#include "schedule/primitive_call.h"
#include "schedule/region_tools.h"
#include "schedule/stmt_tools.h"
#include "schedule/stored_region.h"

namespace iropt::schedule {

namespace {

using arith::Analyzer;

// Puts a loop in place of another one.
class LoopReplacer : public ScopeRewriter {
 public:
  LoopReplacer(const tir::Block* scope, const tir::For* old_loop, const tir::For* new_loop, Workspace& workspace)
      : ScopeRewriter(scope, workspace), old_loop_(old_loop), new_loop_(new_loop) {}

 protected:
  const tir::Stmt* VisitFor(const tir::For* loop) override {
    return loop == old_loop_ ? new_loop_ : ScopeRewriter::VisitFor(loop);
  }

 private:
  const tir::For* old_loop_;
  const tir::For* new_loop_;
};

class AutoCopy {
 public:
  AutoCopy(State& state, Ref* loop, const tir::Buffer* buffer, std::string_view scope, bool is_read)
      : state_(state),
        workspace_(state.workspace()),
        make_(state.make()),
        analyzer_(make_, Analyzer::SymVars::kAny),
        loop_(loop),
        old_buffer_(buffer),
        new_buffer_(
            CopyBuffer(*buffer, {.name = fmt::format("{}_{}", buffer->name, scope), .scope = scope}, workspace_)),
        name_(fmt::format("{}_{}", buffer->name, scope)),
        is_read_(is_read) {}

  Result<Ref*> Apply() {
    IROPT_ASSIGN_OR_RETURN(Ref * scope, RequireScope(state_, loop_, /*stage_pipeline=*/true));
    std::vector<const tir::Stmt*> statements = StatementsOf(loop_->loop().body);
    FindAccesses(statements);
    IROPT_RETURN_IF_ERROR(CheckOrder());
    const size_t position = is_read_ ? readers_.front() : writers_.back() + 1;
    const size_t begin = is_read_ ? position : 0;
    const size_t end = is_read_ ? statements.size() : position;
    BlockReuse reuse;
    for (size_t i = begin; i < end; ++i) {
      const tir::Stmt* replaced = ReplaceBuffers(statements[i], {{old_buffer_, new_buffer_}}, workspace_);
      const BlockReuse own = PairBlocks(statements[i], replaced);
      reuse.insert(reuse.end(), own.begin(), own.end());
      statements[i] = replaced;
    }
    IROPT_ASSIGN_OR_RETURN(const tir::BlockRealize* copy, MakeBlock());
    statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(position), copy);
    const auto* new_loop = To<tir::For>(WithBody(loop_->loop(), tir::MakeSeq(workspace_, statements), workspace_));
    const tir::Block* old_scope = &scope->block();
    const auto* rewritten =
        To<tir::Block>(LoopReplacer(old_scope, &loop_->loop(), new_loop, workspace_).VisitStmt(old_scope));
    const tir::Block* new_scope = CopyBlock(*rewritten, workspace_, [&](tir::Block& block) {
      block.alloc_buffers = With(block.alloc_buffers, new_buffer_, workspace_);
    });
    reuse.emplace_back(old_scope, new_scope);
    state_.Replace(scope, new_scope, reuse);
    return state_.RefOf(copy->block);
  }

 private:
  // Finds the statements that read and write the buffer, and the regions that they access.
  void FindAccesses(const std::vector<const tir::Stmt*>& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      bool reads = false, writes = false;
      const auto visit = [&](const tir::BlockRealize* realize) {
        const tir::Block& block = *realize->block;
        const bool has_read = UsesBuffer(block.reads, old_buffer_);
        const bool has_write = UsesBuffer(block.writes, old_buffer_);
        reads = reads || has_read;
        writes = writes || has_write;
        if (has_read && boxes_.empty() && !is_read_) early_reader_ = &block;
        if (has_read) is_conditional_ = is_conditional_ || !IsTrue(realize->predicate);
        if (has_read) first_reader_ = std::min(first_reader_, state_.RefOf(&block)->place);
        if (is_read_ ? has_read : has_write) Relax(*realize, is_read_ ? block.reads : block.writes);
        if (has_write && !is_read_) {
          FindStored(block);
          FindEmptyReduction(*realize);
        }
      };
      if (const auto* realize = As<tir::BlockRealize>(statements[i])) {
        visit(realize);
      } else if (Is<tir::For>(statements[i])) {
        for (const tir::BlockRealize* child : ChildRealizes(*statements[i])) visit(child);
      }
      if (reads) readers_.push_back(i);
      if (writes) writers_.push_back(i);
    }
  }
  void Relax(const tir::BlockRealize& realize, List<const tir::BufferRegion*> regions) {
    const Ref* ref = state_.RefOf(realize.block);
    const arith::IterRanges loops = LoopDomain(ref->parent, loop_, new_buffer_->scope());
    for (const tir::BufferRegion* region : regions) {
      if (region->buffer != old_buffer_) continue;
      const tir::BufferRegion* bound = tir::Substitute(region, BindingsOf(realize, workspace_), workspace_);
      boxes_.push_back(EvalBox(bound->region, loops, analyzer_));
    }
  }
  // If a reduction has no elements, its result is the first value, but neither the loop nor a copy in it runs.
  void FindEmptyReduction(const tir::BlockRealize& realize) {
    if (!realize.block->init) return;
    Analyzer analyzer(make_, Analyzer::SymVars::kAny);
    BindShapes(*state_.func(), analyzer);
    for (const Ref* ref = loop_; ref->is_loop(); ref = ref->parent) {
      if (!IsOfReduction(realize, ref->loop()) || analyzer.CanProveGreaterEqual(ref->loop().extent, 1)) continue;
      empty_reduction_ = realize.block;
      empty_loop_ = &ref->loop();
    }
  }
  void FindStored(const tir::Block& block) {
    if (const auto boxes = StoredBoxes(state_, state_.RefOf(&block), loop_, old_buffer_)) {
      stored_.insert(stored_.end(), boxes->begin(), boxes->end());
    } else {
      is_stored_as_stated_ = true;
    }
  }
  Status CheckOrder() {
    const std::vector<size_t>& own = is_read_ ? readers_ : writers_;
    if (early_reader_)
      return state_.Refuse("the block {0} reads what was written before the loop, which the new memory does not have",
                           {early_reader_});
    if (empty_reduction_)
      return state_.Refuse(
          "the block {0} reduces over the loop {1}, which may not run: its first value would not be copied",
          {empty_reduction_, empty_loop_});
    if (own.empty())
      return state_.Refuse(fmt::format("the buffer '{}' is not accessed under the loop {{0}}", old_buffer_->name),
                           {loop_->stmt});
    if (is_read_ && !writers_.empty() && writers_.back() >= readers_.front())
      return state_.Refuse("the buffer is written after it is first read under the loop {0}", {loop_->stmt});
    if (!is_read_ && !readers_.empty() && readers_.back() > writers_.back())
      return state_.Refuse("the buffer is read after it is last written under the loop {0}", {loop_->stmt});
    return {};
  }

  // What is to be copied: what the statements access under the loop, as far as it is in the buffer and in what the
  // block around states. Conditions keep them from accessing the rest.
  Result<const tir::BufferRegion*> AccessedRegion() {
    Box box = UnionBox(boxes_, analyzer_);
    IROPT_RETURN_IF_ERROR(CheckWithoutLoads(box));
    const bool is_widened = Widen(box);
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < box.size(); ++i) {
      const PrimExpr* dim = old_buffer_->shape[i];
      ranges.push_back(RangeOf(box[i], tir::Range(make_.Const(0, dim->dtype), dim), analyzer_, workspace_));
    }
    const auto* region = MakeRegion(old_buffer_, ranges, workspace_);
    if (!IsInsideBuffer(state_, *region, loop_))
      region = InsidePart(*region, BoxOf(FullRegion(old_buffer_, workspace_)->region, make_));
    if (const std::optional<Box> stated = StatedAround();
        stated && !ContainRegion(state_, {*stated}, region->region, loop_))
      region = InsidePart(*region, *stated);
    IROPT_RETURN_IF_ERROR(CheckHasValues(*region, is_widened));
    return region;
  }
  // A box around all that the block around states to access of the buffer. Nothing if it states no accesses.
  std::optional<Box> StatedAround() {
    const tir::Block& block = state_.ScopeOf(loop_)->block();
    std::vector<Box> boxes;
    for (const tir::BufferRegion* region : is_read_ ? block.reads : block.writes) {
      if (region->buffer == old_buffer_) boxes.push_back(BoxOf(region->region, make_));
    }
    if (boxes.empty()) return std::nullopt;
    return UnionBox(boxes, analyzer_);
  }
  Status CheckWithoutLoads(const Box& box) {
    const auto is_known = [](const arith::IntervalSet& set) {
      return !set.is_bounded() || (arith::IsPure(set.min()) && arith::IsPure(set.max()));
    };
    if (std::ranges::all_of(box, is_known)) return {};
    return state_.Refuse(
        fmt::format("which elements of {} are accessed under the loop {{0}} depends on what is loaded, "
                    "not on loops alone",
                    old_buffer_->name),
        {loop_->stmt});
  }
  // A dimension in which the bounds are not known, as where they divide by a size that may be 0, is copied as a whole.
  // Returns whether there is one.
  bool Widen(Box& box) {
    Analyzer facts(make_, Analyzer::SymVars::kAny);
    AddFacts(facts);
    bool is_widened = false;
    for (size_t i = 0; i < box.size(); ++i) {
      const arith::IntervalSet& set = box[i];
      if (set.is_bounded() && !MayDivideByZero(set.min(), loop_, facts) && !MayDivideByZero(set.max(), loop_, facts))
        continue;
      box[i] = WholeDim(*old_buffer_, i, make_);
      is_widened = true;
    }
    return is_widened;
  }
  // Whatever is copied has values. That is certain for what blocks read without a condition.
  Status CheckHasValues(const tir::BufferRegion& region, bool is_widened) {
    if (!is_widened && (is_read_ ? !is_conditional_ : is_stored_as_stated_)) return {};
    if (is_read_ ? IsStoredBefore(region) : ContainRegion(state_, stored_, region.region, loop_)) return {};
    return state_.Refuse(fmt::format("the blocks {} the loop {{0}} do not write all elements of the region of {} that "
                                     "would be copied",
                                     is_read_ ? "before" : "under", old_buffer_->name),
                         {loop_->stmt});
  }
  bool IsStoredBefore(const tir::BufferRegion& region) {
    const std::vector<Ref*>& writers = state_.ScopeInfo(state_.ScopeOf(loop_)).WritersOf(old_buffer_);
    if (writers.empty()) {
      const List<const tir::Buffer*> params = state_.func()->param_buffers;
      return std::ranges::find(params, old_buffer_) != params.end();
    }
    std::vector<Box> stored;
    for (Ref* writer : writers) {
      const auto boxes = StoredBoxes(state_, writer, LowestCommonAncestor(writer, loop_), old_buffer_);
      if (boxes && writer->place < first_reader_) stored.insert(stored.end(), boxes->begin(), boxes->end());
    }
    // All of the buffer is easier to compare than a part of which only the ends in it count.
    return ContainRegion(state_, stored, region.region, loop_) ||
           ContainRegion(state_, stored, FullRegion(old_buffer_, workspace_)->region, loop_);
  }
  // Of sizes, and of the loops around.
  void AddFacts(Analyzer& analyzer) {
    BindShapes(*state_.func(), analyzer);
    BindLoopsAround(loop_, analyzer);
  }
  const tir::BufferRegion* InsidePart(const tir::BufferRegion& region, const Box& limits) {
    Analyzer facts(make_, Analyzer::SymVars::kAny);
    AddFacts(facts);
    std::vector<const tir::Range*> ranges;
    for (size_t i = 0; i < limits.size(); ++i) {
      const tir::Range& range = *region.region[i];
      if (!limits[i].is_bounded()) {
        ranges.push_back(&range);
        continue;
      }
      const PrimExpr* zero = make_.Const(0, range.min->dtype);
      const PrimExpr* min = facts.Simplify(make_.Max(range.min, limits[i].min()));
      const PrimExpr* limit = make_.Add(limits[i].max(), make_.Const(1, range.min->dtype));
      const PrimExpr* end = make_.Min(make_.Add(range.min, range.extent), limit);
      const PrimExpr* extent = facts.Simplify(make_.Max(make_.Sub(end, min), zero));
      ranges.push_back(workspace_.New<tir::Range>(min, extent));
    }
    return MakeRegion(old_buffer_, ranges, workspace_);
  }

  // The loops around that blocks can use: those up to the next block with axes.
  arith::IterRanges LoopsAround() const {
    arith::IterRanges loops;
    for (const Ref* ref = loop_; ref; ref = ref->parent) {
      if (ref->is_loop()) {
        loops.insert_or_assign(ref->loop().loop_var, tir::Range(ref->loop().min, ref->loop().extent));
      } else if (!ref->block().iter_vars.empty()) {
        break;
      }
    }
    return loops;
  }

  // The block has an axis for each loop that the region depends on, in the order of their appearance.
  Result<const tir::BlockRealize*> MakeBlock() {
    const arith::IterRanges outside = LoopsAround();
    tir::VarValues axis_of;
    std::vector<const tir::IterVar*> axes;
    std::vector<const PrimExpr*> values;
    const auto to_axes = [&](const PrimExpr* expr) {
      return tir::Substitute(
          expr,
          [&](const tir::Var* var) -> const PrimExpr* {
            const auto* range = outside.Find(var);
            if (!range) return nullptr;
            const PrimExpr*& axis = axis_of[var];
            if (axis) return axis;
            const tir::Var* axis_var = workspace_.NewPrimVar(fmt::format("v{}", axes.size()), var->dtype);
            axes.push_back(
                workspace_.New<tir::IterVar>(workspace_.New<tir::Range>(*range), axis_var, tir::IterVarType::kDataPar));
            values.push_back(var);
            return axis = axis_var;
          },
          workspace_);
    };
    std::vector<const tir::Range*> region;
    std::vector<const PrimExpr*> indices;
    std::vector<const tir::Var*> loop_vars;
    IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* accessed, AccessedRegion());
    for (size_t i = 0; i < accessed->region.size(); ++i) {
      const tir::Range& range = *accessed->region[i];
      const PrimExpr* min = to_axes(range.min);
      region.push_back(workspace_.New<tir::Range>(min, to_axes(range.extent)));
      loop_vars.push_back(workspace_.NewPrimVar(fmt::format("ax{}", i), DataType::Int(32)));
      indices.push_back(make_.Add(min, loop_vars.back()));
    }
    const tir::Buffer* from = is_read_ ? old_buffer_ : new_buffer_;
    const tir::Buffer* to = is_read_ ? new_buffer_ : old_buffer_;
    const auto* load = workspace_.New<tir::BufferLoad>(from->dtype, from, workspace_.Copy(indices));
    const tir::Stmt* body = workspace_.New<tir::BufferStore>(to, load, workspace_.Copy(indices));
    for (size_t i = region.size(); i > 0; --i)
      body = MakeLoop(loop_vars[i - 1], region[i - 1]->extent, body, workspace_);
    const auto* block = workspace_.New<tir::Block>(
        workspace_.Copy(axes), workspace_.Copy(std::vector{MakeRegion(from, region, workspace_)}),
        workspace_.Copy(std::vector{MakeRegion(to, region, workspace_)}), workspace_.arena().CopyString(name_),
        List<const tir::Buffer*>(), List<const tir::MatchBufferRegion*>(),
        DictAttr::Empty()->With(attr::kAutoCopy,
                                workspace_.version() >= TextVersion::kV0_21 ? IntAttr::Bool(true) : IntAttr::Get(1)),
        nullptr, body);
    return MakeRealize(values, make_.Bool(true), block, workspace_);
  }

  State& state_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  Analyzer analyzer_;
  Ref* loop_;
  const tir::Buffer* old_buffer_;
  const tir::Buffer* new_buffer_;
  const std::string name_;
  const bool is_read_;
  std::vector<size_t> readers_, writers_;
  const tir::Block* early_reader_ = nullptr;  // before all writers, or one that updates
  const tir::Block* empty_reduction_ = nullptr;
  const tir::For* empty_loop_ = nullptr;  // over which it reduces
  uint32_t first_reader_ = UINT32_MAX;    // its place in the scope
  bool is_conditional_ = false;           // a reader
  std::vector<Box> boxes_;                // that are accessed
  std::vector<Box> stored_;               // that are written for sure
  bool is_stored_as_stated_ = false;      // by a writer of which only what it states is known
};

template <class Args>
Status CopyAt(PrimitiveCall& call, const Args& args, int64_t index, bool is_read) {
  State& state = call.state();
  IROPT_ASSIGN_OR_RETURN(const tir::BufferRegion* region, RequireAccess(state, args.block, index, !is_read));
  const std::string& scope = args.storage_scope;
  IROPT_RETURN_IF_ERROR(CheckStorageScope(state, scope));
  AutoCopy copy(state, args.loop, region->buffer, scope, is_read);
  IROPT_ASSIGN_OR_RETURN(Ref * block, copy.Apply());
  call.Return(block);
  return {};
}

}  // namespace

Status ApplyReadAt(PrimitiveCall& call, const args::ReadAt<Resolved>& args) {
  return CopyAt(call, args, args.read_buffer_index, /*is_read=*/true);
}

Status ApplyWriteAt(PrimitiveCall& call, const args::WriteAt<Resolved>& args) {
  return CopyAt(call, args, args.write_buffer_index, /*is_read=*/false);
}

}  // namespace iropt::schedule
