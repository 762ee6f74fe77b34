// Legalizes operators: replaces their calls by calls of PrimFuncs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/pass/analysis.h"
#include "iropt/support/result.h"

namespace iropt {

struct LegalizeOptions {
  // Legalizations that replace those of the table, by the full name of the operator.
  std::map<std::string, std::function<const Expr*(LegalizeCall&)>, std::less<>> customize = {};
  std::vector<OpId> skip_ops = {};       // those that stay
  bool enable_warning = false;           // about operators that stay
  NetworkMode mode = NetworkMode::Auto;  // of batch_norm
};

// The module with the operators of all Relax functions legalized, see lib/transform/relax/lowering/legalize_ops.cpp.
Result<Module> LegalizeOps(Module module, const LegalizeOptions& options, DiagnosticEngine& diagnostics,
                           AnalysisManager& analyses);

}  // namespace iropt
