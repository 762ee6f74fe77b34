// The interface by which passes print modules: passes do not depend on a text format, the creator of a context provides
// it.
#pragma once

#include <functional>
#include <string>

#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The heading describes the module, for example "IR after FoldConstant".
using ModulePrinter = std::function<Status(const Module& module, const std::string& heading)>;

}  // namespace iropt
