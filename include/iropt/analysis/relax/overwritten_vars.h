// The variables whose memory a function overwrites.
#pragma once

#include <vector>

#include "iropt/ir/relax/expr.h"

namespace iropt {

// Whether the call is one of an operator that works in place: call_tir_inplace or call_inplace_packed.
bool OverwritesOperands(const Call& call);

// The operands that such a call writes its results to; none for other calls.
std::vector<const Var*> OverwrittenOperands(const Call& call);

// Whether the function has such a call. A value in it cannot be replaced by one that was there before, because one of
// them may be overwritten, and the other not. Linear.
bool OverwritesVars(const Function& function);

// By Var::id, for ids below num_vars: true for these operands in the function, and for what they are another name, a
// field or a tuple of. Such a variable must not become the name of another value, because it loses its own. Linear.
std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars);

// The same and what may share memory with these, also by a branch, as the result of such a call, or in a local
// function. What reads one before and after a call may get two values. Linear.
std::vector<bool> ChangingVars(const Function& function, size_t num_vars);

}  // namespace iropt
