// Facts about a run of PrimFuncs besides their results, for checks of passes.
#pragma once

#include <string>

#include "iropt/eval/taken_branches.h"
#include "iropt/ir/module.h"

namespace iropt {

struct LoopFacts {
  // Of a loop, runs the first two iterations and the last one only. The results are worthless then, but races show in a
  // fraction of the time. An element without a value is not an error there.
  bool samples_loops = false;
  // Receives the ways that conditions go; null: they are not noted.
  TakenBranches* branches = nullptr;

  // ---- Found by the run

  // A sum, difference or product of signed integers of 32 or 64 bits did not fit its dtype, so that its value is
  // undefined.
  bool overflows = false;
  // The first race: two iterations of a parallel or vectorized loop, two blocks of threads, or two threads without a
  // barrier between them access an element, and one of them changes it. Empty if there is none. Accesses by intrinsics,
  // such as T.atomic_add, are not looked at.
  std::string race = {};
  // The first such accesses of threads to shared memory, in different statements. They are a race if the function has
  // barriers; otherwise tir.ThreadSync is expected to add these.
  std::string unsynchronized = {};
  bool has_barriers = false;

  // The first race of both kinds.
  const std::string& FirstRace() const { return !race.empty() || !has_barriers ? race : unsynchronized; }
};

// Returns whether a function has loops whose iterations may run at the same time.
bool HasConcurrentLoops(const PrimFunc& func);

}  // namespace iropt
