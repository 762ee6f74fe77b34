// ir-opt verify-rules: proves the rules of a file for RewriteByRules, or refutes them.
#pragma once

#include <string>
#include <vector>

#include "iropt/driver/compiler_options.h"
#include "iropt/driver/driver_options.h"
#include "iropt/semantics/options.h"

namespace iropt {

struct VerifyRulesOptions {
  CompilerOptions compiler;
  std::vector<std::string> plugins = {};  // shared objects with operators
  std::vector<std::string> inputs;        // files of rules
  ShownForm form = ShownForm::Text;
  ProofOptions proofs = {};
};

// Prints the answer about each rule. Returns 0 if no rule is refuted, and with -Werror if all are proved; else the exit
// code of a difference, or that of the error.
int VerifyRules(const VerifyRulesOptions& options);

}  // namespace iropt
