// The flag -weights for modules of formats whose texts do not refer to tensors.
#pragma once

#include <string>

#include "iropt/driver/compiler_instance.h"

namespace iropt {

// Binds the tensors of the file to the parameters of the function `main` that have their names, by the pass BindParams.
// Tensors without a parameter are left out; it is an error if no tensor has one.
Result<Module> BindWeights(Module module, const std::string& path, CompilerInstance& compiler);

}  // namespace iropt
