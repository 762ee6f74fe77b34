// What calls take in the file of a model.
#pragma once

#include <cstddef>

#include "iropt/ir/module.h"

namespace iropt {

// The bytes of a call of the module, at least: a node has its name twice, as its result and as an operand.
size_t BytesOfCall(const Module& module);

}  // namespace iropt
