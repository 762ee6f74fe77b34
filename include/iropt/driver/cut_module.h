// ir-opt -extract and -delete: parts of a module as a module.
#pragma once

#include <string>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

// At most one of the lists has entries.
struct CutRequest {
  // "FUNCTION", or "FUNCTION:FIRST..LAST" for the bindings of the variables FIRST to LAST of a Relax function, which
  // are in one sequence. "FUNCTION:VAR" is one binding; without FIRST or LAST, the range is that of the body of the
  // function up to LAST, or from FIRST to the end of its sequence.
  std::vector<std::string> extract = {};
  std::vector<std::string> remove = {};  // names of functions

  bool empty() const { return extract.empty() && remove.empty(); }
};

// The functions that are extracted, with those that they call; or all but the removed ones. The module is well-formed,
// and so is the result.
//
// An extracted function is public. Bindings become a public function under the name of theirs, or that name and a
// number if it is taken. Its parameters are the variables that the bindings use and do not bind, in the order of their
// first use, then, if these do not define all symbolic variables, a shape of the others; its results are the variables
// that are used after the bindings, or the last one if there are none.
//
// Reports names that the module does not have, malformed ranges (ErrorCode::Usage), and references to removed functions
// from others (ErrorCode::IllFormed). O(size of the result + bindings of the functions).
Result<Module> CutModule(const Module& module, const CutRequest& request, DiagnosticEngine& diagnostics);

}  // namespace iropt
