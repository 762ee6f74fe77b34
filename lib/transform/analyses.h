// The analyses of the library that PrintAnalyses prints.
#pragma once

#include <vector>

#include "iropt/pass/printed_analysis.h"

namespace iropt {

// One for each option of the row PrintAnalyses of passes.def.
std::vector<PrintedAnalysis> AnalysisRows();

}  // namespace iropt
