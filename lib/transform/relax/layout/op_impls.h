// The option of AlterOpImpl: implementations by kinds of operators, with the layouts of their arguments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

struct OpImpl {
  std::string function;  // the name of the PrimFunc
  SourceSpan span = {};
  // Of each parameter of the function, in which results come last; all empty: as the program has them.
  std::vector<const IndexMapAttr*> transforms = {};  // null: no transformation
  std::vector<std::vector<int64_t>> axis_separators = {};
  std::vector<std::vector<int64_t>> input_axis_separators = {};
};
using OpImpls = std::map<std::string, OpImpl, std::less<>>;

// Reads the options of the pass. Errors are reported.
OpImpls ReadOpImpls(const PassOptions& options);

}  // namespace iropt
