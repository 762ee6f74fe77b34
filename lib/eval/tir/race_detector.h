// Finds accesses to one element that may happen at the same time, where one of them changes it: by iterations of a
// parallel or vectorized loop, by blocks of threads, or by threads of a block without a barrier between them.
//
// They run one after the other, so the order of execution says nothing; the detector knows for each element which
// iteration and thread has changed and which have read it last, and how many barriers there were before. Two iterations
// are concurrent if the innermost loop around both is a concurrent one. A store of the value that the element has
// changes nothing: iterations that all compute the same element, such as those at the border of tiles, do not race.
//
// Shared memory belongs to a block of threads. tir.ThreadSync adds barriers between the statements that access it; so
// accesses by two statements that threads execute in lockstep are not races, but unsynchronized: they are races if the
// function has barriers already.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/eval/tir/loop_facts.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"
#include "thread_copies.h"

namespace iropt::eval {

class RaceDetector {
 public:
  // Returns whether iterations of the loop may run at the same time, other than as threads of a block.
  static bool IsConcurrent(const tir::For& loop);
  static bool IsBlockAxis(std::string_view thread_tag) { return thread_tag.starts_with("blockIdx"); }

  // A function is called: looks for the memory that belongs to single iterations of its loops. O(nodes) once.
  void AddFunction(const tir::Stmt* body);

  // The execution of a concurrent loop, which is known by its variable, and of its iterations.
  void EnterLoop(const tir::Var* loop, std::string_view thread_tag);
  void NextIteration(int64_t value);
  void LeaveLoop();
  bool IsInnermost(const tir::Var* loop) const { return !loops_.empty() && loops_.back().var == loop; }
  // The execution of a loop over an axis of blocks or threads. The outermost one is a kernel.
  void EnterAxis();
  void LeaveAxis();
  // The number of a thread in accesses; 0 outside of all threads. O(log threads).
  uint32_t NumberOf(const ThreadPositions& positions);
  // The threads in lockstep begin with another statement.
  void NextStep() { ++now_.step; }
  // All threads of the block have reached a barrier.
  void Barrier();
  // Returns whether accesses matter: a concurrent loop or a kernel is running.
  bool active() const { return (!loops_.empty() || axes_ != 0) && race_.empty(); }

  // An access by a thread to the element at an address, of the memory of a pointer variable. `accumulates` is whether
  // blocks reduce into the memory over threads.
  struct Element {
    uint64_t address;
    const tir::Var* data;
    std::string_view buffer;
    bool accumulates;
    const Node* at;
  };
  void Read(const Element& element, uint32_t thread);
  void Write(const Element& element, uint32_t thread, bool changes);

  // Empty if there is none.
  const ObservedRace& race() const { return race_; }
  const ObservedRace& unsynchronized() const { return unsynchronized_; }
  bool has_barriers() const { return has_barriers_; }

 private:
  struct Loop {
    const tir::Var* var;
    uint64_t instance;
    uint32_t outer;               // the iteration around it
    std::string_view thread_tag;  // of an axis of blocks
  };
  // An iteration of an execution of a concurrent loop.
  struct Iteration {
    uint32_t outer = 0;
    uint32_t depth = 0;  // 0: outside of all concurrent loops
    uint64_t instance = 0;
    const tir::Var* loop = nullptr;
    std::string_view thread_tag = {};
    int64_t value = 0;
  };
  struct Access {
    uint32_t iteration = 0;
    uint32_t thread = 0;
    uint32_t barriers = 0;  // before it
    uint32_t step = 0;      // of the threads; 0: there was no access
    const Node* at = nullptr;
    bool changes = false;
    bool SameActor(const Access& other) const { return iteration == other.iteration && thread == other.thread; }
  };
  struct Accesses {
    Access writer;
    Access reader;
    Access other_reader;
  };
  // A loop, and its axis if it is over threads.
  struct HomeLoop {
    const tir::Var* var;
    std::string_view tag;
    bool operator==(const HomeLoop& other) const { return var == other.var; }
  };
  friend class HomeFinder;

  Accesses* Find(uint64_t address);
  void Check(const Access& earlier, const Access& now, const Element& element);
  void CheckThreads(const Access& earlier, const Access& now, const Element& element);
  Access NowBy(const Element& element, uint32_t thread, bool changes) const;
  // The iterations of the innermost common concurrent loop, the earlier one first; null if they do not run at the same
  // time.
  std::pair<const Iteration*, const Iteration*> ConcurrentWith(uint32_t earlier) const;
  std::string NameOf(uint32_t thread) const;
  // The axis in which threads are at different positions; empty if they are one.
  std::string_view DifferenceOf(uint32_t a, uint32_t b) const;

  std::deque<Iteration> iterations_{1};
  std::vector<Loop> loops_;
  Access now_{.iteration = 0, .thread = 0, .barriers = 0, .step = 1};
  int axes_ = 0;
  uint64_t instances_ = 0;
  bool has_barriers_ = false;
  std::vector<std::vector<std::pair<std::string_view, int64_t>>> threads_{1};
  std::map<std::vector<std::pair<std::string_view, int64_t>>, uint32_t> numbers_;
  LookupMap<uint64_t, Accesses> elements_;
  size_t num_elements_ = 0;
  // By the pointer variable of memory that a block allocates: the concurrent loops around all accesses.
  LookupMap<const tir::Var*, std::vector<HomeLoop>> homes_;
  LookupSet<const tir::Stmt*> known_;
  ObservedRace race_ = {};
  ObservedRace unsynchronized_ = {};
};

}  // namespace iropt::eval
