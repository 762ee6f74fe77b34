// Makes functions of the operations that match a pattern.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/relax/pattern.h"
#include "operator_fusor.h"

namespace iropt {

// A pattern, and the attribute Composite of the functions that it makes.
struct FusionPattern {
  // Decides about a match in a function of the module whose root is this variable. The operations that it has are
  // other variables. The result is further attributes of the new function, or null to leave the match.
  using Decide = std::function<const DictAttr*(const ModuleEntry& entry, const Match& match, const Var& root)>;

  std::string name;
  Pattern pattern;
  Decide decide = nullptr;  // null: all matches, without further attributes
};

// The module with the matches of the pattern replaced by calls of new functions, in dataflow blocks of the Relax
// functions with these names, or of all if there are none; see fuse_ops_by_pattern.cpp. O(nodes * size of the pattern).
Module FusePattern(Module module, const FusionPattern& pattern, const std::vector<std::string>& entry_functions,
                   Constants constants);

// The same for several patterns, one after the other. With `annotate_codegen`, each new function becomes a local one of
// a function for the compiler that the name of its pattern begins with.
Result<Module> FuseOpsByPattern(Module module, const std::vector<FusionPattern>& patterns,
                                const std::vector<std::string>& entry_functions, Constants constants,
                                bool annotate_codegen, DiagnosticEngine& diagnostics);

}  // namespace iropt
