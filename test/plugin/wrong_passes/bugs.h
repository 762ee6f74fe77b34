// Passes that are wrong in ways in which real ones were, to test the checks that must find them. Each gives a
// well-formed module that computes something else, sometimes for few inputs only.
#pragma once

#include <functional>
#include <span>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/pass/pass.h"

namespace iropt::wrong {

// A pass over Relax functions, by what rewrites one.
struct GraphBug {
  const char* name;
  const char* summary;
  std::function<const Function*(const Function* function, Workspace& workspace, TypeInferrer& inferrer)> rewrite;
};

// A pass over PrimFuncs.
struct LoopBug {
  const char* name;
  const char* summary;
  std::function<const PrimFunc*(const PrimFunc* function, Workspace& workspace)> rewrite;
};

// The bug of a mutator over statements.
template <class Mutator>
LoopBug MutateLoops(const char* name, const char* summary) {
  return {name, summary,
          [](const PrimFunc* function, Workspace& workspace) { return Mutator(workspace).VisitPrimFunc(function); }};
}

// Those that replace single calls of operators, and those that change bindings and branches.
std::span<const GraphBug> CallBugs();
std::span<const GraphBug> BindingBugs();
// Those that change scalar expressions, single statements, and the order of statements.
std::span<const LoopBug> ExprBugs();
std::span<const LoopBug> StmtBugs();
std::span<const LoopBug> OrderBugs();

}  // namespace iropt::wrong
