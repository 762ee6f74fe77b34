// The variables whose memory a function overwrites.
#pragma once

#include <vector>

#include "iropt/ir/module.h"

namespace iropt {

// Returns whether the call is one of an operator that works in place: call_tir_inplace or call_inplace_packed.
bool OverwritesOperands(const Call& call);

// The operands that such a call writes its results to; none for other calls.
std::vector<const Var*> OverwrittenOperands(const Call& call);

// Returns whether the function has a call that works in place, itself or in a function of the module that it refers to,
// which may overwrite what it is given; or calls functions that are values, where the module has values that may
// overwrite. A value in it cannot be replaced by one that was there before, because one of them may be overwritten, and
// the other not. Linear in the functions that are reached; without a module, these are not known.
bool OverwritesVars(const Function& function, const Module* module);

// By Var::id, for ids below num_vars: true for these operands in the function, for operands of calls of functions that
// may overwrite them (those of the module for which OverwritesVars holds, and local ones), and for what they are
// another name, a field or a tuple of. Such a variable must not become the name of another value, because it loses its
// own. Linear in the functions that are reached, for each function that is called.
std::vector<bool> OverwrittenVars(const Function& function, size_t num_vars, const Module* module);

// Extends OverwrittenVars by the variables that may share memory with the overwritten ones, also by a branch, as the
// result of such a call, or in a local function. Two reads of such a variable, one before and one after a call, may get
// different values.
std::vector<bool> ChangingVars(const Function& function, size_t num_vars, const Module* module);

}  // namespace iropt
