// Which functions of the module a function refers to, as an analysis that passes share (see pass/analysis.h).
#pragma once

#include <string_view>
#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

struct CalledFunctions {
  using Result = std::vector<const GlobalVar*>;  // each once, in the order of their ids
  static constexpr std::string_view kName = "called_functions";
  static constexpr bool kPortable = true;
  // Of graph-level and of loop-level functions; linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
};

}  // namespace iropt
