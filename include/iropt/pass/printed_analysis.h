// Analyses that the pass PrintAnalyses prints, also by the name print: -passes='print<uses;purity>'.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/result.h"

namespace iropt {

class PassContext;

// The pass whose options are the names of the analyses.
inline constexpr std::string_view kPrintAnalysesPass = "PrintAnalyses";

struct PrintedAnalysis {
  std::string name;  // a word
  std::string summary = {};
  // The lines about the module, each with its line break.
  std::string (*print)(const Module& module, const PassContext& context) = nullptr;
  std::string plugin = {};  // the plugin that the analysis comes from; set by the registry
};

// Prints text that is to be looked at.
using TextPrinter = std::function<Status(std::string_view text)>;

}  // namespace iropt
