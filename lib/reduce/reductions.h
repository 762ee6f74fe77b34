// The families of edits that ir-reduce makes. A new one is a row of Reductions().
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "edits.h"
#include "test_case.h"

namespace iropt {

struct Reduction {
  std::string_view name;  // in statistics and on the progress line
  // Makes the edits that `edits` takes, and offers all that are possible. The result may be ill-formed.
  void (*rewrite)(Candidate& candidate, Edits& edits);
  // Makes edits of the text, for those that concern all levels alike. One of the two is null.
  std::string (*rewrite_text)(std::string_view text, Edits& edits) = nullptr;
};

// In the order in which they are tried: those first that remove most.
std::span<const Reduction> Reductions();

// ---- Pipelines
// Remove passes, groups around passes, and settings of the pipeline.
void ReducePipeline(Candidate& candidate, Edits& edits);

// ---- Modules
// Remove functions; bindings that refer to them go, too.
void RemoveFunctions(Candidate& candidate, Edits& edits);
// Lift local functions to the module.
void LiftFunctions(Candidate& candidate, Edits& edits);
// Remove unused parameters, also from the calls.
void RemoveParams(Candidate& candidate, Edits& edits);
// Remove attributes of functions and of the module, and its global infos.
void RemoveAttributes(Candidate& candidate, Edits& edits);

// ---- Relax functions
// Remove bindings; the variables that are used nevertheless become parameters.
void RemoveBindings(Candidate& candidate, Edits& edits);
// Replace a binding by an operand of the same type.
void ForwardOperands(Candidate& candidate, Edits& edits);
// Return one field of a tuple, or the last variable instead of a parameter.
void NarrowResults(Candidate& candidate, Edits& edits);
// Turn constants into parameters.
void RemoveConstants(Candidate& candidate, Edits& edits);
// Replace conditionals by a branch.
void InlineBranches(Candidate& candidate, Edits& edits);
// Turn dataflow blocks into plain ones.
void OpenDataflowBlocks(Candidate& candidate, Edits& edits);
// Replace symbolic variables by 1.
void BindSymbolicVars(Candidate& candidate, Edits& edits);

// ---- PrimFuncs
// Remove statements.
void RemoveStatements(Candidate& candidate, Edits& edits);
// Replace statements by what they contain: loops by one iteration, conditionals by a branch, blocks by their body.
void UnwrapStatements(Candidate& candidate, Edits& edits);
// Remove axes, initializations, regions, buffers, annotations and predicates of blocks, kinds of loops, else branches.
void RemoveClauses(Candidate& candidate, Edits& edits);
// Replace scalar expressions by an operand or by zero.
void SimplifyExpressions(Candidate& candidate, Edits& edits);

// ---- All levels
// Replace an integer by 1, or by 2, wherever it occurs: sizes stay consistent.
std::string ReplaceIntegersByOne(std::string_view text, Edits& edits);
std::string ReplaceIntegersByTwo(std::string_view text, Edits& edits);

}  // namespace iropt
