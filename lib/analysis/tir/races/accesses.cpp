#include "analysis/tir/races/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "analysis/tir/races/allocations.h"
#include "analysis/tir/races/copies.h"
#include "analysis/tir/races/lanes.h"
#include "analysis/tir/races/mbarriers.h"
#include "analysis/tir/races/parts.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/uses_any_of.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/ir/tir/written_values.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt::races {

uint32_t Accesses::AllocationDepth(const tir::Var* data) const {
  const auto found = std::ranges::find(allocations, data, [](const auto& entry) { return entry.first; });
  return found == allocations.end() ? 0 : found->second;
}

namespace {

using Round = Reach::Round;

// What a part of the code does before its first barrier and after its last one; without a barrier, all is in `tail`.
struct Region {
  bool has_barrier = false;
  std::vector<Reach> head;
  std::vector<Reach> tail;
};

bool IsAtomic(const tir::Call& call) {
  if (IsOp(call.op, op::kTirAtomicAdd)) return true;
  const auto* name = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
  return IsOp(call.op, op::kTirCallExtern) && name && name->value.starts_with("atomic");
}

void Append(std::vector<Reach>& to, const std::vector<Reach>& from) { to.insert(to.end(), from.begin(), from.end()); }

std::vector<Reach> InRound(std::vector<Reach> reaches, uint32_t loop, Round round, int64_t offset = 0) {
  for (Reach& reach : reaches) reach.rounds.push_back({loop, round, offset});
  return reaches;
}

bool IsPositive(const PrimExpr* extent) {
  const int64_t* value = arith::AsInt(extent);
  return value && *value > 0;
}

// What is not modelled, so that nothing is known about its accesses, or about the order of those of threads.
void AddUnknown(const tir::Call& call, bool barriers_to_come, Kernel& kernel) {
  const auto* op = As<Op>(call.op);
  const bool is_product = IsOp(call.op, op::kTirPtxMma) || IsOp(call.op, op::kTirPtxMmaSp);
  if (!op || !op->name.starts_with("tir.ptx_") || is_product) return;
  kernel.unknown.push_back({&call, fmt::format("what {} does is not modelled", op->name)});
  const bool arrives = IsOp(call.op, op::kTirPtxArriveBarrierExpectTx) || IsOp(call.op, op::kTirPtxCpAsyncBulk);
  if (arrives && !barriers_to_come) kernel.has_unknown_order = true;
}

// What is known of the kernel that is visited.
struct InKernel {
  CopyRecorder copies = {};
  Mbarriers mbarriers = {};
  int depth = 0;            // of regions
  size_t outer_guards = 0;  // guards around it
};

Surroundings Around(const Kernel& kernel, const InKernel& here, std::span<const uint32_t> path,
                    std::span<const PrimExpr* const> guards, std::span<const Loop> loops) {
  path = path.subspan(kernel.around.size());
  guards = guards.subspan(here.outer_guards);
  const auto is_axis = [&](uint32_t loop) {
    return loops[loop].kind == Loop::Kind::kBlock || loops[loop].kind == Loop::Kind::kThread;
  };
  const bool is_straight = std::ranges::all_of(path, is_axis) && (here.depth == 1 || !guards.empty());
  return {.is_straight = is_straight, .guards = guards, .path = path};
}

// Returns whether several threads or iterations may see the memory.
bool IsOfInterest(const tir::Var* data, bool is_in_kernel, std::span<const uint32_t> path,
                  std::span<const Loop> loops) {
  const auto is_concurrent = [&](uint32_t loop) { return loops[loop].kind == Loop::Kind::kConcurrent; };
  if (!is_in_kernel && std::ranges::none_of(path, is_concurrent)) return false;
  // Memory of one thread is shared by the iterations of its vectorized loops.
  return RankOf(data) != StorageRank::kOther || !is_in_kernel;
}

class Collector : public tir::StmtExprVisitor {
 public:
  Collector(Barriers barriers, bool barriers_to_come, Workspace& workspace)
      : barriers_(barriers),
        barriers_to_come_(barriers_to_come),
        workspace_(workspace),
        make_(workspace),
        values_(workspace) {}

  Accesses Collect(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) known_data_.insert(buffer->data);
    }
    for (const tir::Var* param : func.params) known_data_.insert(param);
    VisitStmt(func.body);
    result_.allocations = allocations_.Depths();
    return std::move(result_);
  }

 protected:
  // ---- Loops and threads

  void VisitFor(const tir::For* loop) override {
    VisitExpr(loop->min);
    VisitExpr(loop->extent);
    Loop entry = {.var = loop->loop_var, .min = Value(loop->min), .extent = Value(loop->extent), .at = loop};
    if (loop->step) entry.step = Value(loop->step);
    // A thread of a kernel runs a parallel loop as a serial one.
    const bool is_parallel = loop->for_kind == tir::ForKind::kParallel && !kernel_;
    if (is_parallel || loop->for_kind == tir::ForKind::kVectorized) entry.kind = Loop::Kind::kConcurrent;
    if (loop->thread_binding) entry.tag = loop->thread_binding->thread_tag;
    VisitLoop(entry, loop->body);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* axis = tir::ThreadAxisOf(*stmt)) {
      const Loop loop = {.var = axis->var,
                         .min = make_.Const(0, axis->var->dtype),
                         .extent = Value(stmt->value),
                         .tag = axis->thread_tag,
                         .at = stmt};
      return VisitLoop(loop, stmt->body);
    }
    in_kernel_.copies.Enter(*stmt);
    VisitStmt(stmt->body);
    in_kernel_.copies.Leave(*stmt);
  }

  void VisitWhile(const tir::While* loop) override {
    VisitExpr(loop->condition);
    guards_.push_back(Value(loop->condition));
    const PrimExpr* condition = guards_.back();
    InLoop({.at = loop}, loop->body, {condition});
    guards_.pop_back();
  }

  void VisitIfThenElse(const tir::IfThenElse* stmt) override {
    VisitExpr(stmt->condition);
    const PrimExpr* condition = Value(stmt->condition);
    const auto visit = [&](const PrimExpr* guard, const tir::Stmt* body) {
      in_kernel_.copies.BeginBranch();
      Region region = InRegion([&] { Guarded(guard, [&] { VisitStmt(body); }); });
      in_kernel_.copies.End();
      return region;
    };
    Region branches = visit(condition, stmt->then_case);
    if (stmt->else_case) {
      const Region other = visit(make_.Not(condition), stmt->else_case);
      branches.has_barrier |= other.has_barrier;
      Append(branches.head, other.has_barrier ? other.head : other.tail);
      Append(branches.tail, other.tail);
    }
    if (branches.has_barrier) AddDivergence(condition, stmt);
    AddRegion(branches, /*may_be_skipped=*/true);
  }

  void VisitAssertStmt(const tir::AssertStmt* assertion) override {
    VisitExpr(assertion->condition);
    Guarded(Value(assertion->condition), [&] { VisitStmt(assertion->body); });
  }

  void VisitBlockRealize(const tir::BlockRealize* realize) override {
    const tir::Block& block = *realize->block;
    bool accumulates = false;
    for (size_t i = 0; i < block.iter_vars.size(); ++i) {
      const tir::IterVar& axis = *block.iter_vars[i];
      const PrimExpr* value = Value(realize->iter_values[i]);
      accumulates |= axis.iter_type == tir::IterVarType::kCommReduce && tir::UsesAnyOf(axes_, value);
      Bind(axis.var, realize->iter_values[i]);
    }
    const tir::Block* outer = reduction_;
    const size_t outer_depth = reduction_depth_;
    if (accumulates) reduction_ = &block;
    reduction_depth_ = std::min(reduction_depth_, ReductionDepth(*realize));
    for (const tir::Buffer* buffer : block.alloc_buffers) {
      known_data_.insert(buffer->data);
      allocations_.AddOfBlock(buffer->data, path_.size());
    }
    for (const tir::MatchBufferRegion* match : block.match_buffers) {
      std::vector<const PrimExpr*> begin;
      for (const tir::Range* range : match->source->region) begin.push_back(Value(range->min));
      parts_.Add(match->buffer, match->source->buffer, std::move(begin));
    }
    Guarded(Value(realize->predicate), [&] {
      if (block.init) VisitStmt(block.init);
      VisitStmt(block.body);
    });
    reduction_ = outer;
    reduction_depth_ = outer_depth;
  }

  // ---- Definitions

  void VisitLetStmt(const tir::LetStmt* let) override {
    VisitExpr(let->value);
    if (!let->var->dtype.is_handle()) Bind(let->var, let->value);
    VisitStmt(let->body);
  }
  void VisitLet(const tir::Let* let) override {
    VisitExpr(let->value);
    Bind(let->var, let->value);
    VisitExpr(let->body);
  }
  void VisitAllocate(const tir::Allocate* allocate) override {
    AddAllocation(allocate->buffer_var);
    VisitStmt(allocate->body);
  }
  void VisitAllocateConst(const tir::AllocateConst* allocate) override {
    AddAllocation(allocate->buffer_var);
    VisitStmt(allocate->body);
  }

  // ---- Accesses

  void VisitEvaluate(const tir::Evaluate* evaluate) override {
    InStatement(evaluate, [&] { VisitExpr(evaluate->value); });
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    InStatement(store, [&] {
      VisitExpr(store->value);
      for (const PrimExpr* index : store->indices) VisitExpr(index);
      Lanes lanes(workspace_);
      Access access = Element(Access::Kind::kWrite, *store->buffer, store->indices, lanes, store);
      const PrimExpr* value = Value(store->value);
      access.value = lanes.var() ? lanes.Of(value) : value;
      access.has_unknown_value = !access.value;
      AddInLanes(std::move(access), store->predicate, lanes);
    });
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    ExprVisitor::VisitBufferLoad(load);
    Lanes lanes(workspace_);
    AddInLanes(Element(Access::Kind::kRead, *load->buffer, load->indices, lanes, load), load->predicate, lanes);
  }
  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirTvmStorageSync)) return VisitBarrier(*call);
    if (IsOp(call->op, op::kTirIfThenElse) && call->args.size() == 3) {
      VisitExpr(call->args[0]);
      const PrimExpr* condition = Value(call->args[0]);
      Guarded(condition, [&] { VisitExpr(call->args[1]); });
      return Guarded(make_.Not(condition), [&] { VisitExpr(call->args[2]); });
    }
    if (IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5) return VisitPointer(*call);
    if (IsOp(call->op, op::kTirPtxCommitGroup)) return in_kernel_.copies.Commit();
    if (IsOp(call->op, op::kTirPtxWaitGroup)) return in_kernel_.copies.Wait(*call->args[0]);
    if (IsOp(call->op, op::kTirPtxCpAsync) && call->args.size() >= 5) return VisitCopy(*call);
    if (kernel_ && !barriers_to_come_ && Mbarriers::IsOne(*call)) return VisitMbarrier(*call);
    if (kernel_) AddUnknown(*call, barriers_to_come_, *kernel_);
    for (const PrimExpr* arg : call->args) VisitArgument(*call, arg);
  }

 private:
  const PrimExpr* Value(const PrimExpr* expr) const { return values_.Of(expr); }
  void Bind(const tir::Var* var, const PrimExpr* value) {
    if (!values_.Bind(var, value)) too_big_ = "a value has too many parts";
  }

  template <class F>
  void Guarded(const PrimExpr* condition, F&& visit) {
    const bool is_guard = !arith::IsInt(condition, 1);
    if (is_guard) guards_.push_back(condition);
    visit();
    if (is_guard) guards_.pop_back();
  }

  template <class F>
  Region InRegion(F&& visit) {
    Region outer = std::exchange(region_, {});
    ++in_kernel_.depth;
    visit();
    --in_kernel_.depth;
    return std::exchange(region_, std::move(outer));
  }

  // What other statements access is ordered by barriers that are yet to come.
  template <class F>
  void InStatement(const tir::Stmt* stmt, F&& visit) {
    const tir::Stmt* outer = std::exchange(stmt_, stmt);
    if (kernel_ && barriers_to_come_) {
      const Region region = InRegion(visit);
      AddPhase(region.tail);
    } else {
      visit();
    }
    stmt_ = outer;
  }

  void VisitLoop(Loop loop, const tir::Stmt* body) {
    const ThreadTag tag = ThreadTag::Of(loop.tag);
    const bool is_axis = tag.rank != ThreadRank::kUnknown && tag.dim >= 0;
    if (!is_axis) return InLoop(loop, body, {loop.min, loop.extent});
    loop.kind = tag.rank == ThreadRank::kBlock ? Loop::Kind::kBlock : Loop::Kind::kThread;
    axes_.insert(loop.var);
    if (kernel_) return InAxis(loop, body);
    Kernel kernel = {.around = path_, .at = loop.at};
    kernel_ = &kernel;
    InKernel around = std::exchange(in_kernel_, {.outer_guards = guards_.size()});
    const size_t first_loop = result_.loops.size();
    const Region region = InRegion([&] { InAxis(loop, body); });
    if (region.has_barrier) AddPhase(region.head);
    AddPhase(region.tail);
    if (!barriers_to_come_) in_kernel_.copies.AddTo(kernel, result_.loops);
    in_kernel_.mbarriers.AddTo(kernel, std::span(result_.loops).subspan(first_loop));
    in_kernel_ = std::move(around);
    kernel_ = nullptr;
    result_.kernels.push_back(std::move(kernel));
  }

  void InAxis(const Loop& loop, const tir::Stmt* body) {
    if (std::ranges::find(kernel_->axes, loop.tag, &Loop::tag) == kernel_->axes.end()) kernel_->axes.push_back(loop);
    PushLoop(loop);
    VisitStmt(body);
    path_.pop_back();
  }

  uint32_t PushLoop(const Loop& loop) {
    const auto id = static_cast<uint32_t>(result_.loops.size());
    result_.loops.push_back(loop);
    path_.push_back(id);
    if (loop.kind == Loop::Kind::kConcurrent) result_.concurrent.push_back({id, {}});
    return id;
  }

  // `uniform`: what must be the same for all threads if there is a barrier in the loop.
  void InLoop(const Loop& loop, const tir::Stmt* body, const std::vector<const PrimExpr*>& uniform) {
    uint32_t id = 0;
    Region region = InRegion([&] {
      id = PushLoop(loop);
      in_kernel_.copies.BeginLoop(id);
      VisitStmt(body);
      in_kernel_.copies.End();
    });
    if (region.has_barrier) {
      std::vector<Reach> between = region.tail;
      Append(between, loop.var ? InRound(region.head, id, Round::kSome, 1) : region.head);
      AddPhase(std::move(between));
      if (loop.var) {
        region.head = InRound(std::move(region.head), id, Round::kFirst);
        region.tail = InRound(std::move(region.tail), id, Round::kLast);
      }
    }
    path_.pop_back();
    if (region.has_barrier) {
      for (const PrimExpr* expr : uniform) AddDivergence(expr, loop.at);
    }
    AddRegion(region, !loop.var || !IsPositive(loop.extent));
  }

  // The code of the region follows.
  void AddRegion(const Region& region, bool may_be_skipped) {
    if (!region.has_barrier) return Append(region_.tail, region.tail);
    std::vector<Reach> before = region_.tail;
    std::vector<Reach> joint = before;
    Append(joint, region.head);
    EndPhase(std::move(joint));
    region_.tail = region.tail;
    if (may_be_skipped) Append(region_.tail, before);
  }

  void EndPhase(std::vector<Reach> reaches) {
    if (region_.has_barrier)
      AddPhase(std::move(reaches));
    else
      region_.head = std::move(reaches);
    region_.has_barrier = true;
    region_.tail.clear();
  }

  void AddPhase(std::vector<Reach> reaches) {
    if (kernel_ && !reaches.empty()) kernel_->phases.push_back({std::move(reaches), path_});
  }
  void AddDivergence(const PrimExpr* expr, const Node* at) {
    if (kernel_ && !arith::AsInt(expr)) kernel_->divergences.push_back({expr, guards_, path_, path_, at});
  }

  void VisitBarrier(const tir::Call& call) {
    const auto* scope = call.args.empty() ? nullptr : As<tir::StringImm>(call.args[0]);
    const bool is_of_warp = scope && scope->value == "warp";
    if (kernel_ && is_of_warp) kernel_->has_warp_barriers = true;
    if (kernel_ && !barriers_to_come_ && (!is_of_warp || barriers_ == Barriers::kWarp)) {
      EndPhase(region_.tail);
      in_kernel_.mbarriers.EndPhase();
    }
    if (!is_of_warp) in_kernel_.copies.Barrier();
    if (!is_of_warp && kernel_)
      in_kernel_.mbarriers.Barrier(call, Around(*kernel_, in_kernel_, path_, guards_, result_.loops));
  }

  // What is between an arrival and the wait for it may happen at the same time as what follows.
  void VisitMbarrier(const tir::Call& call) {
    Surroundings at = Around(*kernel_, in_kernel_, path_, guards_, result_.loops);
    at.num_accesses = region_.tail.size();
    const auto action = in_kernel_.mbarriers.Visit(call, at, result_.loops);
    if (!action) return;
    in_kernel_.copies.Use(*action);
    if (action->kind != Mbarriers::Action::Kind::kWait) return;
    const auto after = region_.tail.begin() + static_cast<ptrdiff_t>(action->num_ordered);
    std::vector<Reach> both(after, region_.tail.end());
    EndPhase(region_.tail);
    region_.tail = std::move(both);
  }

  void AddAllocation(const tir::Var* data) {
    known_data_.insert(data);
    allocations_.Add(data, path_.size());
  }

  // The number of loops around those over which the block accumulates; kNoReduction if it does not.
  size_t ReductionDepth(const tir::BlockRealize& realize) {
    size_t depth = kNoReduction;
    for (size_t i = 0; i < realize.iter_values.size(); ++i) {
      if (realize.block->iter_vars[i]->iter_type != tir::IterVarType::kCommReduce) continue;
      const PrimExpr* value = Value(realize.iter_values[i]);
      for (size_t place = 0; place < std::min(depth, path_.size()); ++place) {
        const tir::Var* var = result_.loops[path_[place]].var;
        if (var && tir::UsesVar(value, var)) depth = place;
      }
    }
    return depth;
  }

  Access Element(Access::Kind kind, const tir::Buffer& buffer, List<const PrimExpr*> indices, Lanes& lanes,
                 const Node* at) {
    Access access = {.kind = kind, .buffer = &buffer, .data = buffer.data, .dtype = buffer.dtype, .at = at};
    for (const PrimExpr* index : indices) {
      const PrimExpr* scalar = lanes.Of(Value(index));
      if (scalar) access.indices.push_back(scalar);
      if (!scalar) access.unknown = "the index of a vector is not a ramp";
    }
    if (access.unknown.empty()) parts_.FindWhole(access, make_);
    return access;
  }

  // The predicate is null or a vector of conditions.
  void AddInLanes(Access access, const PrimExpr* predicate, Lanes& lanes) {
    const PrimExpr* condition = predicate ? lanes.Of(Value(predicate)) : nullptr;
    if (predicate && !condition) access.unknown = "the condition on its lanes has another form";
    if (lanes.var()) {
      const PrimExpr* first = make_.Const(0, lanes.var()->dtype);
      access.lanes.push_back({.var = lanes.var(), .min = first, .extent = lanes.count()});
    }
    if (!condition) return Add(std::move(access));
    Guarded(condition, [&] { Add(std::move(access)); });
  }

  void Add(Access access) {
    allocations_.AddUse(access, path_, reduction_depth_);
    if (!IsOfInterest(access.data, kernel_ != nullptr, path_, result_.loops)) return;
    if (kernel_ && !known_data_.contains(access.data))
      kernel_->unknown.push_back({access.at, fmt::format("the memory of '{}' is computed", access.data->name)});
    if (access.unknown.empty()) access.unknown = too_big_;
    access.guards = guards_;
    access.loops = path_;
    access.stmt = stmt_;
    access.reduction = reduction_;
    const auto id = static_cast<uint32_t>(result_.accesses.size());
    result_.accesses.push_back(std::move(access));
    for (auto& [loop, accesses] : result_.concurrent) {
      if (std::ranges::find(path_, loop) != path_.end()) accesses.push_back(id);
    }
    if (!kernel_) return;
    kernel_->accesses.push_back(id);
    in_kernel_.copies.Access(id);
    region_.tail.push_back({id});
  }

  // T.ptx_cp_async(type, to, to_offset, from, from_offset, bytes): offsets count elements of the pointers. Where its
  // condition does not hold, it stores zeros.
  void VisitCopy(const tir::Call& call) {
    ExprVisitor::VisitCall(&call);
    in_kernel_.copies.BeginCopy();
    for (const size_t first : {size_t{0}, size_t{2}}) {
      const auto* data = As<tir::Var>(call.args[first]);
      if (!data) continue;
      const DataType dtype = data->pointer && data->pointer->elem.bits != 0 ? data->pointer->elem : call.dtype;
      const PrimExpr* count = make_.FloorDiv(Value(call.args[4]), make_.Int(std::max<int64_t>(1, dtype.bytes())));
      const Access::Kind kind = first == 0 ? Access::Kind::kWrite : Access::Kind::kRead;
      Add(ElementsOf({.kind = kind, .data = data, .dtype = dtype, .at = &call}, call.args[first + 1], count));
    }
    in_kernel_.copies.EndCopy();
  }

  // The elements from the offset on.
  Access ElementsOf(Access access, const PrimExpr* offset, const PrimExpr* count) {
    const tir::Var* element = workspace_.NewPrimVar("element", offset->dtype);
    access.indices.push_back(make_.Add(Value(offset), element));
    access.lanes.push_back(
        {.var = element, .min = make_.Const(0, element->dtype), .extent = make_.Cast(element->dtype, Value(count))});
    return access;
  }

  // T.tvm_access_ptr(type, data, offset, extent, flags)
  void VisitPointer(const tir::Call& call) {
    ExprVisitor::VisitCall(&call);
    const auto* data = As<tir::Var>(call.args[1]);
    const int64_t* flags = arith::AsInt(call.args[4]);
    if (!data || !flags) return;
    Access access = ElementsOf({.kind = Access::Kind::kRead, .data = data, .dtype = call.args[0]->dtype, .at = &call},
                               call.args[2], call.args[3]);
    if ((*flags & 3) == 3 || (*flags & 2) != 0) access.kind = Access::Kind::kWrite;
    access.unknown = "it is accessed by an intrinsic";
    Add(std::move(access));
  }

  void VisitArgument(const tir::Call& call, const PrimExpr* arg) {
    const auto* address = As<tir::Call>(arg);
    const auto* load = address && IsOp(address->op, op::kTirAddressOf) && address->args.size() == 1
                           ? As<tir::BufferLoad>(address->args[0])
                           : nullptr;
    const auto* pointer = As<tir::Var>(arg);
    if (load) {
      for (const PrimExpr* index : load->indices) VisitExpr(index);
      Lanes lanes(workspace_);
      Access access = Element(Access::Kind::kWrite, *load->buffer, load->indices, lanes, address);
      if (IsAtomic(call))
        access.kind = Access::Kind::kAtomic;
      else
        access.unknown = "its address is passed on";
      Add(std::move(access));
    } else if (pointer && pointer->dtype.is_handle()) {
      const bool is_read = IsOp(call.op, op::kTirPtxLdmatrix) || IsOp(call.op, op::kTirTvmLoadMatrixSync);
      Add({.kind = is_read ? Access::Kind::kRead : Access::Kind::kWrite,
           .data = pointer,
           .at = &call,
           .unknown = "its address is passed on"});
    } else {
      VisitExpr(arg);
    }
  }

  const Barriers barriers_;
  const bool barriers_to_come_;
  Workspace& workspace_;
  const arith::PrimBuilder make_;
  Accesses result_;
  Allocations allocations_{result_.loops};
  Parts parts_;
  Kernel* kernel_ = nullptr;
  InKernel in_kernel_;
  Region region_;
  std::vector<uint32_t> path_;
  std::vector<const PrimExpr*> guards_;
  tir::WrittenValues values_;              // of bindings and of the axes of blocks
  std::string_view too_big_;               // why accesses are not known from now on
  LookupSet<const tir::Var*> axes_;        // of threads
  LookupSet<const tir::Var*> known_data_;  // pointers to memory of their own
  const tir::Stmt* stmt_ = nullptr;
  const tir::Block* reduction_ = nullptr;
  size_t reduction_depth_ = kNoReduction;  // the number of loops around those of a reduction
};

}  // namespace

Accesses CollectAccesses(const PrimFunc& func, Barriers barriers, bool barriers_to_come, Workspace& workspace) {
  return Collector(barriers, barriers_to_come, workspace).Collect(func);
}

}  // namespace iropt::races
