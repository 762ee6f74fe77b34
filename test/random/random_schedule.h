// Random functions of blocks, and random sequences of primitives on them.
#pragma once

#include <string>

#include "choices.h"
#include "iropt/schedule/schedule.h"

namespace iropt::generate {

// The text of a module with a PrimFunc main of a few blocks: elementwise, shifted and padded, reductions, products of
// matrices, transposes, each of which reads results of those before it. Equal choices make equal text.
std::string RandomBlocks(Choices& choices);

// Applies `count` random primitives of the table with random arguments to the PrimFunc `function`; those that are
// refused change nothing. Left out are primitives that trust their arguments or need others (intrinsics, threads).
// Returns the number of those that were applied. Throws std::logic_error if what the state keeps about blocks is not
// what the function has.
int ApplyRandomPrimitives(schedule::Schedule& sch, const std::string& function, int count, Choices& choices);

// Splits a loop by a factor that does not divide its extent, without the condition that this needs. Returns whether
// there was such a loop.
bool ApplyWrongSplit(schedule::Schedule& sch, const std::string& function, Choices& choices);

}  // namespace iropt::generate
