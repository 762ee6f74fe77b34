// Checks the arguments of a compiled function against its parameters, and makes the words that the code takes of them.
#pragma once

#include <span>
#include <vector>

#include "iropt/codegen/loop_compiler.h"
#include "signature.h"

namespace iropt::codegen {

// The slots of a call, see Signature. Variables among the dimensions of buffers take the tensors' dimensions, all else
// must agree. O(dimensions).
Result<std::vector<uint64_t>> BindArguments(const Signature& signature, std::span<const LoopArg> args);

}  // namespace iropt::codegen
