// Makes functions of the operations that match a pattern.
#pragma once

#include <string>
#include <vector>

#include "iropt/ir/relax/pattern.h"
#include "operator_fusor.h"

namespace iropt {

// A pattern, and the attribute Composite of the functions that it makes.
struct FusionPattern {
  std::string name;
  Pattern pattern;
};

// The module with the matches of the pattern replaced by calls of new functions, in dataflow blocks of the Relax
// functions with these names, or of all if there are none; see fuse_ops_by_pattern.cpp. O(nodes * size of the pattern).
Module FusePattern(Module module, const FusionPattern& pattern, const std::vector<std::string>& entry_functions,
                   Constants constants);

}  // namespace iropt
