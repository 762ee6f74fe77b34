// Facts about a run of PrimFuncs besides their results, for checks of passes.
#pragma once

#include <string>

namespace iropt {

struct LoopFacts {
  // Of a loop, runs the first two iterations and the last one only. The results are worthless then, but races show in a
  // fraction of the time. An element without a value is not an error there.
  bool samples_loops = false;

  // ---- Found by the run

  // A sum, difference or product of signed integers of 32 or 64 bits did not fit its dtype, so that its value is
  // undefined.
  bool overflows = false;
  // The first race: two iterations of a parallel, vectorized or thread-bound loop access an element, and one of them
  // changes it. Empty if there is none. Accesses by intrinsics, such as T.atomic_add, are not looked at.
  std::string race = {};
};

}  // namespace iropt
