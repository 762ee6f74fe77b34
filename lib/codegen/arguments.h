// Checks the arguments of a compiled function against its parameters and converts them to slots.
#pragma once

#include <span>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "signature.h"

namespace iropt::codegen {

// Returns the slots of a call, see Signature. Symbolic dimensions of buffers are bound to the dimensions of the
// tensors; other dimensions are checked. O(dimensions).
Result<std::vector<uint64_t>> BindArguments(const Signature& signature, std::span<const LoopArg> args);

}  // namespace iropt::codegen
