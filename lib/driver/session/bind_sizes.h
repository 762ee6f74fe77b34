// The flags -input-shape and -sym for modules that are texts.
#pragma once

#include "iropt/driver/compiler_instance.h"
#include "iropt/text/stated_sizes.h"

namespace iropt {

// Gives symbolic variables of the function `main`, or of the only Relax function, values, by the pass BindSymbolicVars.
// Values that do not fit are reported.
Result<Module> BindSizes(Module module, const StatedSizes& sizes, CompilerInstance& compiler);

}  // namespace iropt
