// The calls of a module by the kind of what is called.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "iropt/ir/module.h"

namespace iropt {

// Calls in Relax functions, nested ones included, by the script name of the operator ("R.add"); calls of functions of
// the module, of packed functions and of closures have the keys "function", "extern" and "closure". O(expressions).
std::map<std::string, uint64_t> CountOperators(const Module& module);

// Returns whether the module has operators that compute something else in inference than in training.
bool HasTrainingOperators(const Module& module);

}  // namespace iropt
