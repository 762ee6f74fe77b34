// How the pass manager shows modules: passes do not know what text looks like, but whoever makes a context does.
#pragma once

#include <functional>
#include <string>

#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// The heading says what is shown: "IR after FoldConstant" and the like.
using ModulePrinter = std::function<Status(const Module& module, const std::string& heading)>;

}  // namespace iropt
