#include "analysis/tir/races/mbarriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::races {

namespace {

// Adds the tags of the axes of threads whose numbers the condition fixes; false if it may depend on something else.
bool AddFixedAxes(const PrimExpr* condition, const Surroundings& at, const std::vector<Loop>& loops,
                  std::vector<std::string_view>& tags) {
  const auto* both = As<tir::BinaryExpr>(condition);
  if (both && both->kind == NodeKind::kAnd)
    return AddFixedAxes(both->a, at, loops, tags) && AddFixedAxes(both->b, at, loops, tags);
  if (!both || both->kind != NodeKind::kEQ) return false;
  const auto* var = As<tir::Var>(both->a);
  const int64_t* number = arith::AsInt(both->b);
  if (var == nullptr || number == nullptr) return false;
  for (const uint32_t id : at.path) {
    const Loop& loop = loops[id];
    const int64_t* extent = loop.var == var ? arith::AsInt(loop.extent) : nullptr;
    const bool is_axis = loop.kind == Loop::Kind::kThread && arith::IsInt(loop.min, 0);
    if (!extent || !is_axis || *number < 0 || *number >= *extent) continue;
    tags.push_back(loop.tag);
    return true;
  }
  return false;
}

}  // namespace

bool Mbarriers::IsOne(const tir::Call& call) {
  return IsOp(call.op, op::kTirCreateBarriers) || IsOp(call.op, op::kTirPtxInitBarrierThreadCount) ||
         IsOp(call.op, op::kTirPtxArriveBarrier) || IsOp(call.op, op::kTirPtxCpAsyncBarrier) ||
         IsOp(call.op, op::kTirPtxWaitBarrier);
}

std::optional<Mbarriers::Action> Mbarriers::Visit(const tir::Call& call, const Surroundings& at,
                                                  const std::vector<Loop>& loops) {
  const int64_t* number = call.args.empty() ? nullptr : arith::AsInt(call.args[0]);
  if (number == nullptr) return Refuse(call, "its number is not a constant");
  if (IsOp(call.op, op::kTirCreateBarriers)) return Create(call, *number, at);
  if (!created_ || *number < 0 || *number >= num_created_)
    return Refuse(call, "no T.create_barriers before it makes that barrier");
  State& state = states_[*number];
  if (IsOp(call.op, op::kTirPtxInitBarrierThreadCount)) return Initialize(call, state, at, loops);
  if (!at.is_straight || !at.guards.empty()) return Refuse(call, "it is in a loop or under a condition");
  if (!state.initialized || state.epoch == epoch_)
    return Refuse(call, "no barrier of all threads is between it and T.ptx_init_barrier_thread_count");
  if (IsOp(call.op, op::kTirPtxWaitBarrier)) {
    if (!state.has_arrivals) return Refuse(call, "it is waited for before threads arrive");
    // The second phase does not end.
    if (std::exchange(state.is_awaited, true)) return std::nullopt;
    const size_t num_ordered = state.num_before;
    for (auto& [other, open] : states_) open.num_before -= std::min(open.num_before, num_ordered);
    return Action{Action::Kind::kWait, *number, num_ordered};
  }
  if (state.has_arrivals) return Refuse(call, "threads have arrived before");
  if (IsOp(call.op, op::kTirPtxCpAsyncBarrier)) return Action{Action::Kind::kLeaveCopies, *number};
  state.has_arrivals = true;
  state.num_before = at.num_accesses;
  return Action{Action::Kind::kArrive, *number};
}

std::optional<Mbarriers::Action> Mbarriers::Create(const tir::Call& call, int64_t count, const Surroundings& at) {
  if (created_) return Refuse(call, "there are several T.create_barriers");
  if (!at.is_straight || !at.guards.empty()) return Refuse(call, "it is in a loop or under a condition");
  created_ = &call;
  num_created_ = count;
  created_epoch_ = epoch_;
  return std::nullopt;
}

std::optional<Mbarriers::Action> Mbarriers::Initialize(const tir::Call& call, State& state, const Surroundings& at,
                                                       const std::vector<Loop>& loops) {
  const int64_t* count = call.args.size() > 1 ? arith::AsInt(call.args[1]) : nullptr;
  if (count == nullptr) return Refuse(call, "the number of arrivals is not a constant");
  if (state.initialized) return Refuse(call, "it is initialized several times");
  // Each thread clears all barriers in T.create_barriers.
  if (created_epoch_ == epoch_) return Refuse(call, "no barrier of all threads is between it and T.create_barriers");
  if (!at.is_straight) return Refuse(call, "it is in a loop");
  for (const PrimExpr* guard : at.guards) {
    if (!AddFixedAxes(guard, at, loops, state.fixed))
      return Refuse(call, "it is not known that one thread initializes it");
  }
  state.initialized = &call;
  state.count = *count;
  state.epoch = epoch_;
  return std::nullopt;
}

void Mbarriers::EndPhase() {
  for (auto& [number, state] : states_) state.num_before = 0;
}

void Mbarriers::Barrier(const tir::Call& call, const Surroundings& at) {
  if (at.is_straight && at.guards.empty()) {
    ++epoch_;
    return;
  }
  const bool is_open = std::ranges::any_of(
      states_, [](const auto& entry) { return entry.second.has_arrivals && !entry.second.is_awaited; });
  if (is_open) Refuse(call, "threads have arrived at it, and another barrier is in a loop or under a condition");
}

void Mbarriers::AddTo(Kernel& kernel, std::span<const Loop> loops) const {
  std::vector<Problem> problems = problems_;
  std::map<std::string_view, int64_t> extents;
  int64_t num_threads = 1;
  for (const Loop& loop : loops) {
    if (loop.kind != Loop::Kind::kThread) continue;
    const int64_t* extent = arith::AsInt(loop.extent);
    const auto [known, is_new] = extents.try_emplace(loop.tag, extent ? *extent : -1);
    if (!extent || *extent <= 0 || known->second != *extent) {
      if (created_) problems.push_back({created_, "the number of threads is not known"});
      break;
    }
    if (is_new && __builtin_mul_overflow(num_threads, *extent, &num_threads)) num_threads = -1;
  }
  for (const auto& [number, state] : states_) {
    if (!state.initialized) continue;
    for (const auto& [tag, extent] : extents) {
      if (extent != 1 && std::ranges::find(state.fixed, tag) == state.fixed.end())
        problems.push_back({state.initialized, "several threads initialize it"});
    }
    if (state.count != num_threads) {
      problems.push_back({state.initialized,
                          fmt::format("it counts {} arrivals, and a block has {} threads", state.count, num_threads)});
    }
  }
  // One reason is enough.
  if (problems.empty()) return;
  kernel.has_unknown_order = true;
  kernel.unknown.push_back(
      {problems[0].at, fmt::format("an mbarrier is not known to order threads: {}", problems[0].text)});
}

}  // namespace iropt::races
