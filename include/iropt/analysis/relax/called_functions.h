// The functions of the module that a function refers to, as an analysis that passes share (see pass/analysis.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"

namespace iropt {

struct CalledFunctions {
  using Result = std::vector<const GlobalVar*>;  // each once, in the order of their ids
  static constexpr std::string_view kName = "called_functions";
  static constexpr bool kSurvivesCloning = true;
  // Of Relax functions and PrimFuncs; linear.
  static Result Compute(const BaseFunc& function, const FuncStorage& storage);
};

// Provides the results for functions to analyses of whole modules. In a module pass, use
// ModulePassContext::AnalysisSource<CalledFunctions>(), which caches them.
using CalledFunctionsSource = FunctionRef<std::shared_ptr<const CalledFunctions::Result>(const ModuleEntry&)>;
// Computes the result. For code that runs without the pass manager.
std::shared_ptr<const CalledFunctions::Result> ComputeCalledFunctions(const ModuleEntry& entry);

}  // namespace iropt
