// Finds iterations of concurrent loops that access the same element, where one of them changes it.
//
// Iterations run one after the other, so the order of execution says nothing; the detector knows for each element which
// iteration has changed and which have read it last. Two iterations are concurrent if the innermost loop around both is
// a concurrent one. A store of the value that the element has changes nothing: iterations that all compute the same
// element, such as those at the border of tiles, do not race.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"

namespace iropt::eval {

class RaceDetector {
 public:
  // Returns whether iterations of the loop may run at the same time.
  static bool IsConcurrent(const tir::For& loop);
  static bool IsConcurrentAxis(std::string_view thread_tag);

  // A function is called: looks for the memory that belongs to single iterations of its loops. O(nodes) once.
  void AddFunction(const tir::Stmt* body);

  // The execution of a concurrent loop, which is known by its variable, and of its iterations.
  void EnterLoop(const tir::Var* loop, bool is_thread);
  void NextIteration();
  void LeaveLoop();
  bool IsInnermost(const tir::Var* loop) const { return !loops_.empty() && loops_.back().var == loop; }
  // Returns whether accesses matter: a concurrent loop is running.
  bool active() const { return !loops_.empty() && race_.empty(); }

  // An access to the element at an address, of the memory of a pointer variable. `reduces` is whether a block reduces
  // over threads here, which may accumulate in one element.
  void Read(uint64_t address, const tir::Var* data, std::string_view buffer, bool reduces);
  void Write(uint64_t address, const tir::Var* data, std::string_view buffer, bool changes, bool reduces);

  // Empty if there is none.
  const std::string& race() const { return race_; }

 private:
  struct Loop {
    const tir::Var* var;
    bool is_thread;
    uint64_t instance;
    uint32_t outer;  // the iteration around it
  };
  // An iteration of an execution of a concurrent loop.
  struct Iteration {
    uint32_t outer = 0;
    uint32_t depth = 0;  // 0: outside of all concurrent loops
    uint64_t instance = 0;
    const tir::Var* loop = nullptr;
    bool is_thread = false;
  };
  // By their numbers; 0 for none.
  struct Element {
    uint32_t writer = 0;
    uint32_t reader = 0;
    uint32_t other_reader = 0;
  };

  void Check(uint32_t earlier, const tir::Var* data, std::string_view buffer, bool reduces, std::string_view what);
  // The iteration of the innermost common concurrent loop; null if they do not run at the same time.
  const Iteration* ConcurrentWith(uint32_t earlier) const;
  bool IsPrivate(const tir::Var* data, const tir::Var* loop) const;

  std::deque<Iteration> iterations_{1};
  std::vector<Loop> loops_;
  uint32_t current_ = 0;
  uint64_t instances_ = 0;
  LookupMap<uint64_t, Element> elements_;
  size_t num_elements_ = 0;
  // By the pointer variable of memory that a block allocates: the concurrent loops around all accesses.
  LookupMap<const tir::Var*, std::vector<const tir::Var*>> homes_;
  LookupSet<const tir::Stmt*> known_;
  std::string race_ = {};
};

}  // namespace iropt::eval
