// The verifier: what every pass may rely on, and every pass must keep.
//
// Graph level. Each variable is defined once, before its uses and in a scope that they see: parameters in their
// function, bindings in their sequence, dataflow variables in their block. Symbolic variables come from parameters and
// match_cast, and belong to one function. Programs are in A-normal form: operands are variables, literals, shapes,
// functions of the module, or tuples of such; sequences are only the bodies of functions and branches. Dataflow blocks
// hold neither conditionals nor impure calls, and a pure function calls only pure ones unless relax.force_pure says
// otherwise. Operands of call_tir fit the function that is called. Every expression has a type, and types that are
// given do not contradict those that follow from the operands.
//
// Loop level. Each variable is defined once and used in its scope; blocks reach loop variables through their iteration
// variables alone; operands have the types and buffers the number of indices that their nodes ask for.
//
// One linear pass over each function. Errors are located and several are reported.
#pragma once

#include <cstddef>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

struct VerifyOptions {
  // Whether types are checked: that they are there, fit what is inferred, and refer to variables in scope.
  bool check_types = true;
  // Whether a loop-level function may use variables that nothing in it defines, as fragments of programs do. Variables
  // that are defined, but used outside of their scope, are errors in any case.
  bool allow_free_vars = true;
  // Functions are checked by up to this many threads; the diagnostics and their order are the same for any number.
  int threads = 1;
};

// True where the module is well-formed; otherwise at least one error was reported.
bool VerifyModule(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics);

// The same for one function of the module, without the checks that compare functions with each other.
bool VerifyFunction(const Module& module, size_t index, const VerifyOptions& options, DiagnosticEngine& diagnostics);

// Whether a loop-level function of the module uses variables that nothing in it defines. If none does, no pass may lose
// a definition either, so that its output should be verified without allow_free_vars.
bool HasFreeVars(const Module& module);

}  // namespace iropt
