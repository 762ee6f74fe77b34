// Random functions of blocks, and random sequences of primitives on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "choices.h"
#include "iropt/schedule/schedule.h"

namespace iropt::generate {

// A module with a PrimFunc main, which computes Y from A and B.
struct RandomFunction {
  std::string text = {};
  std::vector<std::vector<int>> inputs = {};  // A and B, of one shape
  std::vector<int64_t> input_shape = {};
  std::vector<int> expected =
      {};  // Y for these inputs, computed without the library; empty for other dtypes than int32
  std::vector<int64_t> output_shape = {};
};

// A function of a few blocks: elementwise, with bound variables, shifted, padded, reversed, reductions in both
// directions, products of matrices, transposes, each of which reads results of those before it. Loops may be in parts
// with conditions, or run once; sizes may be symbolic. Equal choices make equal functions.
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
