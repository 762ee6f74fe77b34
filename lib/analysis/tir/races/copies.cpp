#include "analysis/tir/races/copies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "iropt/arith/prim_builder.h"

namespace iropt::races {

namespace {

// More is not looked at.
constexpr int64_t kMaxIterations = 16;
constexpr int kMaxEvents = 20'000;

// -1 if it is not a constant.
int64_t CountOf(const PrimExpr& expr) {
  const int64_t* value = arith::AsInt(&expr);
  return value ? *value : -1;
}

}  // namespace

void CopyRecorder::Access(uint32_t access) {
  Add({.kind = copies_ != 0 ? Event::Kind::kCopy : Event::Kind::kAccess, .id = access});
}

void CopyRecorder::Wait(const PrimExpr& in_flight) {
  Add({.kind = Event::Kind::kWait, .queue = kPtxQueue, .in_flight = CountOf(in_flight)});
}

void CopyRecorder::Use(const Mbarriers::Action& action) {
  using Kind = Mbarriers::Action::Kind;
  const Event::Kind kind = action.kind == Kind::kArrive        ? Event::Kind::kArrive
                           : action.kind == Kind::kLeaveCopies ? Event::Kind::kLeaveCopies
                                                               : Event::Kind::kWaitFor;
  Add({.kind = kind, .queue = action.number});
}

void CopyRecorder::Enter(const tir::AttrStmt& mark) {
  if (mark.attr_key == "async_scope") BeginCopy();
  if (mark.attr_key == "async_wait_queue_scope") awaited_queue_ = CountOf(*mark.value);
  if (mark.attr_key == "async_wait_inflight_count")
    Add({.kind = Event::Kind::kWait, .queue = awaited_queue_, .in_flight = CountOf(*mark.value)});
}

void CopyRecorder::Leave(const tir::AttrStmt& mark) {
  if (mark.attr_key == "async_scope") EndCopy();
  if (mark.attr_key == "async_commit_queue_scope") Add({.kind = Event::Kind::kCommit, .queue = CountOf(*mark.value)});
}

void CopyRecorder::Add(Event event) {
  using Kind = Event::Kind;
  Event& outer = stack_.back();
  outer.has_copies |=
      event.has_copies || event.kind == Kind::kCopy || event.kind == Kind::kCommit || event.kind == Kind::kWait;
  outer.has_barriers |= event.has_barriers || event.kind == Kind::kBarrier;
  outer.body.push_back(std::move(event));
}

void CopyRecorder::End() {
  Event event = std::move(stack_.back());
  stack_.pop_back();
  Add(std::move(event));
}

// Goes through the events and keeps the copies under way.
class CopyTracker {
 public:
  CopyTracker(Kernel& kernel, const std::vector<Loop>& loops) : kernel_(kernel), loops_(loops), path_(kernel.around) {}

  void Track(const CopyRecorder::Event& root) {
    Run(root.body);
    EndPhase();
    if (!unknown_.empty()) kernel_.unknown.push_back({kernel_.at, std::string(unknown_)});
  }

 private:
  using Event = CopyRecorder::Event;
  // The groups of a queue are numbered; the latest one has number 1. 0: not committed yet.
  struct Copy {
    Reach reach;
    int64_t queue = 0;
    int64_t group = 0;
    bool has_arrived = false;             // its thread has waited for it; other threads see it after the next barrier
    std::vector<int64_t> mbarriers = {};  // all threads see it after waiting for one of these
    bool operator==(const Copy&) const = default;
  };

  void Run(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (!unknown_.empty()) return;
      if (++num_events_ > kMaxEvents) unknown_ = "asynchronous copies are in too many iterations";
      RunEvent(event);
    }
  }

  void RunEvent(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kAccess:
        AddOwnCopies({event.id, rounds_});
        phase_.push_back({event.id, rounds_});
        return;
      case Event::Kind::kCopy:
        AddOwnCopies({event.id, rounds_});
        copies_.push_back({.reach = {event.id, rounds_}});
        return;
      case Event::Kind::kBarrier: EndPhase(); return;
      case Event::Kind::kCommit:
        for (Copy& copy : copies_) {
          if (copy.group == 0) copy.queue = event.queue;
          if (copy.queue == event.queue) ++copy.group;
        }
        return;
      case Event::Kind::kWait:
        if (event.in_flight < 0) unknown_ = "the number of groups of asynchronous copies under way is not a constant";
        for (Copy& copy : copies_) copy.has_arrived |= copy.queue == event.queue && copy.group > event.in_flight;
        return;
      case Event::Kind::kArrive:
        arrivals_[event.queue] = phase_.size();
        for (Copy& copy : copies_) {
          if (copy.has_arrived) copy.mbarriers.push_back(event.queue);
        }
        return;
      case Event::Kind::kLeaveCopies:
        for (Copy& copy : copies_) copy.mbarriers.push_back(event.queue);
        return;
      case Event::Kind::kWaitFor: return WaitFor(event.queue);
      case Event::Kind::kBranch:
        if (HasGroups(event) || event.has_barriers) unknown_ = "asynchronous copies are waited for under a condition";
        return Run(event.body);
      case Event::Kind::kLoop: return RunLoop(event);
    }
  }

  static bool HasGroups(const Event& event) {
    return std::ranges::any_of(event.body, [](const Event& inner) {
      return inner.kind == Event::Kind::kCommit || inner.kind == Event::Kind::kWait || HasGroups(inner);
    });
  }

  // A thread may meet its own copies.
  void AddOwnCopies(const Reach& reach) {
    for (const Copy& copy : copies_) {
      if (!copy.has_arrived) kernel_.own_copies.push_back({copy.reach, reach, path_});
    }
  }

  void AddPhase() {
    if (copies_.empty()) return;
    Phase phase = {.in_step = path_};
    phase.num_copies = copies_.size();
    for (const Copy& copy : copies_) phase.reaches.push_back(copy.reach);
    phase.reaches.insert(phase.reaches.end(), phase_.begin(), phase_.end());
    kernel_.copy_phases.push_back(std::move(phase));
  }

  void EndPhase() {
    AddPhase();
    phase_.clear();
    arrivals_.clear();
    std::erase_if(copies_, [](const Copy& copy) { return copy.has_arrived; });
  }

  // What follows the arrivals may happen at the same time as what follows the wait.
  void WaitFor(int64_t mbarrier) {
    AddPhase();
    std::erase_if(copies_, [&](const Copy& copy) { return std::ranges::count(copy.mbarriers, mbarrier) > 0; });
    const size_t before = arrivals_[mbarrier];
    phase_.erase(phase_.begin(), phase_.begin() + static_cast<ptrdiff_t>(before));
    for (auto& [number, count] : arrivals_) count -= std::min(count, before);
  }

  void RunLoop(const Event& event) {
    const Loop& loop = loops_[event.id];
    // Each thread has its own iteration.
    if (!event.has_barriers && !HasGroups(event)) return Run(event.body);
    if (!loop.var) unknown_ = "asynchronous copies are waited for in a while loop";
    if (loop.kind == Loop::Kind::kBlock || loop.kind == Loop::Kind::kThread) return Run(event.body);
    const int64_t* extent = arith::AsInt(loop.extent);
    const int64_t* step = loop.step ? arith::AsInt(loop.step) : nullptr;
    if (!extent || (loop.step && !step)) {
      unknown_ = "the number of iterations with asynchronous copies is not a constant";
      return;
    }
    const int64_t stride = step ? std::max<int64_t>(1, *step) : 1;
    const int64_t count = *extent <= 0 ? 0 : (*extent + stride - 1) / stride;
    path_.push_back(event.id);
    std::optional<std::vector<Copy>> before;
    for (int64_t i = 0; i < count; ++i) {
      RunIteration(event, {event.id, Reach::Round::kFirst, i});
      if (!unknown_.empty()) break;
      std::vector<Copy> after = Moved(event.id, i);
      // From now on, all iterations are alike.
      if (before == after && i + 1 < count) {
        if (!event.has_barriers) unknown_ = "asynchronous copies are in too many iterations";
        Relocate(event.id, Reach::Round::kFirst, Reach::Round::kSome, -i - 1);
        RunIteration(event, {event.id, Reach::Round::kSome, 0});
        Relocate(event.id, Reach::Round::kSome, Reach::Round::kLast, 0);
        break;
      }
      before = std::move(after);
      if (i == kMaxIterations) {
        unknown_ = "the groups of asynchronous copies do not become the same in each iteration";
        break;
      }
    }
    path_.pop_back();
  }

  void RunIteration(const Event& event, Reach::InRound round) {
    rounds_.push_back(round);
    Run(event.body);
    rounds_.pop_back();
  }

  // The copies of the first iterations as those of the iterations before the next one.
  std::vector<Copy> Moved(uint32_t loop, int64_t last) const {
    std::vector<Copy> moved = copies_;
    for (Copy& copy : moved) Move(copy.reach, loop, Reach::Round::kFirst, Reach::Round::kSome, -last - 1);
    return moved;
  }

  void Relocate(uint32_t loop, Reach::Round from, Reach::Round to, int64_t by) {
    for (Copy& copy : copies_) Move(copy.reach, loop, from, to, by);
    for (Reach& reach : phase_) Move(reach, loop, from, to, by);
  }

  static void Move(Reach& reach, uint32_t loop, Reach::Round from, Reach::Round to, int64_t by) {
    for (Reach::InRound& round : reach.rounds) {
      if (round.loop == loop && round.round == from) round = {loop, to, round.offset + by};
    }
  }

  Kernel& kernel_;
  const std::vector<Loop>& loops_;
  std::vector<uint32_t> path_;  // loops whose iterations all threads execute together
  std::vector<Reach::InRound> rounds_;
  std::vector<Copy> copies_;
  std::vector<Reach> phase_;            // since the last barrier
  std::map<int64_t, size_t> arrivals_;  // by mbarrier: the accesses of the phase that come before them
  std::string_view unknown_;
  int num_events_ = 0;
};

void CopyRecorder::AddTo(Kernel& kernel, const std::vector<Loop>& loops) const {
  if (stack_.front().has_copies) CopyTracker(kernel, loops).Track(stack_.front());
}

}  // namespace iropt::races
