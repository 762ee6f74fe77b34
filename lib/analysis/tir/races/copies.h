// Asynchronous copies, which are under way until their thread waits for their group.
//
// A copy may happen at any time between the place where it is begun and the wait of its thread; other threads see it
// after the next barrier. Groups are counted as PTX does it: a wait with n leaves the last n groups of a queue under
// way. Their number depends on the loops around, so the first iterations of a loop are looked at one by one, until each
// one ends as the one before it. Copies that are left to an mbarrier arrive with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/tir/races/accesses.h"
#include "analysis/tir/races/mbarriers.h"

namespace iropt::races {

// What a kernel does, as far as it matters for copies, in the order of the code.
class CopyRecorder {
 public:
  void Access(uint32_t access);
  void Barrier() { Add({.kind = Event::Kind::kBarrier}); }
  // T.ptx_commit_group and T.ptx_wait_group, whose queue is not one of those that marks name.
  void Commit() { Add({.kind = Event::Kind::kCommit, .queue = kPtxQueue}); }
  void Wait(const PrimExpr& in_flight);
  // In no loop and under no condition. What a thread leaves to an mbarrier is there, for all threads, when the wait for
  // the mbarrier ends.
  void Use(const Mbarriers::Action& action);
  // Accesses in between are those of a copy.
  void BeginCopy() { ++copies_; }
  void EndCopy() { --copies_; }
  // The marks of tir.InjectSoftwarePipeline: async_scope, async_commit_queue_scope, and async_wait_queue_scope with
  // async_wait_inflight_count.
  void Enter(const tir::AttrStmt& mark);
  void Leave(const tir::AttrStmt& mark);
  void BeginLoop(uint32_t loop) { stack_.push_back({.kind = Event::Kind::kLoop, .id = loop}); }
  void BeginBranch() { stack_.push_back({.kind = Event::Kind::kBranch}); }
  void End();

  // The phases with copies under way, and the accesses of a thread that may happen while its own copy is under way. Why
  // nothing is known about them is added to kernel.unknown. O(events) for each iteration that is looked at.
  void AddTo(Kernel& kernel, const std::vector<Loop>& loops) const;

 private:
  struct Event {
    enum class Kind : uint8_t {
      kAccess,
      kCopy,
      kBarrier,
      kCommit,
      kWait,
      kLoop,
      kBranch,
      kArrive,  // at an mbarrier
      kLeaveCopies,
      kWaitFor,
    };
    Kind kind;
    uint32_t id = 0;        // of an access or a loop
    int64_t queue = 0;      // or the number of an mbarrier
    int64_t in_flight = 0;  // groups that may be under way; negative if it is not a constant
    std::vector<Event> body = {};
    bool has_copies = false;    // in the body: copies, commits or waits
    bool has_barriers = false;  // in the body
  };
  friend class CopyTracker;
  static constexpr int64_t kPtxQueue = -1;

  void Add(Event event);

  std::vector<Event> stack_{1};  // open loops and branches in the kernel
  int copies_ = 0;               // around what is visited
  int64_t awaited_queue_ = 0;
};

}  // namespace iropt::races
