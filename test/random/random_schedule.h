// Random functions of blocks, and random sequences of primitives on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "choices.h"
#include "iropt/ir/dtype.h"
#include "iropt/schedule/schedule.h"

namespace iropt::generate {

// Elements are integers, also those of floats; those of unsigned 64 bits have the same bits.
struct RandomTensor {
  DataType dtype = {};
  std::vector<int64_t> shape = {};
  std::vector<int64_t> values = {};
};

// A module with a PrimFunc main, which computes Y from A and B.
struct RandomFunction {
  std::string text = {};
  std::vector<RandomTensor> inputs = {};  // none for a function that is not random
  RandomTensor output = {};               // for these inputs, computed without the library
};

// A function of a few blocks, each of which reads results of those before it: elementwise, with bound variables and
// conditions, shifted, padded, reversed, permuted, gathered, masks, sums along an axis, reductions over some axes in
// both directions, matrix products. Blocks may update a part of what another one wrote, or be in other blocks.
// Loops may be in parts with conditions, in one for two axes, begin with another number than 0, or run once; sizes may
// be symbolic, and 0. Elements have all widths, indices both. Equal choices make equal functions.
RandomFunction RandomBlocks(Choices& choices);

// Applies `count` random primitives of the table with random arguments to the PrimFunc `function`; those that are
// refused change nothing. Left out are primitives that trust their arguments.
// Returns the number of those that were applied. Throws std::logic_error if what the state keeps about blocks is not
// what the function has.
int ApplyRandomPrimitives(schedule::Schedule& sch, const std::string& function, int count, Choices& choices);

// Splits a loop by a factor that does not divide its extent, without the condition that this needs. Returns whether
// there was such a loop.
bool ApplyWrongSplit(schedule::Schedule& sch, const std::string& function, Choices& choices);

}  // namespace iropt::generate
