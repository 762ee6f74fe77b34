// The variables whose memory a function overwrites.
#pragma once

#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// The operands that a call_tir_inplace writes its results to.
std::vector<const Var*> OverwrittenOperands(const Call& call);

// Whether the function has such a call. A value in it cannot be replaced by one that was there before, because one of
// them may be overwritten, and the other not. Linear.
bool OverwritesVars(const Function& function);

// By Var::id, for ids below num_vars: true for these operands in the function, and for what they are another name, a
// field or a tuple of. Such a variable must not become the name of another value, because it loses its own. Linear.
std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars);

}  // namespace iropt
