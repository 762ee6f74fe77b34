// ToMixedPrecision as Relay's pass of this name does it.
#pragma once

#include "iropt/ir/dtype.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

// Computes in `lower`, a floating-point dtype, what Relay's pass does.
Pass MakeRelayMixedPrecision(const PassOptions& options, DataType lower);

}  // namespace iropt
