// The packed functions that the rows of builtins.def name.
#pragma once

#include "iropt/runtime/packed_func.h"

namespace iropt::packed {

#define IROPT_PACKED(name, function) Result<HostValue> function(PackedCall& call);
#include "builtins.def"

}  // namespace iropt::packed
