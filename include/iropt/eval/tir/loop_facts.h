// Facts about a run of PrimFuncs besides their results, for checks of passes.
#pragma once

#include <cstdint>
#include <string>

#include "iropt/eval/taken_branches.h"
#include "iropt/ir/module.h"

namespace iropt {

// A race that a run met, in the words of FindRaces.
struct ObservedRace {
  std::string message = {};     // empty: there was none
  const Node* at = nullptr;     // the access that changes the element, of the module that ran
  const Node* other = nullptr;  // the other one
  std::string other_message = {};
  bool empty() const { return message.empty(); }
};

// The ways to watch a run for races.
enum class RaceWatch : uint8_t {
  kUsual,    // accesses of threads without barriers are races if the function has barriers
  kAll,      // all barriers are there
  kSampled,  // the same, in some iterations of each loop: the results are worthless
};

struct LoopFacts {
  // Of a loop, runs the first two iterations and the last one only. The results are worthless then, but races show in a
  // fraction of the time. An element without a value is not an error there.
  bool samples_loops = false;
  // The run ends at the first race of any kind.
  bool ends_at_race = false;
  // Receives the ways that conditions go; null: they are not noted.
  TakenBranches* branches = nullptr;

  // ---- Found by the run

  // A sum, difference or product of signed integers of 32 or 64 bits did not fit its dtype, so that its value is
  // undefined.
  bool overflows = false;
  // Machine code had such integers: it does not tell.
  bool may_overflow = false;
  // The run ended at the read of an element that has no value.
  bool reads_uninitialized = false;
  // The first race: two iterations of a parallel or vectorized loop, two blocks of threads, or two threads without a
  // barrier between them access an element, and one of them changes it. Empty if there is none. Accesses by intrinsics,
  // such as T.atomic_add, are not looked at.
  ObservedRace race = {};
  // The first such accesses of threads to shared memory, in different statements. They are a race if the function has
  // barriers; otherwise tir.ThreadSync is expected to add these.
  ObservedRace unsynchronized = {};
  bool has_barriers = false;

  // The first race of both kinds. `complete` is whether all barriers are there.
  const ObservedRace& FirstRace(bool complete) const {
    return !race.empty() || !(has_barriers || complete) ? race : unsynchronized;
  }
};

// Returns whether a function has loops whose iterations may run at the same time.
bool HasConcurrentLoops(const PrimFunc& func);
// Returns whether a function has threads, as kernels of GPUs have.
bool HasThreads(const PrimFunc& func);

}  // namespace iropt
