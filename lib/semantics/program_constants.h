// The numbers that occur in functions. Inputs and sizes near them take branches that random numbers rarely take.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// Each number once, those that matter most first.
struct ProgramConstants {
  std::vector<int64_t> integers = {};
  std::vector<double> reals = {};  // integers that floats are compared with, too
  std::vector<int64_t> dims = {};  // of constant tensors

  friend bool operator==(const ProgramConstants&, const ProgramConstants&) = default;
};

// The constants of a function and of those that it calls, in two modules: those that only one of them has come first,
// then those that something is compared with. Only the first few. O(nodes).
ProgramConstants FindConstants(const Module& before, const Module& after, const GlobalVar& function);

}  // namespace iropt
