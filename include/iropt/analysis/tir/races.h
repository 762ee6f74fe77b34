// Races of kernels and of parallel and vectorized loops, found without running them.
//
// Two accesses to one element race if two threads of a block make them without a barrier in between, two blocks of
// threads make them, or two iterations of a parallel or vectorized loop, and one of them changes the element. Whether
// threads can be there at the same time follows from the barriers, whether the elements can be the same is a question
// about indices and conditions: it is answered by trying all values of the variables or, where they are too many or
// unbounded, by Z3. What depends on values in memory, and what intrinsics access, is not decided.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct RaceOptions {
  // The values of variables that may be tried for a function, in all. A value takes about one microsecond.
  uint64_t max_values = uint64_t{1} << 20;
  // Asks Z3 what they do not decide, with so much work for a question (in its own units); 0: it is not asked.
  uint64_t solver_limit = 2'000'000;
  // tir.ThreadSync is yet to make the barriers: they count as if they were between all statements of a kernel. Always
  // so for a function with blocks.
  bool barriers_to_come = false;
};

struct RaceFinding {
  enum class Kind : uint8_t {
    kRace,
    kDivergentBarrier,  // a barrier that some threads of a block reach and others do not
    kNotDecided,
  };
  Kind kind;
  std::string message;
  const Node* at;
  const Node* other = nullptr;  // the second access of a race
  std::string other_message = {};
};

// Returns whether the function has threads or parallel or vectorized loops. Others have no races. O(statements).
bool HasConcurrency(const PrimFunc& func);

// One race for each buffer, and one reason for each buffer about which nothing is decided; empty if there are no races.
// New nodes are made in the workspace. O(pairs of accesses between two barriers), times the cost of a question.
std::vector<RaceFinding> FindRaces(const PrimFunc& func, const RaceOptions& options, Workspace& workspace);

// Reports races as errors of kind "race", and as warnings of kind "races-not-decided", what is not decided.
void ReportRaces(std::vector<RaceFinding> findings, DiagnosticEngine& diagnostics);

}  // namespace iropt
