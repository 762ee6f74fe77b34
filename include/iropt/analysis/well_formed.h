// The verifier of the rules that every pass may rely on and must preserve.
//
// Relax. Each variable is defined once, before its uses and in a scope that they see: parameters in their function,
// bindings in their sequence, dataflow variables in their block. Symbolic variables come from parameters and
// match_cast, and belong to one function. Programs are in A-normal form: operands are variables, literals, shapes,
// functions of the module, or tuples of such; sequences are only the bodies of functions and branches. Dataflow blocks
// hold neither conditionals nor impure calls, and a pure function calls only pure ones unless relax.force_pure says
// otherwise. Operands of call_tir fit the function that is called. Every expression has a type, and declared types do
// not contradict the inferred ones.
//
// TIR. Each variable is defined once and used in its scope; blocks use loop variables only through their iteration
// variables; operands have the required types, and buffers the required number of indices.
//
// One linear pass over each function. Errors are located and several are reported.
#pragma once

#include <cstddef>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

struct VerifyOptions {
  // Check types: that they exist, fit the inferred ones, and refer to variables in scope.
  bool check_types = true;
  // Let a PrimFunc use variables that it does not define, as fragments of programs do. Variables that are
  // defined, but used outside of their scope, are errors in any case.
  bool allow_free_vars = true;
  // Functions are checked by up to this many threads; the diagnostics and their order are the same for any number.
  int threads = 1;
};

// Returns whether the module is well-formed; otherwise at least one error was reported.
bool VerifyModule(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics);

// Returns whether one function of the module is well-formed, without the checks that compare functions with each other;
// otherwise at least one error was reported.
bool VerifyFunction(const Module& module, size_t index, const VerifyOptions& options, DiagnosticEngine& diagnostics);

// Returns whether a PrimFunc of the module uses variables that it does not define. If none does, passes must not lose a
// definition, so their output should be verified without allow_free_vars.
bool HasFreeVars(const Module& module);

// Returns a statement that stands at two places of a PrimFunc, which passes must not make, because analyses know a
// place by its statement; null if there is none.
const tir::Stmt* FindRepeatedStmt(const Module& module);

}  // namespace iropt
