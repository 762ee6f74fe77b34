// Declares the packed functions of builtins.def.
#pragma once

#include "iropt/runtime/packed_func.h"

namespace iropt::packed {

#define IROPT_PACKED(name, function) Result<HostValue> function(PackedCall& call);
#include "builtins.def"

}  // namespace iropt::packed
