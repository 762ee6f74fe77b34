// Random well-typed modules of both levels.
//
// A module has a public function main(x, y, w, ...) -> tuple with the symbolic sizes n and m, of which `w` is a vector
// of 4 floats, a virtual device, and further PrimFuncs and private functions that main calls. What follows from equal
// choices is equal text, on all machines.
#pragma once

#include <string>

#include "choices.h"

namespace iropt::generate {

// `size` is about the number of bindings of main. O(size).
std::string RandomModule(Choices& choices, int size);
// Module `index` of a seed.
std::string RandomModule(uint64_t seed, uint64_t index, int size);

}  // namespace iropt::generate
