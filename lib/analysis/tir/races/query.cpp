#include "analysis/tir/races/query.h"

#include <algorithm>
#include <map>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/substitute.h"
#include "iropt/ir/tir/target_of.h"
#include "iropt/ir/tir/visitor.h"

namespace iropt::races {

namespace {

using Round = Reach::Round;

bool Contains(const std::vector<uint32_t>& list, uint32_t item) { return std::ranges::find(list, item) != list.end(); }

// The offset of an element from the pointer; null if it is not known.
const PrimExpr* OffsetOf(const Access& access, const arith::PrimBuilder& make) {
  if (!access.buffer) return access.indices.empty() ? nullptr : access.indices[0];
  const tir::Buffer& buffer = *access.buffer;
  if (buffer.layout || !buffer.axis_separators.empty() || access.indices.size() != buffer.shape.size()) return nullptr;
  const PrimExpr* offset = buffer.elem_offset ? buffer.elem_offset : make.Int(0);
  const PrimExpr* stride = make.Int(1);
  for (size_t i = buffer.shape.size(); i-- > 0;) {
    if (!buffer.strides.empty()) stride = buffer.strides[i];
    offset = make.Add(offset, make.Mul(access.indices[i], stride));
    if (buffer.strides.empty()) stride = make.Mul(stride, buffer.shape[i]);
  }
  return offset;
}

// Replaces what is read from memory that may change by variables.
class LoadReplacer : public tir::StmtExprMutator {
 public:
  LoadReplacer(const LookupSet<const tir::Var*>& constant, std::vector<const tir::Var*>& loaded, Workspace& workspace)
      : StmtExprMutator(workspace), constant_(constant), loaded_(loaded) {}

 protected:
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    if (constant_.contains(load->buffer->data)) return StmtExprMutator::VisitBufferLoad(load);
    const tir::Var*& var = vars_[load];
    if (!var) {
      var = workspace().NewPrimVar(load->buffer->name, load->dtype);
      loaded_.push_back(var);
    }
    return var;
  }

 private:
  const LookupSet<const tir::Var*>& constant_;
  std::vector<const tir::Var*>& loaded_;
  LookupMap<const tir::BufferLoad*, const tir::Var*> vars_;
};

// Collects what the value of an expression depends on: variables and the elements that it reads.
class ValueParts : public tir::ExprVisitor {
 public:
  // Not known if they are of memory that the actors do not share.
  static std::vector<const PrimExpr*> Of(const PrimExpr* value, Actors::Kind actors, bool& is_known) {
    ValueParts parts(actors);
    parts.VisitExpr(value);
    is_known = parts.is_known_;
    return std::move(parts.parts_);
  }

 protected:
  void VisitVar(const tir::Var* var) override { parts_.push_back(var); }
  void VisitSizeVar(const tir::SizeVar* var) override { parts_.push_back(var); }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    const StorageRank rank = StorageScope::Of(load->buffer->scope()).rank;
    is_known_ &= rank == StorageRank::kGlobal || (rank == StorageRank::kShared && actors_ == Actors::Kind::kThreads);
    ExprVisitor::VisitBufferLoad(load);
  }
  void VisitRamp(const tir::Ramp* ramp) override {
    parts_.push_back(ramp->base);
    parts_.push_back(ramp->stride);
  }
  void VisitLet(const tir::Let*) override { is_known_ = false; }

 private:
  explicit ValueParts(Actors::Kind actors) : actors_(actors) {}

  const Actors::Kind actors_;
  std::vector<const PrimExpr*> parts_;
  bool is_known_ = true;
};

// One side of a query, which has its own variables for loops that are not in step.
class SideBuilder {
 public:
  SideBuilder(const std::vector<Loop>& loops, const LookupSet<const tir::Var*>& constant, const Actors& actors,
              Side& side, std::vector<Variable>& common, Workspace& workspace)
      : loops_(loops),
        workspace_(workspace),
        make_(workspace),
        actors_(actors),
        side_(side),
        common_(common),
        loads_(constant, side.loaded, workspace) {}

  const PrimExpr* Of(const PrimExpr* expr) { return tir::Substitute(loads_.VisitExpr(expr), values_, workspace_); }

  void AddLoops(const std::vector<uint32_t>& path, const std::vector<Reach::InRound>& rounds) {
    for (const uint32_t id : path) {
      if (loops_[id].var) AddLoop(id, rounds);
    }
  }

  void AddLane(const Loop& lane) { AddVariable(lane); }

  // The position of the thread on the axis; if it is not known, one of its own.
  const PrimExpr* Position(const Loop& axis, const std::vector<uint32_t>& path) {
    for (const uint32_t id : path) {
      if (loops_[id].tag == axis.tag) return Of(loops_[id].var);
    }
    return AddVariable(axis);
  }

  void Guard(const PrimExpr* condition) { side_.guards.push_back(Of(condition)); }
  Side& side() { return side_; }

 private:
  void AddLoop(uint32_t id, const std::vector<Reach::InRound>& rounds) {
    const Loop& loop = loops_[id];
    if (loop.kind == Loop::Kind::kThread || loop.kind == Loop::Kind::kBlock) return AddAxis(loop, id);
    const auto round = std::ranges::find(rounds, id, &Reach::InRound::loop);
    const PrimExpr* one = make_.Const(1, loop.var->dtype);
    const PrimExpr* step = loop.step ? loop.step : one;
    const int64_t offset = round == rounds.end() ? 0 : round->offset;
    const PrimExpr* distance = make_.Mul(step, make_.Const(offset, step->dtype));
    if (round != rounds.end() && round->round != Round::kSome) {
      const PrimExpr* last = make_.Mul(make_.FloorDiv(make_.Sub(loop.extent, one), step), step);
      const PrimExpr* number = round->round == Round::kFirst ? distance : make_.Add(last, distance);
      values_[loop.var] = Of(make_.Add(loop.min, number));
      return GuardRange(number, loop.extent);
    }
    if (!IsInStep(id)) {
      AddVariable(loop);
      return;
    }
    const tir::Var* var = CommonVar(loop);
    values_[loop.var] = var;
    if (offset == 0) return;
    values_[loop.var] = make_.Add(var, Of(distance));
    GuardRange(make_.Sub(loop.var, loop.min), loop.extent);
  }

  // An iteration exists.
  void GuardRange(const PrimExpr* number, const PrimExpr* extent) {
    Guard(make_.Binary(NodeKind::kGE, number, make_.Const(0, number->dtype)));
    Guard(make_.Binary(NodeKind::kLT, number, extent));
  }

  // Loops in each other on one axis have the same variable.
  void AddAxis(const Loop& loop, uint32_t id) {
    const auto outer = std::ranges::find(axes_, loop.tag, &Loop::tag);
    if (outer != axes_.end()) {
      const PrimExpr* value = *values_.Find(outer->var);
      values_[loop.var] = value;
      return;
    }
    axes_.push_back(loop);
    if (IsInStep(id)) {
      values_[loop.var] = CommonVar(loop);
    } else {
      AddVariable(loop);
    }
  }

  bool IsInStep(uint32_t id) const {
    const Loop::Kind kind = loops_[id].kind;
    const bool is_of_block = actors_.kind == Actors::Kind::kThreads || actors_.kind == Actors::Kind::kCopies;
    if (is_of_block && kind == Loop::Kind::kThread) return false;
    // All accesses of a kernel are in the same block.
    if (is_of_block && kind == Loop::Kind::kBlock) return true;
    return Contains(actors_.in_step, id);
  }

  // Blocks have one variable for each axis.
  const tir::Var* CommonVar(const Loop& loop) {
    const Loop* known = &loop;
    if (loop.kind == Loop::Kind::kBlock && actors_.kernel) {
      const auto axis = std::ranges::find(actors_.kernel->axes, loop.tag, &Loop::tag);
      if (axis != actors_.kernel->axes.end()) known = &*axis;
    }
    if (std::ranges::find(common_, known->var, &Variable::var) == common_.end()) {
      common_.push_back({known->var, Of(known->min), Of(known->extent), NameOf(*known)});
      GuardStep(known->var, *known);
    }
    return known->var;
  }

  const tir::Var* AddVariable(const Loop& loop) {
    const tir::Var* copy = workspace_.NewPrimVar(loop.var->name, loop.var->dtype);
    side_.vars.push_back({copy, Of(loop.min), Of(loop.extent), NameOf(loop)});
    GuardStep(copy, loop);
    values_[loop.var] = copy;
    return copy;
  }

  void GuardStep(const tir::Var* var, const Loop& loop) {
    if (!loop.step) return;
    const PrimExpr* rest = make_.FloorMod(make_.Sub(var, Of(loop.min)), Of(loop.step));
    side_.guards.push_back(make_.Binary(NodeKind::kEQ, rest, make_.Const(0, rest->dtype)));
  }

  static std::string_view NameOf(const Loop& loop) { return loop.tag.empty() ? loop.var->name : loop.tag; }

  const std::vector<Loop>& loops_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  const Actors& actors_;
  Side& side_;
  std::vector<Variable>& common_;
  LoadReplacer loads_;
  std::vector<Loop> axes_;  // around the access
  tir::VarValues values_;
};

// An axis of threads: its extent and the positions of two threads.
struct ThreadAxis {
  const PrimExpr* extent;
  const PrimExpr* positions[2];
};

// Threads are numbered with threadIdx.x the fastest, and divided into warps in this order.
const PrimExpr* WarpOf(const std::map<int, ThreadAxis>& threads, int side, int64_t warp_size,
                       const arith::PrimBuilder& make) {
  const PrimExpr* number = make.Int(0);
  const PrimExpr* stride = make.Int(1);
  for (const auto& [dim, axis] : threads) {
    number = make.Add(number, make.Mul(axis.positions[side], stride));
    stride = make.Mul(stride, axis.extent);
  }
  return make.FloorDiv(number, make.Const(warp_size, number->dtype));
}

// Says who the actors are. `alike` is what must be the same for both if they share the memory. Returns false if they do
// not.
bool AddActors(const Access& access, const Actors& actors, const Accesses& accesses, int64_t warp_size,
               const arith::PrimBuilder& make, SideBuilder (&sides)[2], std::vector<const PrimExpr*> (&alike)[2]) {
  const uint32_t depth = accesses.AllocationDepth(access.data);
  const auto is_inside = [&](uint32_t place) { return depth > place; };
  if (actors.kind == Actors::Kind::kIterations) {
    const auto place = std::ranges::find(access.loops, actors.loop) - access.loops.begin();
    if (is_inside(static_cast<uint32_t>(place))) return false;
    const tir::Var* var = accesses.loops[actors.loop].var;
    for (SideBuilder& side : sides) side.side().actor.push_back(side.Of(var));
    return true;
  }
  const StorageScope scope = StorageScope::Of(access.data->pointer ? access.data->pointer->scope : "");
  const bool is_own = actors.kind == Actors::Kind::kCopies;
  const auto kind = actors.kind == Actors::Kind::kBlocks ? Loop::Kind::kBlock : Loop::Kind::kThread;
  std::map<int, ThreadAxis> threads;
  for (const Loop& axis : actors.kernel->axes) {
    if (axis.kind != kind) continue;
    bool shares = IsSharedBy(scope, ThreadTag::Of(axis.tag));
    for (uint32_t place = 0; scope.rank == StorageRank::kGlobal && place < access.loops.size(); ++place)
      shares &= accesses.loops[access.loops[place]].tag != axis.tag || !is_inside(place);
    ThreadAxis& thread = threads[ThreadTag::Of(axis.tag).dim];
    thread.extent = axis.extent;
    for (int i = 0; i < 2; ++i) {
      thread.positions[i] = sides[i].Position(axis, access.loops);
      (shares && !is_own ? sides[i].side().actor : alike[i]).push_back(thread.positions[i]);
    }
  }
  if (actors.kind == Actors::Kind::kCopies) {
    for (int i = 0; i < 2; ++i) sides[i].side().actor = {make.Int(i)};
  }
  if (sides[0].side().actor.empty()) return false;
  for (int i = 0; i < 2 && actors.warps != Actors::Warps::kAny; ++i) {
    const PrimExpr* warp = WarpOf(threads, i, warp_size, make);
    if (actors.warps == Actors::Warps::kSame)
      alike[i].push_back(warp);
    else
      sides[i].side().actor = {warp};
  }
  return true;
}

void AddElements(const Access& a, const Access& b, Workspace& workspace, SideBuilder& first, SideBuilder& second,
                 Query& query) {
  const arith::PrimBuilder make(workspace);
  const Access* accesses[] = {&a, &b};
  SideBuilder* sides[] = {&first, &second};
  const bool by_index = a.buffer == b.buffer ||
                        (a.buffer && b.buffer && a.dtype == b.dtype && DeepEqual(a.buffer->shape, b.buffer->shape));
  const bool same_size = a.dtype.bytes() == b.dtype.bytes();
  for (int i = 0; i < 2; ++i) {
    const Access& access = *accesses[i];
    std::vector<const PrimExpr*>& element = sides[i]->side().element;
    if (by_index && a.indices.size() == b.indices.size()) {
      for (const PrimExpr* index : access.indices) element.push_back(sides[i]->Of(index));
    } else if (const PrimExpr* offset = OffsetOf(access, make)) {
      if (same_size) {
        element.push_back(sides[i]->Of(offset));
        continue;
      }
      const PrimExpr* size = make.Int(std::max<int64_t>(1, access.dtype.bytes()));
      const tir::Var* byte = workspace.NewPrimVar("byte", DataType::Int(64));
      sides[i]->AddLane({.var = byte, .min = make.Int(0), .extent = size});
      element.push_back(make.Add(make.Mul(sides[i]->Of(offset), size), sides[i]->Of(byte)));
    }
  }
  if (query.first.element.size() == query.second.element.size() && !query.first.element.empty()) return;
  query.first.element.clear();
  query.second.element.clear();
  if (query.caveat.empty()) query.caveat = "the layout of the buffer is not known";
}

// Returns false if all store the same value.
bool AddValues(const Access& access, bool is_same, Actors::Kind actors, SideBuilder& first, SideBuilder& second,
               Query& query) {
  if (actors == Actors::Kind::kCopies || !is_same || (!access.value && !access.has_unknown_value)) return true;
  bool is_known = !access.has_unknown_value;
  std::vector<const PrimExpr*> parts;
  if (is_known) parts = ValueParts::Of(access.value, actors, is_known);
  if (!is_known) {
    query.caveat = "the values that are stored may be the same";
    return true;
  }
  for (const PrimExpr* part : parts) {
    first.side().value.push_back(first.Of(part));
    second.side().value.push_back(second.Of(part));
  }
  return !parts.empty();  // else all store one constant
}

int64_t WarpSizeOf(const PrimFunc& func) {
  constexpr int64_t kUsual = 32;
  const DictAttr* target = TargetOf(func);
  const auto* size = target ? As<IntAttr>(target->Find("thread_warp_size")) : nullptr;
  return size && size->value > 1 ? size->value : kUsual;
}

}  // namespace

QueryBuilder::QueryBuilder(const PrimFunc& func, const Accesses& accesses, Workspace& workspace)
    : accesses_(accesses), workspace_(workspace), warp_size_(WarpSizeOf(func)) {
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    constant_.insert(buffer->data);
    for (const PrimExpr* dimension : buffer->shape) {
      if (const auto* var = As<tir::Var>(dimension)) dimensions_.insert(var);
    }
  }
  for (const Access& access : accesses.accesses) {
    if (access.kind != Access::Kind::kRead) constant_.erase(access.data);
  }
}

bool QueryBuilder::Build(const Reach& first, const Reach& second, const Actors& actors, Query& query) const {
  const Access& a = accesses_.accesses[first.access];
  const Access& b = accesses_.accesses[second.access];
  SideBuilder sides[] = {{accesses_.loops, constant_, actors, query.first, query.common, workspace_},
                         {accesses_.loops, constant_, actors, query.second, query.common, workspace_}};
  const Access* accesses[] = {&a, &b};
  const Reach* reaches[] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    sides[i].AddLoops(accesses[i]->loops, reaches[i]->rounds);
    for (const Loop& lane : accesses[i]->lanes) sides[i].AddLane(lane);
    for (const PrimExpr* guard : accesses[i]->guards) sides[i].Guard(guard);
  }
  std::vector<const PrimExpr*> alike[2];
  if (!AddActors(a, actors, accesses_, warp_size_, arith::PrimBuilder(workspace_), sides, alike)) return false;

  for (const Access* access : accesses) {
    if (!access->unknown.empty()) query.caveat = access->unknown;
  }
  const auto is_free = [&](uint32_t loop) {
    const bool is_axis =
        accesses_.loops[loop].kind == Loop::Kind::kThread || accesses_.loops[loop].kind == Loop::Kind::kBlock;
    return !is_axis && Contains(b.loops, loop) && !Contains(actors.in_step, loop);
  };
  if (actors.kind == Actors::Kind::kCopies && std::ranges::any_of(a.loops, is_free))
    query.caveat = "its asynchronous copies are begun in a loop with other accesses";
  query.is_symmetric = actors.kind != Actors::Kind::kCopies && first.access == second.access && first.rounds.empty() &&
                       second.rounds.empty();
  AddElements(a, b, workspace_, sides[0], sides[1], query);
  for (int i = 0; i < 2; ++i) {
    std::vector<const PrimExpr*>& element = sides[i].side().element;
    element.insert(element.end(), alike[i].begin(), alike[i].end());
  }
  if (!AddValues(a, a.stmt == b.stmt && first.access == second.access, actors.kind, sides[0], sides[1], query))
    return false;
  AddSizes(query);
  return true;
}

void QueryBuilder::AddSizes(Query& query) const {
  LookupSet<const tir::Var*> known;
  for (const auto* list : {&query.common, &query.first.vars, &query.second.vars}) {
    for (const Variable& variable : *list) known.insert(variable.var);
  }
  for (const auto* list : {&query.first.loaded, &query.second.loaded}) {
    for (const tir::Var* var : *list) known.insert(var);
  }
  const auto add = [&](const PrimExpr* expr) {
    tir::UsesVar(expr, [&](const tir::Var* var) {
      if (var->dtype.is_integer() && var->dtype.is_scalar() && known.insert(var)) query.sizes.push_back(var);
      return false;
    });
  };
  for (const auto* list : {&query.common, &query.first.vars, &query.second.vars}) {
    for (const Variable& variable : *list) {
      add(variable.min);
      add(variable.extent);
    }
  }
  for (const Side* side : {&query.first, &query.second}) {
    for (const auto* list : {&side->guards, &side->element, &side->actor, &side->value}) {
      for (const PrimExpr* expr : *list) add(expr);
    }
  }
  const arith::PrimBuilder make(workspace_);
  for (const tir::Var* size : query.sizes) {
    if (dimensions_.contains(size) || size->is_size_var() || size->context_owned())
      query.first.guards.push_back(make.Binary(NodeKind::kGE, size, make.Const(1, size->dtype)));
  }
}

Query QueryBuilder::Build(const Divergence& divergence, const Kernel& kernel) const {
  const Actors actors = {.kind = Actors::Kind::kThreads, .kernel = &kernel, .in_step = divergence.in_step};
  Query query;
  SideBuilder sides[] = {{accesses_.loops, constant_, actors, query.first, query.common, workspace_},
                         {accesses_.loops, constant_, actors, query.second, query.common, workspace_}};
  for (SideBuilder& side : sides) {
    side.AddLoops(divergence.loops, {});
    for (const PrimExpr* guard : divergence.guards) side.Guard(guard);
    side.side().actor.push_back(side.Of(divergence.condition));
  }
  AddSizes(query);
  return query;
}

}  // namespace iropt::races
