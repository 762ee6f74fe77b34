// ConvertLayout and AlterOpLayout.
#pragma once

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

// The pass that brings operators to the layouts of the option desired_layouts. When `strict`, operators whose layouts
// TVM 0.18 fails to find are errors; otherwise they keep the layouts of the program where no rule fits.
Pass MakeLayoutPass(const PassOptions& options, bool strict);

}  // namespace iropt
